package sqlstore

import (
	"context"
	"embed"
	"io/fs"

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
