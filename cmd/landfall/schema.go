package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"landfall/internal/store/sqlstore"
)

// schemaCommand lets you update the schema before a new version starts; serve does so itself.
func schemaCommand() *cobra.Command {
	return commandGroup("schema", "Show and update the database schema",
		schemaVerb("status", "Show which schema steps were applied", sqlstore.SchemaStatus),
		schemaVerb("apply", "Update the schema, creating the database if there is none", sqlstore.SchemaApply))
}

// schemaEntry is a schema step in lists and JSON.
type schemaEntry struct {
	Number  int64  `json:"number" table:"STEP"`
	Name    string `json:"name" table:"NAME"`
	Applied bool   `json:"applied" table:"APPLIED"`
}

// schemaVerb makes both commands; they print the same list.
func schemaVerb(verb, short string, work func(context.Context, string, sqlstore.Options) ([]sqlstore.SchemaStep, error)) *cobra.Command {
	command := &cobra.Command{Use: verb, Short: short, Args: checkArguments(cobra.NoArgs)}
	addSettings(command, databaseSettings...)
	command.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		steps, err := work(command.Context(), settings.Database, sqlstore.Options{AllowWeakDurability: settings.WeakDatabase})
		if err != nil {
			return unreachableError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
		}
		return printList(command, rowsOf(steps, func(step sqlstore.SchemaStep) schemaEntry {
			return schemaEntry{step.Version, step.Name, step.Applied}
		}))
	}
	return command
}
