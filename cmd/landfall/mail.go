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

func mailCommand() *cobra.Command {
	return commandGroup("mail", "Manage e-mails that tell customers about their new account",
		mailList(), mailShow(), mailPreview(), mailTest(), mailRetry(), mailWithdraw(), mailBounced())
}

// mailHeading is used by the list and by the account that a mail belongs to.
var mailHeading = []string{"MAIL", "SUPPLIER", "EXTERNAL", "TO", "STATE", "QUEUED", "SETTLED", "NEXT", "ATTEMPTS", "REPLY"}

// mailRow is a mail as a row of a table.
func mailRow(mail accountview.Mail) []string {
	return []string{strconv.FormatInt(mail.ID, 10), mail.Supplier, mail.External, mail.To, mail.State,
		string(mail.QueuedAt), string(mail.SettledAt), string(mail.DueAt), strconv.Itoa(mail.Attempts), mail.Reply}
}

func mailStates() completer {
	var all []string
	for _, state := range landfall.MailStates {
		all = append(all, string(state))
	}
	return oneOf(all...)
}

// personalMailUsage is the help text of the --personal flags of mail commands.
const personalMailUsage = "show addresses and the mail server's replies"

// mailList lists mails up to a limit.
func mailList() *cobra.Command {
	var query landfall.MailQuery
	var state string
	var personal bool
	command := onDatabase(&cobra.Command{
		Use: "list [SUPPLIER]", Short: "List mails, oldest first", Args: checkArguments(cobra.MaximumNArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Example: "  landfall mail list --state refused\n  landfall mail list NORTH --state queued",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if len(args) == 1 {
			query.Supplier = args[0]
		}
		// A limit of 0 would list nothing, as if there were no mails.
		if query.State = landfall.MailState(state); query.Limit < 1 {
			return usageError{errors.New("--limit: want 1 or more")}
		}
		shown := []accountview.Mail{}
		err := operator.Mails(command.Context(), query, func(found landfall.MailRecord) error {
			shown = append(shown, accountview.NewMail(found, personal))
			return nil
		})
		if err != nil {
			return err
		}
		return printData(command, shown, func(out io.Writer) {
			printTable(out, mailHeading, rowsOf(shown, mailRow))
			// There may be more; to find out would take a second query.
			if len(shown) == query.Limit {
				fmt.Fprintf(out, "\nThere may be more; continue with --after %d\n", shown[len(shown)-1].ID)
			}
		})
	})
	flags := command.Flags()
	flags.StringVar(&state, "state", "", "only mails in this state: queued, sending, sent, refused, withdrawn or bounced")
	flags.IntVar(&query.Limit, "limit", 100, "maximum number of mails")
	flags.Int64Var(&query.After, "after", 0, "start after the mail with this number")
	flags.BoolVar(&personal, "personal", false, personalMailUsage)
	completeFlag(command, "state", mailStates())
	return command
}

// mailShow finds a mail by number or by Message-ID.
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

// mailRetry retries single mails, or all mails of a supplier in one state.
func mailRetry() *cobra.Command {
	var supplier, state string
	command := onDatabase(&cobra.Command{
		Use: "retry [MAIL…]", Short: "Send refused, bounced or withdrawn mails again", ValidArgsFunction: completeArguments(noCompletion),
		Example: "  landfall mail retry 17\n  landfall mail retry --supplier NORTH --state refused",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		count, err := eachMail(args, supplier, func(name string) error {
			_, err := operator.RetryMail(command.Context(), name)
			return err
		}, func() (int, error) {
			return operator.RetryMails(command.Context(), supplier, landfall.MailState(state))
		})
		if err != nil {
			return err
		}
		return printMailCount(command, "mail.retry", count, "queued again")
	})
	command.Flags().StringVar(&supplier, "supplier", "", "retry all mails of this supplier in the state of --state")
	command.Flags().StringVar(&state, "state", string(landfall.MailRefused), "refused, bounced or withdrawn; with --supplier")
	completeFlag(command, "supplier", supplierCodes)
	completeFlag(command, "state", oneOf("refused", "bounced", "withdrawn"))
	return command
}

// eachMail handles the named mails, or all mails of a supplier. Exactly one of the two must be given.
// It stops at the first error; the mails before it stay handled.
func eachMail(names []string, supplier string, one func(string) error, all func() (int, error)) (int, error) {
	if (supplier == "") == (len(names) == 0) {
		return 0, usageError{errors.New("name mails, or use --supplier for all mails of one supplier")}
	}
	if supplier != "" {
		return all()
	}
	for _, name := range names {
		if err := one(name); err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

// mailWithdraw withdraws single mails, or all waiting mails of a supplier.
func mailWithdraw() *cobra.Command {
	var supplier, reason string
	command := onDatabase(&cobra.Command{
		Use: "withdraw [MAIL…]", Short: "Stop waiting mails from being sent", ValidArgsFunction: completeArguments(noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		count, err := eachMail(args, supplier, func(name string) error {
			_, err := operator.WithdrawMail(command.Context(), name, reason)
			return err
		}, func() (int, error) { return operator.WithdrawMails(command.Context(), supplier, reason) })
		if err != nil {
			return err
		}
		return printMailCount(command, "mail.withdraw", count, "withdrawn")
	})
	command.Flags().StringVar(&supplier, "supplier", "", "withdraw all waiting mails of this supplier")
	command.Flags().StringVar(&reason, "reason", "", reasonUsage)
	completeFlag(command, "supplier", supplierCodes)
	return command
}

// mailBounced records bounces found in the sender's mailbox, which name the Message-ID.
func mailBounced() *cobra.Command {
	var reason string
	command := onDatabase(&cobra.Command{
		Use: "bounced MAIL…", Short: "Record that mails bounced, by number or Message-ID", Args: checkArguments(cobra.MinimumNArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
		Example: "  landfall mail bounced '<17.a-7k3m9q2b@example.com>' --reason 'no such mailbox'",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		for _, name := range args {
			if _, err := operator.BouncedMail(command.Context(), name, reason); err != nil {
				return err
			}
		}
		return printMailCount(command, "mail.bounced", len(args), "recorded as bounced")
	})
	command.Flags().StringVar(&reason, "reason", "", reasonUsage)
	return command
}

// printMailCount prints how many mails were changed.
func printMailCount(command *cobra.Command, action string, count int, done string) error {
	noun := "mails"
	if count == 1 {
		noun = "mail"
	}
	return printDone(command, map[string]any{"action": action, "mails": count}, "%d %s %s.", count, noun, done)
}
