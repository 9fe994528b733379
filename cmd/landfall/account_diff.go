package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// accountDiff compares two staged revisions of an account.
func accountDiff() *cobra.Command {
	var from, to int
	command := onDatabase(&cobra.Command{
		Use: "diff SUPPLIER EXTERNAL", Short: "Compare two staged revisions of an account", Args: checkArguments(cobra.ExactArgs(2)),
		ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
		Long: "Compare two staged revisions of an account and print the attrs that differ, without\n" +
			"their values. Without --from and --to, the last two revisions are compared.",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.CompareRevisions(command.Context(), landfall.Key{Supplier: args[0], External: args[1]}, from, to)
		if err != nil {
			return err
		}
		data := map[string]any{"from": found.From, "to": found.To, "differences": append([]string{}, found.Attrs...)}
		return printData(command, data, func(out io.Writer) {
			if len(found.Attrs) == 0 {
				fmt.Fprintf(out, "Revisions %d and %d say the same.\n", found.From, found.To)
				return
			}
			fmt.Fprintf(out, "Revisions %d and %d differ in:\n", found.From, found.To)
			for _, attr := range found.Attrs {
				fmt.Fprintln(out, "  "+escapeText(attr))
			}
		})
	})
	command.Flags().IntVar(&from, "from", 0, "the earlier revision (default: the one before --to)")
	command.Flags().IntVar(&to, "to", 0, "the later revision (default: the last one)")
	return command
}
