package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
)

// backupCommand copies the database of a running server into a file.
func backupCommand() *cobra.Command {
	command := &cobra.Command{
		Use: "backup FILE", Short: "Copy a SQLite database into a new file, beside the running server", Args: checkArguments(cobra.ExactArgs(1)),
		Long: "Copy a SQLite database into a new file, beside the running server. Everything\n" +
			"that was answered before the copy began is in it. The file appears when it is whole\n" +
			"and was checked as 'landfall verify' does; only its owner can read it, and no file is\n" +
			"overwritten. PostgreSQL has tools of its own: docs/backup.md tells which.",
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	addSettings(command, databaseSettings...)
	command.RunE = func(command *cobra.Command, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// With the patience of commands that look at everything, because the copy is checked
		// account by account.
		options, err := storeOptions(settings, longRunningTimeout)
		if err != nil {
			return err
		}
		// The copy is checked before it gets its name, so that a file which is there is a
		// good backup.
		accounts := 0
		unchecked, err := sqlstore.Backup(command.Context(), settings.Database, args[0], options,
			func(ctx context.Context, store landfall.Store) (err error) {
				accounts, err = verifyCopy(ctx, store)
				return err
			})
		if err != nil {
			return explainNoFile(err, "back it up with pg_dump or pg_basebackup; see docs/backup.md")
		}
		// Accounts of an older schema cannot be read by this program; saying that all was
		// well would be a lie.
		if unchecked {
			printWarning(command, "the database has an older schema than this program, so the copy was checked as a file and not account by account")
		}
		// The size is taken from the file that is there now, under its own name.
		info, err := os.Stat(args[0])
		if err != nil {
			return err
		}
		return printDone(command, struct {
			File     string `json:"file"`
			Bytes    int64  `json:"bytes"`
			Accounts int    `json:"accounts"`
			Checked  bool   `json:"checked"`
		}{args[0], info.Size(), accounts, !unchecked},
			"%s has %d accounts in %d bytes, and everything in it holds.", args[0], accounts, info.Size())
	}
	return command
}

// verifyCopy checks a copy account by account.
func verifyCopy(ctx context.Context, store landfall.Store) (int, error) {
	// The first thing that does not hold ends the check: a copy that is not good is not kept, and
	// verify lists the rest.
	return operate.New(store, operate.Options{Actor: currentActor()}).Verify(ctx, func(finding landfall.Finding) error {
		return fmt.Errorf("the copy was not kept: in it, of %s %s %s. Look what else there is with 'landfall verify'",
			finding.Key.Supplier, finding.Key.External, finding.What)
	})
}

// explainNoFile tells a database that has no file what to do instead.
func explainNoFile(err error, instead string) error {
	if errors.Is(err, sqlstore.ErrNoFile) {
		return usageError{fmt.Errorf("PostgreSQL's databases are no files: %s", instead)}
	}
	return err
}

// restoreCommand puts a backup back and decides about its keys.
func restoreCommand() *cobra.Command {
	var keep, revoke bool
	var list string
	command := &cobra.Command{
		Use: "restore [FILE] --keep-keys | --revoke-keys | --revoked LIST", Args: checkArguments(cobra.MaximumNArgs(1)),
		Short: "Put a backup back, without the keys that were revoked since",
		Long: "Put a backup of a SQLite database where --database says, which must be free; or,\n" +
			"without FILE, let a PostgreSQL database be served that its own tools have put back.\n" +
			"A backup knows nothing of keys that were revoked since it was made. So every token\n" +
			"ends, and you say which keys do: none (--keep-keys), all (--revoke-keys), or those of\n" +
			"a LIST: ids, one a line, or what 'landfall key list --json' has printed since.",
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	addSettings(command, databaseSettings...)
	command.Flags().BoolVar(&keep, "keep-keys", false, "no key was revoked since the backup was made")
	command.Flags().BoolVar(&revoke, "revoke-keys", false, "end all keys; make new ones afterwards")
	command.Flags().StringVar(&list, "revoked", "", "file with the keys that were revoked or have ended since; - for standard input")
	_ = command.MarkFlagFilename("revoked") // it is there, or we would not be here
	command.RunE = func(command *cobra.Command, args []string) error {
		// The settings go first, then the decision about keys, then the list: everything that can
		// be wrong is found before a file is touched.
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// There is no default on purpose: either answer may be the one that lets a thief in or
		// shuts everybody out.
		if decisions := boolCount(keep) + boolCount(revoke) + boolCount(list != ""); decisions != 1 {
			return usageError{errors.New("say what becomes of the keys in the backup, of which some may have been revoked since: " +
				"one of --revoked LIST, --revoke-keys and --keep-keys")}
		}
		fate := operate.KeyFate{All: revoke}
		if list != "" {
			if fate.IDs, err = readRevokedKeys(command.InOrStdin(), list); err != nil {
				return usageError{err}
			}
		}
		// Decided while nobody can use the database yet.
		var done operate.Restored
		admit := func(ctx context.Context, store landfall.Store) (err error) {
			done, err = operate.New(store, operate.Options{Actor: currentActor(), Source: hostname()}).Restore(ctx, fate)
			return err
		}
		if err := restoreDatabase(command.Context(), settings, args, admit); err != nil {
			return err
		}
		return printRestored(command, settings.DatabaseName(), done)
	}
	return command
}

// boolCount is 1 for what was given.
func boolCount(is bool) int {
	if is {
		return 1
	}
	return 0
}

// restoreDatabase brings the file to its place, or takes the database that is there.
func restoreDatabase(ctx context.Context, settings app.Settings, args []string, admit func(context.Context, landfall.Store) error) error {
	options, err := storeOptions(settings, longRunningTimeout)
	if err != nil {
		return err
	}
	// With a file it is SQLite's way; a PostgreSQL database refuses it, and is told what to do
	// instead.
	if len(args) == 1 {
		return explainNoFile(sqlstore.Restore(ctx, settings.Database, args[0], options, admit),
			"put it back with pg_restore or from a base backup, and then run this without FILE; see docs/backup.md")
	}
	// What PostgreSQL's tools have put back may be older than this program.
	options.ApplySchema = true
	store, err := sqlstore.Open(ctx, settings.Database, options)
	if err != nil {
		return unreachableError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
	}
	// Closed whatever became of it, and both errors are told.
	return errors.Join(admit(ctx, store), store.Close())
}

// printRestored lists the keys that are good, because somebody has to look.
func printRestored(command *cobra.Command, database string, done operate.Restored) error {
	// Made even when there are none, so that machines get an empty list and no null.
	good, rows := []keyEntry{}, [][]string{}
	for _, key := range done.Good {
		good = append(good, newKeyEntry(key))
		rows = append(rows, []string{key.ID, key.Organisation, string(key.Role), formatTime(key.CreatedAt), formatTime(key.UsedAt)})
	}
	return printData(command, struct {
		Database string     `json:"database"`
		Tokens   int        `json:"tokens_ended"`
		Revoked  []string   `json:"keys_revoked"`
		Good     []keyEntry `json:"keys_good"`
	}{database, done.Tokens, append([]string{}, done.Revoked...), good}, func(out io.Writer) {
		fmt.Fprintf(out, "%s can be served. %d tokens ended, %d keys revoked. Keys that are good:\n", escapeText(database), done.Tokens, len(done.Revoked))
		printTable(out, []string{"ID", "ORGANISATION", "ROLE", "CREATED", "LAST USED"}, rows)
	})
}
