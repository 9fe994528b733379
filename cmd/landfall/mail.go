package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// mailCommand holds what an operator asks and decides about e-mails to customers.
func mailCommand() *cobra.Command {
	return commandGroup("mail", "E-mails that tell customers of their new account",
		mailList(), mailShow(), mailPreview(), mailTest(), mailRetry(), mailWithdraw(), mailBounced())
}

// mailHeading is shared by the list and by the account that a mail belongs to.
var mailHeading = []string{"MAIL", "SUPPLIER", "EXTERNAL", "TO", "STATE", "QUEUED", "SETTLED", "NEXT", "ATTEMPTS", "REPLY"}

// mailRow is a mail as a line of a table.
func mailRow(mail accountview.Mail) []string {
	return []string{strconv.FormatInt(mail.ID, 10), mail.Supplier, mail.External, mail.To, mail.State,
		string(mail.QueuedAt), string(mail.SettledAt), string(mail.DueAt), strconv.Itoa(mail.Attempts), mail.Reply}
}

// mailStates completes the states of mails.
func mailStates() completer {
	var all []string
	for _, state := range landfall.MailStates {
		all = append(all, string(state))
	}
	return oneOf(all...)
}

// personalMailUsage belongs to several commands that mean the same.
const personalMailUsage = "show addresses and the mail server's own words"

