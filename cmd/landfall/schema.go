package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"landfall/internal/store/sqlstore"
)

// schemaCommand is for those who bring the schema up to date before the new
// program starts; serve does it by itself.
func schemaCommand() *cobra.Command {
	return commandGroup("schema", "The database's schema",
		schemaVerb("status", "Show which schema steps the database has", sqlstore.SchemaStatus),
		schemaVerb("apply", "Bring the database's schema up to date, making the database when there is none", sqlstore.SchemaApply))
}

// schemaEntry is a schema step for machines.
type schemaEntry struct {
	Number  int64  `json:"number"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

// schemaVerb makes both commands: after looking and after changing one wants to
// see the same list.
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
		// Steps are told in the order they are applied in.
		entries, rows := []schemaEntry{}, [][]string{}
		for _, step := range steps {
			entries = append(entries, schemaEntry{step.Version, step.Name, step.Applied})
			rows = append(rows, []string{strconv.FormatInt(step.Version, 10), step.Name, yesNo(step.Applied)})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"STEP", "NAME", "APPLIED"}, rows)
		})
	}
	return command
}
