package sqlstore

import (
	"context"

	"landfall"
)

// Team returns the team with a name.
func (v *view) Team(ctx context.Context, name string) (landfall.Team, error) {
	found, err := v.teams(ctx, `SELECT name, created_at FROM team WHERE name = $1`, name)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Teams returns all teams, sorted by name.
func (v *view) Teams(ctx context.Context) ([]landfall.Team, error) {
	return v.teams(ctx, `SELECT name, created_at FROM team ORDER BY name`)
}

// teams returns the teams that a query selects.
func (v *view) teams(ctx context.Context, text string, args ...any) ([]landfall.Team, error) {
	return collect(ctx, v.txSession, func(scan scanner, team *landfall.Team) error {
		var created int64
		err := scan(&team.Name, &created)
		team.CreatedAt = moment(created)
		return err
	}, text, args...)
}

// CreateTeam stores a new team.
func (t *tx) CreateTeam(ctx context.Context, name string) error {
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx,
		`INSERT INTO team (name, created_at) VALUES ($1, {now}) ON CONFLICT (name) DO NOTHING`, name))
}
