package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall/internal/service/operate"
)

// recountCommand repairs sums; verify finds them.
func recountCommand() *cobra.Command {
	return onDatabase(&cobra.Command{
		Annotations: map[string]string{longRunning: "yes"},
		Use:         "recount [SUPPLIER]", Short: "Count all sums again and correct wrong ones", Args: checkArguments(cobra.MaximumNArgs(1)),
		Long: "Count everything again that is kept as a sum: the totals of every supplier's accounts,\n" +
			"from their rows and ledgers, and the progress of runs. Without a supplier, also correct\n" +
			"the index by which accounts are found. What was wrong is corrected, listed\n" +
			"and recorded in the audit. Servers can keep running; what they write meanwhile counts.\n" +
			"Accounts themselves are never changed. 'landfall verify' finds wrong sums without\n" +
			"correcting them.",
		ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		code := ""
		if len(args) == 1 {
			code = args[0]
		}
		progress := func(supplier string) {
			if !jsonWanted(command) {
				fmt.Fprintf(command.ErrOrStderr(), "counting %s\n", escapeText(supplier))
			}
		}
		corrected, err := operator.Recount(command.Context(), code, progress)
		if err != nil {
			return err
		}
		return printData(command, struct {
			Corrected []string `json:"corrected"`
		}{append([]string{}, corrected...)}, func(out io.Writer) {
			for _, one := range corrected {
				fmt.Fprintln(out, escapeText(one))
			}
			if len(corrected) == 0 {
				fmt.Fprintln(out, "All sums are right.")
				return
			}
			fmt.Fprintf(out, "Corrected %d sums.\n", len(corrected))
		})
	})
}