// mailList streams nothing: whoever wants more than a screen says how many.
func mailList() *cobra.Command {
	var query landfall.MailQuery
	var state string
	var personal bool
	command := onDatabase(&cobra.Command{
		Use: "list [SUPPLIER]", Short: "List mails, the oldest first", Args: checkArguments(cobra.MaximumNArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Example: "  landfall mail list --state refused\n  landfall mail list NORTH --state queued",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if len(args) == 1 {
			query.Supplier = args[0]
		}
		// A limit of 0 would list nothing and look as if there were nothing.
		if query.State = landfall.MailState(state); query.Limit < 1 {
			return usageError{errors.New("--limit: want 1 or more")}
		}
		shown, rows := []accountview.Mail{}, [][]string{}
		err := operator.Mails(command.Context(), query, func(found landfall.MailRecord) error {
			mail := accountview.NewMail(found, personal)
			shown, rows = append(shown, mail), append(rows, mailRow(mail))
			return nil
		})
		if err != nil {
			return err
		}
		return printData(command, shown, func(out io.Writer) {
			printTable(out, mailHeading, rows)
			// As many as were asked for may be all there are; only the database knows, and to ask
			// it would cost a second query.
			if len(rows) == query.Limit {
				fmt.Fprintf(out, "\nThere may be more: go on with --after %d\n", shown[len(shown)-1].ID)
			}
		})
	})
	flags := command.Flags()
	flags.StringVar(&state, "state", "", "only those that are queued, sending, sent, refused, withdrawn or bounced")
	flags.IntVar(&query.Limit, "limit", 100, "how many at most")
	flags.Int64Var(&query.After, "after", 0, "begin behind the mail with this number")
	flags.BoolVar(&personal, "personal", false, personalMailUsage)
	completeFlag(command, "state", mailStates())
	return command
}

// mailShow finds a mail also by the Message-ID a customer's provider quotes.
func mailShow() *cobra.Command {
	var personal bool
	command := onDatabase(&cobra.Command{
		Use: "show MAIL", Short: "Show one mail, by its number or Message-ID", Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.ShowMail(command.Context(), args[0])
		if err != nil {
			return err
		}
		mail := accountview.NewMail(found, personal)
		return printData(command, mail, func(out io.Writer) {
			printFields(out, "mail", strconv.FormatInt(mail.ID, 10), "supplier", mail.Supplier, "external number", mail.External,
				"account", found.AccountNumber, "kind", mail.Kind, "to", mail.To, "language", mail.Language, "state", mail.State,
				"queued", string(mail.QueuedAt), "settled", string(mail.SettledAt), "next attempt", string(mail.DueAt),
				"attempts", strconv.Itoa(mail.Attempts), "may have been read", yesNo(mail.MayHaveBeenRead), "reply", mail.Reply)
		})
	})
	command.Flags().BoolVar(&personal, "personal", false, personalMailUsage)
	return command
}

// mailRetry takes one mail, or all of a supplier that came to the same end.
func mailRetry() *cobra.Command {
	var supplier, state string
	command := onDatabase(&cobra.Command{
		Use: "retry [MAIL…]", Short: "Send mails that were refused, bounced or withdrawn again", ValidArgsFunction: completeArguments(noCompletion),
		Example: "  landfall mail retry 17\n  landfall mail retry --supplier NORTH --state refused",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Exactly one of the two: to name mails and a supplier could mean either, and both would
		// be many more than were meant.
		if (supplier == "") == (len(args) == 0) {
			return usageError{errors.New("name mails, or all of one supplier with --supplier")}
		}
		count := len(args)
		// One after the other, and the first that cannot be is told; those before it are done.
		for _, name := range args {
			if _, err := operator.RetryMail(command.Context(), name); err != nil {
				return err
			}
		}
		if supplier != "" {
			var err error
			if count, err = operator.RetryMails(command.Context(), supplier, landfall.MailState(state)); err != nil {
				return err
			}
		}
		return printMailCount(command, "mail.retry", count, "sent again")
	})
	command.Flags().StringVar(&supplier, "supplier", "", "all mails of this supplier in a state")
	command.Flags().StringVar(&state, "state", string(landfall.MailRefused), "that state: refused, bounced or withdrawn")
	completeFlag(command, "supplier", supplierCodes)
	completeFlag(command, "state", oneOf("refused", "bounced", "withdrawn"))
	return command
}

// mailWithdraw takes either mails or a whole supplier's: a slip of the finger
// must not do both.
func mailWithdraw() *cobra.Command {
	var supplier, reason string
	command := onDatabase(&cobra.Command{
		Use: "withdraw [MAIL…]", Short: "Keep mails that wait from being sent", ValidArgsFunction: completeArguments(noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if (supplier == "") == (len(args) == 0) {
			return usageError{errors.New("name mails, or all that wait of one supplier with --supplier")}
		}
		count := len(args)
		for _, name := range args {
			if _, err := operator.WithdrawMail(command.Context(), name, reason); err != nil {
				return err
			}
		}
		if supplier != "" {
			var err error
			if count, err = operator.WithdrawMails(command.Context(), supplier, reason); err != nil {
				return err
			}
		}
		return printMailCount(command, "mail.withdraw", count, "withdrawn")
	})
	command.Flags().StringVar(&supplier, "supplier", "", "all mails of this supplier that wait")
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good")
	completeFlag(command, "supplier", supplierCodes)
	return command
}

// mailBounced is for whoever reads the sender's mailbox, a person or a program:
// what comes back names the Message-ID.
func mailBounced() *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: "bounced MAIL…", Short: "Note that mails came back, by number or Message-ID", Args: checkArguments(cobra.MinimumNArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
		Example: "  landfall mail bounced '<17.a-7k3m9q2b@example.com>' --reason 'no such mailbox'",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		for _, name := range args {
			if _, err := operator.BouncedMail(command.Context(), name, reason); err != nil {
				return err
			}
		}
		return printMailCount(command, "mail.bounced", len(args), "noted as bounced")
	})
	command.Flags().StringVar(&reason, "reason", "", "why; no personal data, it is kept for good")
	return command
}

// printMailCount says how many were changed.
func printMailCount(command *cobra.Command, action string, count int, done string) error {
	noun := "mails"
	if count == 1 {
		noun = "mail"
	}
	return printDone(command, map[string]any{"action": action, "mails": count}, "%d %s %s.", count, noun, done)
}
