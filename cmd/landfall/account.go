package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/document"
	"landfall/internal/operate"
)

func accountCommand() *cobra.Command {
	return group("account", "Account import processes and the accounts they became",
		accountShow(), accountFailed(), accountErrors(),
		accountMark("skip", "Mark an account so that it is neither staged nor created", "marked as skipped", (*operate.Operator).Skip),
		accountMark("unskip", "Take the mark away", "not marked any more", (*operate.Operator).Unskip))
}

func accountMark(verb, short, done string, mark func(*operate.Operator, context.Context, landfall.Key, string) error) *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: verb + " SUPPLIER EXTERNAL", Short: short, Args: usage(cobra.ExactArgs(2)),
	}, func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		key := landfall.Key{Supplier: arguments[0], External: arguments[1]}
		if err := mark(operator, command.Context(), key, reason); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Account %s of %s is %s.\n", clean(key.External), clean(key.Supplier), done)
		return nil
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good")
	return command
}

// account is what is known about one account, and how much of it to show.
type account struct {
	operate.AccountFacts
	places   *document.Store // says where documents are
	document bool            // the staged data too
	personal bool            // people, addresses and texts too
	all      bool            // the whole ledger
}

func accountShow() *cobra.Command {
	shown := account{}
	command := onDatabase(listing(&cobra.Command{
		Use: "show SUPPLIER EXTERNAL | ACCOUNT-NUMBER", Short: "Show an account with everything on it and its history",
		Args: usage(cobra.RangeArgs(1, 2)),
		Long: "Show an account with everything on it and its history, by the supplier's\n" +
			"number or by ours. Without --personal and --document nothing is shown that\n" +
			"says who the customers are or what people wrote.",
		Example: "  landfall account show NORTH 1001\n  landfall account show A-7K3M9Q2B --personal",
	}), func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		if shown.places, err = document.Place(settings.Documents); err != nil {
			return usageError{err}
		}
		if len(arguments) == 1 {
			shown.AccountFacts, err = operator.ShowAccountByNumber(command.Context(), arguments[0])
		} else {
			shown.AccountFacts, err = operator.ShowAccount(command.Context(), landfall.Key{Supplier: arguments[0], External: arguments[1]})
		}
		if err != nil {
			return err
		}
		return show(command, shown.entry(), func(out io.Writer) { shown.print(out) })
	})
	flags := command.Flags()
	flags.BoolVar(&shown.personal, "personal", false, "show people, addresses, notes' texts and transactions as sent")
	flags.BoolVar(&shown.document, "document", false, "print the staged data too, personal data and all")
	flags.BoolVar(&shown.all, "all", false, "show the whole ledger and not its last entries")
	return command
}
