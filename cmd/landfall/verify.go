package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// verifyCommand prints while it reads: a database may be large, and a broken
// one may have much to tell.
func verifyCommand() *cobra.Command {
	type entry struct {
		Supplier string `json:"import_supplier"`
		External string `json:"external_account_number"`
		Finding  string `json:"finding"`
	}
	return onDatabase(&cobra.Command{
		Annotations: map[string]string{longRunning: "yes"},
		Use:         "verify", Short: "Check everything in the database that can be checked", Args: checkArguments(cobra.NoArgs),
		Long: "Check everything in the database that can be checked: staged documents\n" +
			"against their hashes, revisions, ledgers against balances and lengths, counters\n" +
			"and states. It changes nothing and may run beside a server. What does not hold is\n" +
			"named, one per line (with --json one object per line), and the exit code is 1.",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		out := command.OutOrStdout()
		// Not through show, which gathers: findings are printed as they come.
		asked, _ := command.Flags().GetBool(jsonFlag)
		count := 0
		processes, err := operator.Verify(command.Context(), func(finding landfall.Finding) error {
			count++
			if asked {
				line, err := json.Marshal(entry{finding.Key.Supplier, finding.Key.External, finding.What})
				if err == nil {
					_, err = fmt.Fprintln(out, escapeJSON(string(line)))
				}
				return err
			}
			_, err := fmt.Fprintf(out, "%s  %s  %s\n", escapeText(finding.Key.Supplier), escapeText(finding.Key.External), finding.What)
			return err
		})
		if err != nil {
			return err
		}
		// The exit code says it to scripts that throw the lines away.
		// Printed findings and then an error: what does not hold is on standard output, and how
		// much of it on standard error.
		if count > 0 {
			return fmt.Errorf("%d of the things checked in %d accounts do not hold", count, processes)
		}
		if !asked {
			fmt.Fprintf(out, "%d accounts checked: everything holds.\n", processes)
		}
		return nil
	})
}
