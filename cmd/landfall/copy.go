package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/kit/report"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
)

// copyCommand copies a database into one of the other kind.
func copyCommand() *cobra.Command {
	var from, to string
	command := &cobra.Command{
		Use: "copy --from URL --to URL", Short: "Copy everything from one database into another: from SQLite to PostgreSQL, or back", Args: checkArguments(cobra.NoArgs),
		Long: "Copy everything from one database into a new one of either kind, for example from SQLite\n" +
			"to PostgreSQL. Stop all servers of both first; a database in use is refused. The new\n" +
			"database must exist (a SQLite file is created) and have no data; the schema is created\n" +
			"if there is none. Everything is copied as it is: accounts, keys, tokens, operators, the\n" +
			"audit, encrypted data. Then the rows of both are counted and hashed, and the copy passes\n" +
			"the checks of 'landfall verify' before it can be served. The first database is not changed.\n" +
			"If the copy is interrupted, run the same command again: it starts from the beginning, and\n" +
			"no server starts on an unfinished copy.\n\n" +
			"A password for PostgreSQL can also be set with database-password-file or\n" +
			"database-password-command. If both are PostgreSQL, that is the password of --to.\n" +
			"See docs/copy.md.",
		Example: "  landfall copy --from sqlite:landfall.db --to postgres://landfall@db.example.org/landfall",
	}
	addSettings(command, databaseSettings...)
	_ = command.Flags().MarkHidden("database") // cannot fail: the flag exists
	command.Flags().StringVar(&from, "from", "", "the database to copy")
	command.Flags().StringVar(&to, "to", "", "the new database")
	for _, name := range []string{"from", "to"} {
		completeFlag(command, name, prefixes("sqlite:", "postgres://"))
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		if from == "" || to == "" || command.Flags().Changed("database") {
			return usageError{errors.New("give both databases: --from URL --to URL")}
		}
		// The settings are those of the PostgreSQL database, so that its password applies.
		postgres := &to
		if isFile(to) {
			postgres = &from
		}
		given := *postgres
		settings, err := settingsOf(command, given)
		if err != nil {
			return err
		}
		*postgres = settings.Database
		options, err := storeOptions(settings, longRunningTimeout)
		if err != nil {
			return err
		}
		bar := newCommandProgress(command, "")
		tables, mark, err := sqlstore.Copy(command.Context(), from, to, options, func(now string, done, of int64) {
			bar.label = now
			bar.at(int(done), int(of))
		})
		bar.clear()
		if err != nil {
			return err
		}
		// A short-lived password may have expired by now.
		if settings, err = settingsOf(command, given); err != nil {
			return err
		}
		if isFile(to) {
			settings.Database = to
		}
		store, err := openStore(command.Context(), settings, longRunningTimeout)
		if err != nil {
			return err
		}
		accounts, err := finishCopy(command, store, shownName(from), mark)
		if err = errors.Join(err, store.Close()); err != nil {
			return err
		}
		return printCopied(command, tables, accounts, shownName(to))
	}
	return command
}

// isFile reports whether a database is a SQLite file.
func isFile(url string) bool {
	return !strings.HasPrefix(url, "postgres:") && !strings.HasPrefix(url, "postgresql:") && !strings.Contains(url, "=")
}

// settingsOf loads the settings of a command that works on this database. They have its address
// with the password.
func settingsOf(command *cobra.Command, url string) (app.Settings, error) {
	if err := command.Flags().Set("database", url); err != nil {
		return app.Settings{}, err
	}
	return loadSettings(command)
}

// shownName is the name of a database without its password.
func shownName(url string) string {
	return app.Settings{Database: url}.DatabaseName()
}

// finishCopy checks the copy and allows serving it.
func finishCopy(command *cobra.Command, store landfall.Store, from string, mark int64) (int, error) {
	operator := operate.New(store, operate.Options{Actor: currentActor(), Source: hostname()})
	accounts, err := operator.Verify(command.Context(), func(finding landfall.Finding) error {
		return fmt.Errorf("the copy failed the checks of 'landfall verify' and is not served: supplier %s, account %s: %s; check the original with 'landfall verify'",
			finding.Key.Supplier, finding.Key.External, finding.What)
	})
	if err != nil {
		return 0, err
	}
	return accounts, operator.FinishCopy(command.Context(), from, mark)
}

// printCopied prints the tables that have rows.
func printCopied(command *cobra.Command, tables []sqlstore.CopiedTable, accounts int, to string) error {
	type entry struct {
		Table string `json:"table"`
		Rows  int64  `json:"rows"`
		Hash  string `json:"hash"`
	}
	var rows int64
	list := []entry{}
	for _, table := range tables {
		rows += table.Rows
		list = append(list, entry{table.Name, table.Rows, table.Hash})
	}
	return printData(command, struct {
		Database string  `json:"database"`
		Rows     int64   `json:"rows"`
		Accounts int     `json:"accounts"`
		Tables   []entry `json:"tables"`
	}{to, rows, accounts, list}, func(out io.Writer) {
		fmt.Fprintf(out, "Copied %s rows of %d tables to %s. Counts and hashes of both are equal.\n", report.Number(int(rows)), len(list), escapeText(to))
		fmt.Fprintf(out, "Checked %d accounts of the copy; no problems found. It can be served.\n", accounts)
	})
}
