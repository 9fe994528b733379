package landfall

import (
	"context"
	"time"
)

// Team is an operations team that is responsible for created accounts.
type Team struct {
	Name      string
	CreatedAt time.Time
}

// TeamReader reads operations teams.
type TeamReader interface {
	Team(ctx context.Context, name string) (Team, error)
	Teams(ctx context.Context) ([]Team, error)
}

// TeamWriter changes operations teams.
type TeamWriter interface {
	CreateTeam(ctx context.Context, name string) error // or ErrExists
}
