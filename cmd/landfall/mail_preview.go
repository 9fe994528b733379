package main

import (
	"cmp"
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

// previewSettings are the settings that a mail is rendered with.
var previewSettings = []string{"mail-templates", "mail-from", "mail-reply-to"}

// sampleAccount stands for an invented account.
const sampleAccount = "sample"

// mailPreview prints a mail as a customer would get it. It checks all templates, as a starting
// server does.
func mailPreview() *cobra.Command {
	var language, account string
	var html, whole, personal bool
	command := onDatabase(&cobra.Command{
		Use: "preview SUPPLIER", Short: "Show the mail that a supplier's customers get, and check all templates", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
		Example: "  landfall mail preview NORTH --mail-templates ./templates --language cy\n" +
			"  landfall mail preview NORTH --html >preview.html",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Reads all templates, also those that this mail does not need.
		composer, err := settings.Mail.Composer()
		if err != nil {
			return usageError{err}
		}
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
			// The message and the HTML are meant for files and printed as they are; only the text
			// is escaped.
			switch {
			case whole:
				_, _ = out.Write(written.Raw) // printData returns the error
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
	flags.StringVar(&language, "language", "", "BCP 47 tag of the language (default: the account's, or English)")
	flags.StringVar(&account, "account", sampleAccount, "EXTERNAL number of an imported account, or sample")
	flags.BoolVar(&html, "html", false, "print the HTML part")
	flags.BoolVar(&whole, "message", false, "print the whole message as it is sent")
	flags.BoolVar(&personal, "personal", false, "use the names of the account's customers")
	return command
}

// previewMail returns the mail to preview: an invented one, or that of a real account.
func previewMail(ctx context.Context, operator *operate.Operator, supplier, account, language string, personal bool) (landfall.OutgoingMail, error) {
	found, err := operator.ShowSupplier(ctx, supplier)
	if err != nil {
		return landfall.OutgoingMail{}, err
	}
	outgoing := mail.Sample(found.Supplier)
	if account != sampleAccount {
		if outgoing, err = operator.PreviewMail(ctx, outgoing, account, personal); err != nil {
			return landfall.OutgoingMail{}, err
		}
	}
	outgoing.Language = cmp.Or(language, outgoing.Language)
	return outgoing, nil
}

// mailTest sends a sample mail through the configured mail server.
func mailTest() *cobra.Command {
	var language string
	command := onDatabase(&cobra.Command{
		Use: "test SUPPLIER ADDRESS", Short: "Send a sample mail to yourself through the configured mail server", Args: checkArguments(cobra.ExactArgs(2)),
		ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		settings, err := loadSettings(command)
		if err != nil {
			return err
		}
		// Servers send mails, not this program, so it needs their settings.
		if settings.Mail.Server == "" {
			return usageError{errors.New("no mail server is configured; pass the server's settings (smtp-server, mail-from, …)")}
		}
		outgoing, err := previewMail(command.Context(), operator, args[0], sampleAccount, language, false)
		if err != nil {
			return err
		}
		outgoing.To = args[1]
		// Sent from here and not by a server, to show the reply at once.
		reply, err := settings.Mail.Send(command.Context(), outgoing)
		if err != nil {
			return unreachableError{fmt.Errorf("mail server %s: %w", settings.Mail.Server, err)}
		}
		return printDone(command, map[string]string{"action": "mail.test", "reply": reply}, "The mail server accepted the mail: %s", reply)
	}, append([]string{
		"smtp-server", "smtp-tls", "smtp-ca-file", "smtp-user", "smtp-password-file", "smtp-timeout",
	}, previewSettings...)...)
	command.Flags().StringVar(&language, "language", "", "BCP 47 tag of the template to use")
	return command
}
