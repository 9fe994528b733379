package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
)

// rekeyEntry is what became of it, for machines.
type rekeyEntry struct {
	Key     string   `json:"key"`
	Rows    int64    `json:"rows"`
	Sealed  int64    `json:"encrypted"`
	Dropped []string `json:"keys_no_more_needed"`
	Wiped   bool     `json:"wiped"`
}

// rekeyCommand brings everything under the key of today.
func rekeyCommand() *cobra.Command {
	var newKey, wipe bool
	command := onDatabase(&cobra.Command{
		Use: "rekey", Short: "Encrypt what is personal with the key of today", Args: checkArguments(cobra.NoArgs),
		Long: "Encrypt what is personal with the first of the keys in encryption-key-file or\n" +
			"encryption-key: what another of them encrypted, and what was written before there\n" +
			"was one. Give all servers the new key first, in front of the old ones. It goes in\n" +
			"small steps and may run beside servers under load; what was interrupted goes on\n" +
			"where it was. When it is done, and only then, the other keys may be dropped.\n" +
			"The database's files may hold what was there before until they are written\n" +
			"over: --wipe writes all of them anew, and nobody can write meanwhile.\n" +
			"See docs/encryption.md.",
		Example: "  landfall rekey --new-key >> landfall.keys\n  landfall rekey --encryption-key-file landfall.keys",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		// Told by the table: rows of a large database are too many to be told one by one,
		// and silence for an hour makes people press Ctrl-C.
		table := ""
		done, err := operator.Rekey(command.Context(), func(step landfall.RekeyStep) {
			// A table is told when the next one begins, and the last by the sentence at the end.
			if step.Table != table && table != "" && !jsonWanted(command) {
				fmt.Fprintf(command.ErrOrStderr(), "%s is done: %d rows so far, %d of them encrypted anew\n", table, step.Scanned, step.Encrypted)
			}
			table = step.Table
		})
		if err != nil {
			return err
		}
		// Last, because only now nothing unencrypted is written any more.
		if wipe {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			if err := sqlstore.Wipe(command.Context(), settings.Database); err != nil {
				return err
			}
		}
		dropped := "No other key is needed any more."
		if len(done.DroppedKeys) > 0 {
			dropped = "Not needed any more: " + strings.Join(done.DroppedKeys, ", ") + ". Keep them for as long as you keep backups made before."
		}
		return printDone(command, rekeyEntry{done.Key, done.Scanned, done.Encrypted, append([]string{}, done.DroppedKeys...), wipe},
			"Everything personal is encrypted with key %s; %d of %d rows were encrypted anew. %s", done.Key, done.Encrypted, done.Scanned, dropped)
	})
	flags := command.Flags()
	flags.BoolVar(&newKey, "new-key", false, "print a new key and do nothing else")
	flags.BoolVar(&wipe, "wipe", false, "write the database's files anew afterwards, so that nothing unencrypted is left in them")
	// A new key is needed before there is a database, or a setting that names a key.
	work := command.RunE
	command.RunE = func(command *cobra.Command, args []string) error {
		// Printed and not kept: where keys are is for the operator to decide.
		if newKey {
			_, err := fmt.Fprintln(command.OutOrStdout(), seal.NewKeyText())
			return err
		}
		return work(command, args)
	}
	return command
}
