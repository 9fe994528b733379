package main

import (
	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// accountUndo undoes one account. If the account has to be kept, the error code is the reason.
func accountUndo() *cobra.Command {
	return onAccount(&cobra.Command{
		Use: "undo SUPPLIER EXTERNAL", Short: "Undo a created account, so that it is staged again",
		Long: "Undo a created account: its data is removed, its number is retired, and it is staged\n" +
			"as before. This is possible within the supplier's undo window, as long as nothing was\n" +
			"added to the account and its customers were not notified. Otherwise the account is\n" +
			"kept, the error code is the reason (window_over, has_postings, account_erased,\n" +
			"customers_were_told) and the exit code is 1. A caller that still processes the\n" +
			"supplier's accounts may create it again at once: pause the supplier first.",
		Example: "  landfall account undo NORTH 1001 --reason 'wrong tariff in the export'",
	}, func(command *cobra.Command, operator *operate.Operator, key landfall.Key, reason string) error {
		// No confirmation, unlike erase: the staged data is kept, and the account can be created
		// again.
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
