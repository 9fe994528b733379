package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/outbound/mail"
	"landfall/internal/service/operate"
)

// previewSettings are what a letter is written with.
var previewSettings = []string{"mail-templates", "mail-from", "mail-reply-to"}

// sampleAccount is the account that does not exist.
const sampleAccount = "sample"

// mailPreview shows a letter as a customer would get it. All templates are
// checked on the way, as they are when a server starts.
func mailPreview() *cobra.Command {
	var language, account string
	var html, whole, personal bool
	command := onDatabase(&cobra.Command{
		Use: "preview SUPPLIER", Short: "Show what customers of a supplier are told, and check all templates", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
		Example: "  landfall mail preview NORTH --mail-templates ./templates --language cy\n" +
			"  landfall mail preview NORTH --html >preview.html",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// All templates are read here, also those that this letter does not need.
		composer, err := settings.Mail.Composer()
		if err != nil {
			return usageError{err}
		}
		// The templates are good; now it is about the account.
		outgoing, err := previewMail(command.Context(), operator, args[0], account, language, personal)
		if err != nil {
			return err
		}
		written, err := composer.Compose(outgoing)
		if err != nil {
			return err
		}
		data := map[string]string{"subject": written.Subject, "language": written.Language, "text": written.Text, "html": written.HTML, "message_id": written.ID}
		return printData(command, data, func(out io.Writer) {
			// The whole message and the HTML are printed as they are, since they are meant for a
			// file; only the text is for a terminal and cleaned.
			switch {
			case whole:
				_, _ = out.Write(written.Raw) // show flushes, and tells
			case html:
				_, _ = io.WriteString(out, written.HTML)
			default:
				fmt.Fprintf(out, "Subject: %s\n\n", escapeText(written.Subject))
				for line := range strings.Lines(written.Text) {
					fmt.Fprintln(out, escapeText(strings.TrimRight(line, "\r\n")))
				}
			}
		})
	}, previewSettings...)
	flags := command.Flags()
	flags.StringVar(&language, "language", "", "BCP 47 tag a customer might prefer (default the account's, or English)")
	flags.StringVar(&account, "account", sampleAccount, "EXTERNAL number of an imported account, or sample")
	flags.BoolVar(&html, "html", false, "print the HTML part")
	flags.BoolVar(&whole, "message", false, "print the whole message as mail servers get it")
	flags.BoolVar(&personal, "personal", false, "greet the account's customers by their names")
	return command
}

// previewMail is the mail to show: a made-up one, or that of a real account, whose
// customers are named only when asked for.
func previewMail(ctx context.Context, operator *operate.Operator, supplier, account, language string, personal bool) (landfall.OutgoingMail, error) {
	found, err := operator.ShowSupplier(ctx, supplier)
	if err != nil {
		return landfall.OutgoingMail{}, err
	}
	outgoing := mail.Sample(found.Supplier)
	outgoing.Language = language
	if account == sampleAccount {
		return outgoing, nil
	}
	facts, err := operator.ShowAccount(ctx, landfall.Key{Supplier: supplier, External: account})
	if err != nil {
		return landfall.OutgoingMail{}, err
	}
	// An account that is only staged has no number to tell anybody of.
	if facts.Account == nil {
		return landfall.OutgoingMail{}, landfall.Refuse(landfall.CodeAccountNotFound,
			fmt.Sprintf("Account %s of %s was not imported yet, so there is nothing to tell its customers.", account, supplier))
	}
	outgoing.Key, outgoing.AccountNumber, outgoing.CreatedAt = facts.Process.Key, facts.Account.Number, facts.Account.CreatedAt
	// Without names the letter greets as it greets those whose names we do not have.
	outgoing.Customers = nil
	if personal {
		// The first customer alone, as a mail goes to one person.
		outgoing.Customers = facts.Account.Data.Customers[:min(1, len(facts.Account.Data.Customers))]
	}
	if len(facts.Mails) > 0 {
		outgoing.ID, outgoing.QueuedAt = facts.Mails[0].ID, facts.Mails[0].QueuedAt
		if language == "" {
			outgoing.Language = facts.Mails[0].Language
		}
	}
	return outgoing, nil
}

// mailTest sends the made-up letter to the operator: the one way to see that
// the mail server takes what we send.
func mailTest() *cobra.Command {
	var language string
	command := onDatabase(&cobra.Command{
		Use: "test SUPPLIER ADDRESS", Short: "Send a made-up letter to yourself through the configured mail server", Args: checkArguments(cobra.ExactArgs(2)),
		ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Servers send, not this program; but only their settings show that they can.
		if settings.Mail.Server == "" {
			return usageError{errors.New("no mail server is configured here: give the settings of the servers (smtp-server, mail-from, …)")}
		}
		outgoing, err := previewMail(command.Context(), operator, args[0], sampleAccount, language, false)
		if err != nil {
			return err
		}
		outgoing.To = args[1]
		// Sent from here and not by a server: it shows what the mail server says, at once.
		reply, err := settings.Mail.Send(command.Context(), outgoing)
		if err != nil {
			return unreachableError{fmt.Errorf("mail server %s: %w", settings.Mail.Server, err)}
		}
		return printDone(command, map[string]string{"action": "mail.test", "reply": reply}, "The mail server took it: %s", reply)
	}, append([]string{
		"smtp-server", "smtp-tls", "smtp-ca-file", "smtp-user", "smtp-password-file", "smtp-timeout",
	}, previewSettings...)...)
	command.Flags().StringVar(&language, "language", "", "BCP 47 tag of the template to use")
	return command
}
