package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/outbound/filestore"
	"landfall/internal/service/operate"
)

// accountCommand holds what an operator asks and decides about single accounts,
// and about those of a supplier that do not get on.
func accountCommand() *cobra.Command {
	return commandGroup("account", "Account import processes and the accounts they became",
		accountShow(), accountFind(), accountFailed(), accountErrors(),
		accountMark("skip", "Mark an account so that it is neither staged nor created", "marked as skipped", (*operate.Operator).Skip),
		accountMark("unskip", "Take the mark away", "not marked any more", (*operate.Operator).Unskip),
		accountUndo(), accountErase(), accountExport())
}

// accountMark makes the command that sets the skip mark and the one that takes
// it away: they differ in a word.
func accountMark(verb, short, done string, mark func(*operate.Operator, context.Context, landfall.Key, string) error) *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: verb + " SUPPLIER EXTERNAL", Short: short, Args: checkArguments(cobra.ExactArgs(2)),
		ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Both words are taken as they were typed: an external number may look like anything, and
		// only the database knows whether it is one.
		key := landfall.Key{Supplier: args[0], External: args[1]}
		if err := mark(operator, command.Context(), key, reason); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "account." + verb, "import_supplier": key.Supplier, "external_account_number": key.External},
			"Account %s of %s is %s.", key.External, key.Supplier, done)
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good")
	return command
}

// onAccount completes a command that does to one account what somebody will have to
// answer for: it names the account as its supplier does, and says why.
func onAccount(command *cobra.Command, work func(*cobra.Command, *operate.Operator, landfall.Key, string) error) *cobra.Command {
	var reason string
	command.Args, command.ValidArgsFunction = checkArguments(cobra.ExactArgs(2)), completeArguments(supplierCodes, noCompletion)
	command = onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		return work(command, operator, landfall.Key{Supplier: args[0], External: args[1]}, reason)
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good (required)")
	return command
}

// accountShow prints the portrait of an account. What may be seen is decided by
// the portrait, so that no way of printing can show more.
func accountShow() *cobra.Command {
	var options accountview.Options
	var whole bool
	command := onDatabase(&cobra.Command{
		Use: "show SUPPLIER EXTERNAL | ACCOUNT-NUMBER", Short: "Show an account with everything on it and its history",
		Args: checkArguments(cobra.RangeArgs(1, 2)), ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
		Long: "Show an account with everything on it and its history, by the supplier's\n" +
			"number or by ours. Without --personal and --document nothing is shown that\n" +
			"says who the customers are or what people wrote.",
		Example: "  landfall account show NORTH 1001\n  landfall account show A-7K3M9Q2B --personal",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := findAccount(command.Context(), operator, args)
		if err != nil {
			return err
		}
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Where documents are is a setting of the server; the operator has it too
		// or sees the paths alone. Nothing is asked of the store here.
		places, err := filestore.Place(settings.Documents)
		if err != nil {
			return usageError{err}
		}
		options.DocumentURL = func(path string) string { return places.Location(found.Supplier, path) }
		// The verb and the portrait know the same facts and not each other.
		shown := accountview.New(accountview.Facts(found), options)
		return printData(command, shown, func(out io.Writer) { printAccount(out, shown, whole) })
	})
	flags := command.Flags()
	flags.BoolVar(&options.Personal, "personal", false, "show people, addresses, notes' texts and transactions as sent")
	flags.BoolVar(&options.Staged, "document", false, "print the staged data too, personal data and all")
	flags.BoolVar(&whole, "all", false, "show the whole ledger and not its last entries")
	return command
}

// findAccount takes the supplier's name for an account, or ours.
func findAccount(ctx context.Context, operator *operate.Operator, args []string) (operate.AccountFacts, error) {
	// One word can only be our own number, because a supplier's number means nothing without its
	// supplier.
	if len(args) == 1 {
		return operator.ShowAccountByNumber(ctx, args[0])
	}
	return operator.ShowAccount(ctx, landfall.Key{Supplier: args[0], External: args[1]})
}
