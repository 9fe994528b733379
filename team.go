package landfall

import "time"

// Team is an operations team that looks after created accounts.
type Team struct {
	Name      string
	CreatedAt time.Time
}
