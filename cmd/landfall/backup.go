package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
)

// backupCommand copies the database of a running server into a file.
func backupCommand() *cobra.Command {
	var record bool
	command := &cobra.Command{
		Use: "backup FILE | --record", Short: "Copy a SQLite database into a new file while the server runs", Args: checkArguments(cobra.MaximumNArgs(1)),
		Long: "Copy a SQLite database into a new file while the server runs. The copy contains\n" +
			"everything that was acknowledged before it started. The file appears only when it is\n" +
			"complete and passed the checks of 'landfall verify'. Only its owner can read it, and no\n" +
			"file is overwritten. For PostgreSQL use its own tools (see docs/backup.md) and then\n" +
			"'landfall backup --record', which records that a backup was made: an alert watches the\n" +
			"age of the last one.",
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	addSettings(command, databaseSettings...)
	command.Flags().BoolVar(&record, "record", false, "only record that a backup was made with other tools just now")
	command.RunE = func(command *cobra.Command, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		if record == (len(args) == 1) {
			return usageError{errors.New("give the name of a new file, or --record after a backup with other tools")}
		}
		if record {
			if err := recordBackup(command.Context(), settings, "made with other tools"); err != nil {
				return err
			}
			return printDone(command, map[string]bool{"recorded": true}, "Recorded a backup.")
		}
		// The copy is checked account by account, which takes long.
		options, err := storeOptions(settings, longRunningTimeout)
		if err != nil {
			return err
		}
		// The copy is checked before it gets its name, so an existing file is always a good backup.
		accounts := 0
		unchecked, err := sqlstore.Backup(command.Context(), settings.Database, args[0], options,
			func(ctx context.Context, store landfall.Store) (err error) {
				accounts, err = verifyCopy(ctx, store)
				return err
			})
		if err != nil {
			return explainNoFile(err, "back it up with pg_dump or pg_basebackup; see docs/backup.md")
		}
		// This program cannot read accounts of an older schema.
		if unchecked {
			printWarning(command, "the database has an older schema than this program, so the copy was checked as a file and not account by account")
		}
		// A backup that is good but not recorded is better than none.
		if !unchecked {
			if err := recordBackup(command.Context(), settings, args[0]); err != nil {
				printWarning(command, "the backup is good but could not be recorded, so an alert may say that it is missing: "+errorText(err))
			}
		}
		info, err := os.Stat(args[0])
		if err != nil {
			return err
		}
		result := struct {
			File     string `json:"file"`
			Bytes    int64  `json:"bytes"`
			Accounts *int   `json:"accounts,omitempty"` // unknown if they were not checked
			Checked  bool   `json:"checked"`
		}{args[0], info.Size(), &accounts, !unchecked}
		if unchecked {
			result.Accounts = nil
			return printDone(command, result, "Backed up the database (%[2]d bytes) to %[1]s. Its accounts were not checked.", args[0], info.Size())
		}
		return printDone(command, result, "Backed up %[2]d accounts (%[3]d bytes) to %[1]s. All checks passed.", args[0], accounts, info.Size())
	}
	return command
}

// recordBackup records a backup in the database.
func recordBackup(ctx context.Context, settings app.Settings, how string) error {
	store, err := openStore(ctx, settings, 0)
	if err != nil {
		return err
	}
	return errors.Join(operate.New(store, operate.Options{Actor: currentActor(), Source: hostname()}).RecordBackup(ctx, how), store.Close())
}

// verifyCopy checks a copy account by account and returns how many accounts it has.
func verifyCopy(ctx context.Context, store landfall.Store) (int, error) {
	// Stop at the first finding: a bad copy is discarded, and 'landfall verify' lists the rest.
	return operate.New(store, operate.Options{Actor: currentActor()}).Verify(ctx, func(finding landfall.Finding) error {
		return fmt.Errorf("the backup failed its checks and was discarded: supplier %s, account %s: %s; run 'landfall verify' for the full list",
			finding.Key.Supplier, finding.Key.External, finding.What)
	})
}

// explainNoFile tells users of a database without a file what to do instead.
func explainNoFile(err error, instead string) error {
	if errors.Is(err, sqlstore.ErrNoFile) {
		return usageError{fmt.Errorf("a PostgreSQL database is not a file: %s", instead)}
	}
	return err
}

// restoreCommand restores a backup and decides which of its API keys stay valid.
func restoreCommand() *cobra.Command {
	var keep, revoke bool
	var list string
	var operators []string
	command := &cobra.Command{
		Use: "restore [FILE] --keep-keys | --revoke-keys | --revoked LIST", Args: checkArguments(cobra.MaximumNArgs(1)),
		Short: "Restore a backup, without the API keys and operators that were removed since",
		Long: "Restore a backup of a SQLite database to the place given by --database, where no\n" +
			"database may exist yet. Without FILE, prepare a PostgreSQL database that its own tools\n" +
			"have restored. A backup does not know which API keys were revoked after it was made.\n" +
			"All tokens end, and you choose which keys end: none (--keep-keys), all (--revoke-keys),\n" +
			"or those in a LIST: one ID per line, or the output of 'landfall key list --json'.\n" +
			"Nor does it know which operators were disabled since. All their sessions, links and\n" +
			"recovery codes end. Name those who may still sign in with --keep-operators; the others\n" +
			"are disabled until 'landfall operator enable'.",
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	}
	addSettings(command, databaseSettings...)
	command.Flags().BoolVar(&keep, "keep-keys", false, "keep all keys; none was revoked since the backup")
	command.Flags().BoolVar(&revoke, "revoke-keys", false, "revoke all keys; create new ones afterwards")
	command.Flags().StringVar(&list, "revoked", "", "file with the keys that were revoked or expired since; - for standard input")
	command.Flags().StringSliceVar(&operators, "keep-operators", nil, "names of the operators who may still sign in, separated by commas; all for all of them")
	_ = command.MarkFlagFilename("revoked") // cannot fail: the flag exists
	command.RunE = func(command *cobra.Command, args []string) error {
		// Check everything that can be wrong before touching a file.
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// There is deliberately no default: a wrong choice either lets a revoked key in or locks
		// everyone out.
		if boolCount(keep)+boolCount(revoke)+boolCount(list != "") != 1 {
			return usageError{errors.New("choose what happens to the API keys in the backup, some of which may have been revoked since: " +
				"one of --revoked LIST, --revoke-keys and --keep-keys")}
		}
		fate := operate.KeysToRevoke{All: revoke}
		if list != "" {
			if fate.IDs, err = readRevokedKeys(command.InOrStdin(), list); err != nil {
				return usageError{err}
			}
		}
		kept := operate.OperatorsToKeep{Names: operators}
		if slices.Equal(operators, []string{operate.AllOperators}) {
			kept = operate.OperatorsToKeep{All: true}
		}
		// Decided before the database can be used.
		var done operate.RestoreResult
		admit := func(ctx context.Context, store landfall.Store) (err error) {
			done, err = operate.New(store, operate.Options{Actor: currentActor(), Source: hostname()}).Restore(ctx, fate, kept)
			return err
		}
		if err := restoreDatabase(command.Context(), settings, args, admit); err != nil {
			return err
		}
		return printRestored(command, settings.DatabaseName(), done)
	}
	return command
}

func boolCount(is bool) int {
	if is {
		return 1
	}
	return 0
}

// restoreDatabase restores the file, or opens the database that was restored by other tools.
func restoreDatabase(ctx context.Context, settings app.Settings, args []string, admit func(context.Context, landfall.Store) error) error {
	options, err := storeOptions(settings, longRunningTimeout)
	if err != nil {
		return err
	}
	// A file means SQLite; a PostgreSQL database refuses it and explains what to do instead.
	if len(args) == 1 {
		return explainNoFile(sqlstore.Restore(ctx, settings.Database, args[0], options, admit),
			"restore it with pg_restore or from a base backup, then run this command without FILE; see docs/backup.md")
	}
	// The restored database may have an older schema than this program.
	options.ApplySchema = true
	store, err := sqlstore.Open(ctx, settings.Database, options)
	if err != nil {
		return unreachableError{fmt.Errorf("database %s: %w", settings.DatabaseName(), err)}
	}
	return errors.Join(admit(ctx, store), store.Close())
}

// nameList writes names in one line.
func nameList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// printRestored lists the keys that are still valid, for the operator to review.
func printRestored(command *cobra.Command, database string, done operate.RestoreResult) error {
	valid := rowsOf(done.Good, newKeyEntry)
	return printData(command, struct {
		Database string     `json:"database"`
		Tokens   int        `json:"tokens_ended"`
		Revoked  []string   `json:"keys_revoked"`
		Good     []keyEntry `json:"keys_good"`
		Disabled []string   `json:"operators_disabled"`
		Kept     []string   `json:"operators_kept"`
	}{database, done.Tokens, append([]string{}, done.Revoked...), valid, append([]string{}, done.Disabled...), append([]string{}, done.Kept...)}, func(out io.Writer) {
		fmt.Fprintf(out, "%s is ready to be served. %d tokens ended, %d keys revoked. Valid keys:\n", escapeText(database), done.Tokens, len(done.Revoked))
		printColumns(out, valid)
		if len(done.Disabled)+len(done.Kept) > 0 {
			fmt.Fprintf(out, "Operators who can sign in: %s. Disabled: %s.\n", nameList(done.Kept), nameList(done.Disabled))
		}
	})
}
