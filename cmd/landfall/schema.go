package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/store/sqlstore"
)

// schemaCommand lets you update the schema before a new version starts; serve does so itself.
func schemaCommand() *cobra.Command {
	status := schemaVerb("status", "Show which schema steps were applied", sqlstore.SchemaStatus)
	var wait time.Duration
	apply := schemaVerb("apply", "Update the schema, creating the database if there is none",
		func(ctx context.Context, url string, options sqlstore.Options) ([]sqlstore.SchemaStep, error) {
			return applySchema(ctx, url, options, wait)
		})
	apply.Long = "Update the schema, creating the database if there is none. Each step is one transaction.\n" +
		"An existing PostgreSQL database is not changed while servers of an older version are\n" +
		"running: stop them first, or let --wait wait until they have stopped."
	apply.Flags().DurationVar(&wait, "wait", 0, "how long to wait for older servers to stop, and for an unavailable database")
	return commandGroup("schema", "Show and update the database schema", status, apply)
}

// applySchema updates the schema. It waits while older servers are running.
func applySchema(ctx context.Context, url string, options sqlstore.Options, wait time.Duration) ([]sqlstore.SchemaStep, error) {
	for until := time.Now().Add(wait); ; {
		steps, err := sqlstore.SchemaApply(ctx, url, options)
		if !errors.Is(err, landfall.ErrUnavailable) || time.Now().After(until) {
			return steps, err
		}
		select {
		case <-ctx.Done():
			return steps, err
		case <-time.After(min(limits.DatabaseOpenMaxRetry, time.Until(until))):
		}
	}
}

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
		steps, err := work(command.Context(), settings.Database, sqlstore.Options{
			AllowWeakDurability: settings.WeakDatabase,
			OnSchemaStep: func(step sqlstore.SchemaStep, took time.Duration) {
				switch {
				case jsonWanted(command):
				case took == 0:
					fmt.Fprintf(command.ErrOrStderr(), "applying %s\n", step.Name)
				default:
					fmt.Fprintf(command.ErrOrStderr(), "applied %s in %s\n", step.Name, took.Round(time.Millisecond))
				}
			},
		})
		if err != nil {
			return unreachableError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
		}
		return printList(command, rowsOf(steps, func(step sqlstore.SchemaStep) schemaEntry {
			return schemaEntry{step.Version, step.Name, step.Applied}
		}))
	}
	return command
}
