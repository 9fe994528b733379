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

// accountCommand groups the commands for single accounts and for a supplier's failed accounts.
func accountCommand() *cobra.Command {
	return commandGroup("account", "Show and change account import processes and accounts",
		accountShow(), accountDiff(), accountFind(), accountFailed(), accountErrors(), accountDuplicates(),
		accountMark("skip", "Mark an account so that it is neither staged nor created", "marked as skipped", (*operate.Operator).Skip),
		accountMark("unskip", "Remove the skip mark from an account", "no longer marked as skipped", (*operate.Operator).Unskip),
		accountMark("release", "Free an account from a claim whose holder is gone", "no longer claimed", (*operate.Operator).Release),
		accountUndo(), accountErase(), accountExport())
}

// accountMark makes the commands that set and remove a mark or a claim.
func accountMark(verb, short, done string, mark func(*operate.Operator, context.Context, landfall.Key, string) error) *cobra.Command {
	var reason string
	command := changeCommand("account."+verb, &cobra.Command{
		Use: verb + " SUPPLIER EXTERNAL", Short: short, ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
	}, "import_supplier external_account_number", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return mark(operator, ctx, landfall.Key{Supplier: args[0], External: args[1]}, reason)
	}, "Account %[2]s of %[1]s is "+done+".")
	command.Flags().StringVar(&reason, "reason", "", reasonUsage)
	return command
}

// reasonUsage is the help text of every --reason flag.
const reasonUsage = "why; kept in the audit log, so do not include personal data"

// onAccount completes a command that changes one account and requires a reason.
func onAccount(command *cobra.Command, work func(*cobra.Command, *operate.Operator, landfall.Key, string) error) *cobra.Command {
	var reason string
	command.Args, command.ValidArgsFunction = checkArguments(cobra.ExactArgs(2)), completeArguments(supplierCodes, noCompletion)
	command = onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		return work(command, operator, landfall.Key{Supplier: args[0], External: args[1]}, reason)
	})
	command.Flags().StringVar(&reason, "reason", "", reasonUsage+" (required)")
	return command
}

// accountShow prints one account. accountview decides what may be shown, so both output formats
// show the same.
func accountShow() *cobra.Command {
	var options accountview.Options
	var whole bool
	command := onDatabase(&cobra.Command{
		Use: "show SUPPLIER EXTERNAL | ACCOUNT-NUMBER", Short: "Show an account with all its data and history",
		Args: checkArguments(cobra.RangeArgs(1, 2)), ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
		Long: "Show an account with all its data and history, by the supplier's external number\n" +
			"or by the platform account number. Without --personal and --document the output\n" +
			"contains no personal data and no free text.",
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
		// The document location is a server setting. Without it, only paths are printed. The
		// document store itself is not contacted.
		places, err := filestore.OpenLocations(settings.Documents)
		if err != nil {
			return usageError{err}
		}
		options.DocumentURL = func(path string) string { return places.Location(found.Supplier, path) }
		// operate and accountview have the same struct but do not import each other.
		shown := accountview.New(accountview.Facts(found), options)
		return printData(command, shown, func(out io.Writer) { printAccount(out, shown, whole) })
	})
	flags := command.Flags()
	flags.BoolVar(&options.Personal, "personal", false, "show names, addresses, supply points, documents, note texts and transactions as they were sent")
	flags.BoolVar(&options.Staged, "document", false, "print the staged data too, including personal data")
	flags.BoolVar(&whole, "all", false, "show the whole ledger, not only the latest entries")
	return command
}

// findAccount looks an account up by supplier and external number, or by account number alone.
func findAccount(ctx context.Context, operator *operate.Operator, args []string) (operate.AccountFacts, error) {
	// A single argument can only be an account number: external numbers are not unique across
	// suppliers.
	if len(args) == 1 {
		return operator.ShowAccountByNumber(ctx, args[0])
	}
	return operator.ShowAccount(ctx, landfall.Key{Supplier: args[0], External: args[1]})
}
