package operate

import (
	"context"

	"landfall"
)

// CreateTeam creates an operations team.
func (o *Operator) CreateTeam(ctx context.Context, name string) error {
	if err := checkLine("name", "The team's name", name, maxNameLength); err != nil {
		return err
	}
	return o.change(ctx, "team.create", name, func(tx landfall.Tx) (string, error) {
		return "", replaceError(tx.CreateTeam(ctx, name), landfall.ErrExists,
			nameTaken("There is already a team %q.", name))
	})
}

// Teams returns all teams, by name.
func (o *Operator) Teams(ctx context.Context) ([]landfall.Team, error) {
	var teams []landfall.Team
	err := o.view(ctx, "team.list", func(view landfall.View) error {
		var err error
		teams, err = view.Teams(ctx)
		return err
	})
	return teams, err
}
