package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

//go:embed schema/*/*.sql
var schemaFiles embed.FS

// schemaSteps returns the folder with the schema steps of both databases.
func schemaSteps() fs.FS {
	folder, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		panic(err) // the name is valid
	}
	return folder
}

// refuseOldServers refuses to change the schema while servers run that do not know
// the new one: their writes would fail from then on. On SQLite the lock of the file
// does the same. A server that was killed counts until limits.ReplicaSeen has passed.
func refuseOldServers(ctx context.Context, db *sql.DB) error {
	running, err := runningServers(ctx, db)
	if err != nil || running == "" {
		return err
	}
	return fmt.Errorf("%w for a change of the schema: older servers are running: %s; stop them first (one that was killed counts for %s more)",
		engine.ErrUnavailable, running, limits.ReplicaSeen)
}

// runningServers lists the servers that use a PostgreSQL database.
func runningServers(ctx context.Context, db *sql.DB) (string, error) {
	rows, err := db.QueryContext(ctx, `SELECT host || ' (version ' || version || ')' FROM replica
		WHERE seen_at > extract(epoch FROM clock_timestamp()) * 1000000 - $1 ORDER BY 1`, limits.ReplicaSeen.Microseconds())
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var running []string
	for rows.Next() {
		var server string
		if err := rows.Scan(&server); err != nil {
			return "", err
		}
		running = append(running, server)
	}
	return strings.Join(running, ", "), rows.Err()
}

// SchemaStep is one change of the database's schema.
type SchemaStep = engine.SchemaStep

// SchemaStatus lists the steps that this program knows and which of them the
// database has. It changes nothing.
func SchemaStatus(ctx context.Context, url string, options Options) ([]SchemaStep, error) {
	return onSchema(ctx, url, options, engine.SchemaStatus)
}

// SchemaApply brings the database's schema up to date.
func SchemaApply(ctx context.Context, url string, options Options) ([]SchemaStep, error) {
	return onSchema(ctx, url, options, engine.SchemaApply)
}

// onSchema works on a database whose schema may not be up to date, and which
// Open may refuse.
func onSchema(
	ctx context.Context, url string, options Options,
	work func(context.Context, engine.Name, engine.Options) ([]SchemaStep, error),
) ([]SchemaStep, error) {
	name, err := engine.Parse(url)
	if err != nil {
		return nil, err
	}
	list, err := work(ctx, name, options.engine())
	return list, translate(err)
}
