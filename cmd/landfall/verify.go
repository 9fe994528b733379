package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// verifyCommand prints while it reads, because a database may be large.
func verifyCommand() *cobra.Command {
	type entry struct {
		Supplier string `json:"import_supplier"`
		External string `json:"external_account_number"`
		Finding  string `json:"finding"`
	}
	return onDatabase(&cobra.Command{
		Annotations: map[string]string{longRunning: "yes"},
		Use:         "verify", Short: "Check the consistency of everything in the database", Args: checkArguments(cobra.NoArgs),
		Long: "Check everything in the database that can be checked: staged documents against their\n" +
			"hashes, encrypted values, revisions, ledgers against balances and lengths, counters,\n" +
			"states, signed reports, the audit, and the files of the database as far as it can check\n" +
			"them itself. Every account is derived from its record again and compared with what is\n" +
			"stored. Servers do most of this slowly in the background. It changes nothing and can\n" +
			"run next to a server. Problems are listed one per line (with\n" +
			"--json one object per line), and the exit code is then 1.",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		out, asJSON := command.OutOrStdout(), jsonWanted(command)
		count, wrongSums := 0, false
		processes, err := operator.Verify(command.Context(), func(finding landfall.Finding) error {
			count++
			wrongSums = wrongSums || finding.Sums
			if asJSON {
				return printLine(out, entry{finding.Key.Supplier, finding.Key.External, finding.What})
			}
			_, err := fmt.Fprintf(out, "%s  %s  %s\n", escapeText(finding.Key.Supplier), escapeText(finding.Key.External), oneLine(finding.What))
			return err
		})
		if err != nil {
			return err
		}
		if wrongSums {
			printWarning(command, "some sums are wrong; 'landfall recount' counts them again and corrects them")
		}
		if count > 0 {
			return codeError{codeProblemsFound, fmt.Errorf("problems found: %d; accounts checked: %d", count, processes)}
		}
		if !asJSON {
			fmt.Fprintf(out, "Checked %d accounts; no problems found.\n", processes)
			fmt.Fprintln(out, "The end of the audit is not proven: compare it with checkpoints, using 'landfall audit verify --checkpoints FILE'.")
		}
		return nil
	})
}
