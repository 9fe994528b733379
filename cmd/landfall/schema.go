package main

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"landfall/internal/sqlstore"
)

func schemaCommand() *cobra.Command {
	return group("schema", "The database's schema",
		schemaVerb("status", "Show which schema steps the database has", sqlstore.SchemaStatus),
		schemaVerb("apply", "Bring the database's schema up to date, making the database when there is none", sqlstore.SchemaApply))
}

type schemaEntry struct {
	Number  int64  `json:"number"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

func schemaVerb(verb, short string, work func(context.Context, string, sqlstore.Options) ([]sqlstore.SchemaStep, error)) *cobra.Command {
	command := &cobra.Command{Use: verb, Short: short, Args: usage(cobra.NoArgs)}
	addSettings(command, databaseSettings...)
	command.RunE = func(command *cobra.Command, _ []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		steps, err := work(command.Context(), settings.Database, sqlstore.Options{AllowWeakDurability: settings.WeakDatabase})
		if err != nil {
			return unreachable{err}
		}
		entries, rows := []schemaEntry{}, [][]string{}
		for _, step := range steps {
			entries = append(entries, schemaEntry{step.Version, step.Name, step.Applied})
			rows = append(rows, []string{strconv.FormatInt(step.Version, 10), step.Name, yesNo(step.Applied)})
		}
		return show(command, entries, func(out io.Writer) {
			table(out, []string{"STEP", "NAME", "APPLIED"}, rows)
		})
	}
	return command
}
