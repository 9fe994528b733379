package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// accountFind finds accounts by what a customer says on the phone.
func accountFind() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "find WORDS…", Short: "Find accounts of all suppliers by number, name or address",
		Args: checkArguments(cobra.MinimumNArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
		Long: "Find accounts of all suppliers by external or platform account number, or by a\n" +
			"customer's name, e-mail address, phone number, postcode or supply point. The start of\n" +
			"a value is enough. Accounts that are only staged are found by their external number.",
		Example: "  landfall account find lovelace\n  landfall account find 07700 900123",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// All arguments are one query, so no quotes are needed.
		found, err := operator.Search(command.Context(), strings.Join(args, " "))
		if err != nil {
			return err
		}
		shown := accountview.NewSearchResults(found)
		return printData(command, shown, func(out io.Writer) { printFound(out, shown) })
	})
}

// printFound prints the found accounts. Personal data is masked already.
func printFound(out io.Writer, found accountview.SearchResults) {
	if len(found.Accounts) == 0 {
		fmt.Fprintln(out, "No accounts found.")
	} else {
		printTable(out, []string{"SUPPLIER", "EXTERNAL", "ACCOUNT", "STATE", "NAME", "FOUND BY"},
			rowsOf(found.Accounts, func(one accountview.SearchResult) []string {
				return []string{one.Supplier, one.External, string(one.AccountNumber), one.State, one.Name, one.MatchedBy}
			}))
	}
	if found.More {
		fmt.Fprintf(out, "More than %d accounts match; refine your search.\n", operate.MaxSearchResults)
	}
	if found.WholeWordsOnly {
		fmt.Fprintln(out, "Personal data is encrypted here: names, addresses and phone numbers must be typed in full.")
	}
	if found.IndexBehind {
		fmt.Fprintln(out, "Accounts created just now are found only by their numbers; try again soon.")
	}
}
