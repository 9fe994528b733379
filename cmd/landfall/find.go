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
		Long: "Find accounts of all suppliers, in every state, by any number or its last characters, or by\n" +
			"a customer's name, e-mail address, postcode, address or part of a phone number. Several\n" +
			"words are combined. The start of a word is enough, and a typing mistake is forgiven.",
		Example: "  landfall account find lovelace\n  landfall account find phillips nr2",
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
		printTable(out, []string{"SUPPLIER", "EXTERNAL", "ACCOUNT", "STATE", "NAME", "TOWN", "POSTCODE", "BALANCE", "FOUND BY"},
			rowsOf(found.Accounts, func(one accountview.SearchResult) []string {
				return []string{one.Supplier, one.External, string(one.AccountNumber), one.State, one.Name, one.Town, one.PostcodeArea, one.Balance, one.MatchedBy}
			}))
	}
	if found.More {
		fmt.Fprintf(out, "More than %d accounts match; refine your search.\n", operate.MaxSearchResults)
	}
	if found.WholeWordsOnly {
		fmt.Fprintln(out, "Personal data is encrypted here: names, addresses and phone numbers must be typed in full.")
	}
	if found.IndexBehind {
		fmt.Fprintln(out, "Accounts staged just now are found only by their numbers; try again soon.")
	}
}
