package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
)

// rekeyEntry is the result as JSON.
type rekeyEntry struct {
	Key     string   `json:"key"`
	Rows    int64    `json:"rows"`
	Sealed  int64    `json:"encrypted"`
	Dropped []string `json:"keys_no_more_needed"`
	Left    []string `json:"values_left"`
	Wiped   bool     `json:"wiped"`
}

// rekeyCommand re-encrypts everything with the current key.
func rekeyCommand() *cobra.Command {
	var newKey, wipe, accept bool
	command := onDatabase(&cobra.Command{
		Use: "rekey", Short: "Encrypt all personal data with the current key", Args: checkArguments(cobra.NoArgs),
		Long: "Encrypt all personal data with the first key of encryption-key-file or\n" +
			"encryption-key: what another key encrypted, and what was stored unencrypted before.\n" +
			"First give all servers the new key, before the old ones. The work is done in small\n" +
			"steps, can run next to busy servers, and continues where it was interrupted. Only when\n" +
			"it is done may you remove the other keys. Old data may remain in the database files\n" +
			"until it is overwritten: --wipe rewrites all of them and blocks all other writes\n" +
			"meanwhile.\n\n" +
			"Once everything is encrypted, a value that is not was put there by someone else, or by\n" +
			"a server without the key. It is refused everywhere, and this command names it and leaves\n" +
			"it alone, unless --accept-plaintext says that such values are genuine. See\n" +
			"docs/encryption.md.",
		Example: "  landfall rekey --new-key >> landfall.keys\n  landfall rekey --encryption-key-file landfall.keys",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		if accept {
			if err := operator.AcceptPlaintext(command.Context()); err != nil {
				return err
			}
		}
		// Progress per table, so that an hour of work is not silent.
		current := ""
		left := []string{}
		done, err := operator.Rekey(command.Context(), func(step landfall.RekeyStep) {
			if len(step.Waiting) > 0 && current == "" {
				current = step.Table
				fmt.Fprintf(command.ErrOrStderr(), "waiting for servers that do not write with this key: %s\n", escapeText(strings.Join(step.Waiting, ", ")))
			}
			for _, problem := range step.Problems {
				left = append(left, problem)
				fmt.Fprintln(command.ErrOrStderr(), "left as it is:", escapeText(problem))
			}
			// Printed when the next table begins; the last one is covered by the summary.
			if step.Table != current && current != "" && !jsonWanted(command) {
				fmt.Fprintf(command.ErrOrStderr(), "finished %s: %d rows so far, %d re-encrypted\n", current, step.Scanned, step.Encrypted)
			}
			current = step.Table
		})
		if err != nil {
			return err
		}
		if done.Unreadable > 0 {
			return fmt.Errorf("%d values do not open; see above. No key was dropped: restore or erase them, then run this again", done.Unreadable)
		}
		// Last, when nothing unencrypted is written any more.
		if wipe {
			settings, err := loadSettings(command)
			if err != nil {
				return err
			}
			if err := sqlstore.Wipe(command.Context(), settings.Database); err != nil {
				return errors.Join(errors.New("everything is encrypted, but unencrypted data may remain in the database files"), err)
			}
		}
		dropped := "No other key is needed any more."
		if len(done.DroppedKeys) > 0 {
			dropped = "No longer needed: " + strings.Join(done.DroppedKeys, ", ") + ". Keep these keys as long as you keep backups made before."
		}
		if wipe {
			dropped += " The database files were rewritten, so no former version of the data remains in them."
		}
		if len(left) > 0 {
			dropped += fmt.Sprintf(" %d values are not encrypted and were refused; see above.", len(left))
		}
		return printDone(command, rekeyEntry{done.Key, done.Scanned, done.Encrypted, append([]string{}, done.DroppedKeys...), left, wipe},
			"All personal data is encrypted with key %s; %d of %d rows were re-encrypted. %s", done.Key, done.Encrypted, done.Scanned, dropped)
	})
	flags := command.Flags()
	flags.BoolVar(&newKey, "new-key", false, "print a new key and do nothing else")
	flags.BoolVar(&wipe, "wipe", false, "rewrite the database files afterwards, so that nothing unencrypted remains in them")
	flags.BoolVar(&accept, "accept-plaintext", false, "also encrypt values that were stored unencrypted after everything had been encrypted")
	// A new key is needed before there is a database or a key setting.
	work := command.RunE
	command.RunE = func(command *cobra.Command, args []string) error {
		// Printed and not stored: the operator decides where keys are kept.
		if newKey {
			_, err := fmt.Fprintln(command.OutOrStdout(), seal.NewKeyText())
			return err
		}
		return work(command, args)
	}
	return command
}
