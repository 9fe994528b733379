package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// accountFind looks for accounts by what a customer says on the telephone.
func accountFind() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "find WORDS…", Short: "Find accounts of every supplier by what somebody calls them",
		Args: checkArguments(cobra.MinimumNArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
		Long: "Find accounts of every supplier by either account number, or by a customer's\n" +
			"name, e-mail address, phone number, postcode or supply point: all of it or its\n" +
			"beginning. Accounts that are only staged are found by their external number.",
		Example: "  landfall account find lovelace\n  landfall account find 07700 900123",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// The words are one question, as somebody says them on the telephone; quotes are not
		// needed.
		found, err := operator.Search(command.Context(), strings.Join(args, " "))
		if err != nil {
			return err
		}
		shown := accountview.NewSearchResults(found)
		return printData(command, shown, func(out io.Writer) { printFound(out, shown) })
	})
}

// printFound prints hits as a table; what is personal is masked before it
// comes here.
func printFound(out io.Writer, found accountview.SearchResults) {
	rows := [][]string{}
	for _, one := range found.Accounts {
		rows = append(rows, []string{one.Supplier, one.External, string(one.AccountNumber), one.State, one.Name, one.MatchedBy})
	}
	if len(rows) == 0 {
		fmt.Fprintln(out, "Nothing was found.")
	} else {
		printTable(out, []string{"SUPPLIER", "EXTERNAL", "ACCOUNT", "STATE", "NAME", "FOUND BY"}, rows)
	}
	// Said below the table, where the eye ends up, and not above.
	if found.More {
		fmt.Fprintf(out, "There are more than %d: say more.\n", operate.MostFound)
	}
	if found.WholeWordsOnly {
		fmt.Fprintln(out, "Personal data is encrypted here: names, addresses and phone numbers are found by the whole of them.")
	}
	if found.IndexBehind {
		fmt.Fprintln(out, "Accounts created just now are found by their numbers alone; try again soon.")
	}
}
