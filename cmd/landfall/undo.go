package main

import (
	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// accountUndo takes one account back. An account that is kept is a refusal
// whose code is the reason, so that a script can tell the reasons apart.
func accountUndo() *cobra.Command {
	return onAccount(&cobra.Command{
		Use: "undo SUPPLIER EXTERNAL", Short: "Take a created account back, so that it is staged as before",
		Long: "Take a created account back: everything of it goes, its number is nobody's for\n" +
			"good, and it is staged as before. That is possible within the supplier's undo\n" +
			"window, while nothing was added to the account and its customers were not told;\n" +
			"otherwise it is kept, the code says why (window_over, has_postings,\n" +
			"customers_were_told) and the exit code is 1. A caller who still processes the\n" +
			"supplier's accounts may create it again at once: pause the supplier first.",
		Example: "  landfall account undo NORTH 1001 --reason 'wrong tariff in the export'",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		// Without a confirmation, unlike erasing: the staged data stays, and the account can be
		// created again.
		outcome, err := operator.Undo(command.Context(), key, reason)
		if err != nil {
			return err
		}
		return printDone(command, map[string]string{
			"action": "account.undo", "import_supplier": key.Supplier, "external_account_number": key.External,
			"retired_account_number": outcome.Number, "undone_at": formatTime(outcome.At),
		}, "Account %s of %s is staged again; the number %s is retired.", key.External, key.Supplier, outcome.Number)
	})
}
