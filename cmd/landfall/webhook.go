package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/service/operate"
)

// webhookCommand holds where events are delivered to, and what became of them.
func webhookCommand() *cobra.Command {
	return commandGroup("webhook", "Addresses that events are delivered to", webhookAdd(), webhookList(), webhookShow(), webhookLog(),
		webhookTest(), webhookReplay(), webhookRotate(), webhookEnable(), webhookDisable(), webhookRemove())
}

// webhookAdd makes a webhook. What it is called, whose it is and where it leads
// are arguments; what goes there is narrowed by flags.
func webhookAdd() *cobra.Command {
	var request operate.WebhookRequest
	command := onDatabase(&cobra.Command{
		Use: "add NAME ORGANISATION URL", Short: "Deliver events to an address and print the secret they are signed with, this once",
		Args: checkArguments(cobra.ExactArgs(3)), ValidArgsFunction: completeArguments(noCompletion, organisationNames, prefixes("https://")),
		Example: "  landfall webhook add books Acme https://hooks.acme.example/landfall\n" +
			"  landfall webhook add done Acme https://hooks.acme.example/done --event account_import.completed --supplier NORTH",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		request.Name, request.Organisation, request.URL = args[0], args[1], args[2]
		// The secret is shown nowhere else, so nothing that may fail stands between this and
		// printing it.
		webhook, secret, err := operator.AddWebhook(command.Context(), request)
		if err != nil {
			return err
		}
		return printSecret(command, secret, "Webhook "+webhook.Name+" of \""+webhook.Organisation+"\" added. Its secret is shown only now:",
			map[string]any{"name": webhook.Name, "organisation": webhook.Organisation, "url": webhook.URL, "secret": secret})
	})
	flags := command.Flags()
	flags.StringArrayVar(&request.Types, "event", nil, "type of event to deliver, all without it; may be given several times")
	flags.StringArrayVar(&request.Suppliers, "supplier", nil, "supplier whose events to deliver, all granted ones without it; may be given several times")
	flags.BoolVar(&request.FromStart, "from-start", false, "deliver everything that happened so far as well")
	completeFlag(command, "event", oneOf(eventTypes()...))
	completeFlag(command, "supplier", supplierCodes)
	return command
}

// printSecret prints a secret alone on standard output, so that it can be
// piped into a safe place.
func printSecret(command *cobra.Command, secret, sentence string, data map[string]any) error {
	if !jsonWanted(command) {
		fmt.Fprintln(command.ErrOrStderr(), escapeText(sentence))
	}
	return printDone(command, data, "%s", secret)
}

// webhookList shows at a glance which receivers are in trouble.
func webhookList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list [ORGANISATION]", Short: "List webhooks and how they are doing", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		organisation := ""
		if len(args) == 1 {
			organisation = args[0]
		}
		webhooks, err := operator.Webhooks(command.Context(), organisation)
		if err != nil {
			return err
		}
		entries, rows := []webhookEntry{}, [][]string{}
		for _, webhook := range webhooks {
			entry := newWebhookEntry(webhook)
			entries = append(entries, entry)
			rows = append(rows, []string{entry.Name, entry.Organisation, entry.State, entry.URL, entry.narrowed(), strconv.FormatInt(entry.Delivered, 10),
				formatTime(webhook.DeliveredAt), formatTime(webhook.FailingAt)})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"NAME", "ORGANISATION", "STATE", "URL", "ONLY", "DELIVERED", "LAST", "FAILING SINCE"}, rows)
		})
	})
}

// onWebhook completes a command about one webhook that changes it.
func onWebhook(command *cobra.Command, work func(*cobra.Command, *operate.Operator, string) error) *cobra.Command {
	command.Args, command.ValidArgsFunction = checkArguments(cobra.ExactArgs(1)), completeArguments(webhookNames)
	return onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		return work(command, operator, args[0])
	})
}

// webhookTest shows what a receiver says before anything depends on it.
func webhookTest() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "test NAME", Short: "Send a test event from here and show the answer",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		outcome, err := operator.TestWebhook(command.Context(), name)
		if err != nil {
			return err
		}
		// An answer that is no success is a failure of the command: a script that sets a webhook
		// up stops there.
		if !outcome.Arrived() {
			return fmt.Errorf("the test event did not arrive: %s", outcome.Reason)
		}
		return printDone(command, map[string]any{"action": "webhook.test", "name": name, "status": outcome.Status, "milliseconds": outcome.Took.Milliseconds()},
			"The test event arrived: status %d after %s.", outcome.Status, outcome.Took.Round(time.Millisecond))
	})
}

// webhookReplay has dead deliveries tried again, or everything since an instant.
func webhookReplay() *cobra.Command {
	var events []string
	var since string
	command := onWebhook(&cobra.Command{
		Use: "replay NAME", Short: "Deliver again what was given up, or everything since a time",
		Example: "  landfall webhook replay books                                 all that was given up\n" +
			"  landfall webhook replay books --event 1042-hga1g4gfv4         one of them\n" +
			"  landfall webhook replay books --since 2026-03-01T00:00:00Z    everything from then on, again",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		if since != "" {
			at, err := time.Parse(time.RFC3339, since)
			// Everything since a time has single events in it already.
			if err != nil || len(events) > 0 {
				return usageError{errors.New("--since: want a time such as 2026-03-01T00:00:00Z, and no --event beside it")}
			}
			purged, err := operator.ReplaySince(command.Context(), name, at)
			if err != nil {
				return err
			}
			but := ""
			if len(purged) > 0 {
				but = " Older events of " + strings.Join(purged, ", ") + " were purged and do not come again."
			}
			return printDone(command, map[string]any{"action": "webhook.replay", "name": name, "since": since, "purged": purged},
				"Everything since %s is delivered again; receivers know repetitions by their ids.%s", since, but)
		}
		count, err := operator.ReplayDead(command.Context(), name, events)
		if err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "webhook.replay", "name": name, "deliveries": count},
			"%d deliveries that were given up are tried again.", count)
	})
	command.Flags().StringArrayVar(&events, "event", nil, "id of an event that was given up; may be given several times")
	command.Flags().StringVar(&since, "since", "", "deliver everything again that happened at this time or later")
	return command
}

// webhookRotate lets two secrets overlap, so that a receiver changes over when
// it likes.
func webhookRotate() *cobra.Command {
	var overlap string
	command := onWebhook(&cobra.Command{
		Use: "rotate NAME", Short: "Make a new secret and print it, this once",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		// Read before the secret is made: a slip must not leave deliveries signed with one that
		// nobody has seen.
		both, err := parseDurationFlag("overlap", overlap)
		if err != nil {
			return err
		}
		secret, err := operator.RotateWebhook(command.Context(), name, both)
		if err != nil {
			return err
		}
		return printSecret(command, secret, "Webhook "+name+" is signed with both secrets for "+overlap+". The new one is shown only now:",
			map[string]any{"name": name, "secret": secret})
	})
	command.Flags().StringVar(&overlap, "overlap", "1d", "how long deliveries are signed with the former secret as well")
	return command
}

// webhookEnable goes on where deliveries stopped, unless told otherwise.
func webhookEnable() *cobra.Command {
	var fromNow bool
	command := onWebhook(&cobra.Command{
		Use: "enable NAME", Short: "Deliver again to a webhook that was switched off",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		if err := operator.EnableWebhook(command.Context(), name, fromNow); err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "webhook.enable", "name": name}, "Webhook %s is delivered to again.", name)
	})
	command.Flags().BoolVar(&fromNow, "from-now", false, "leave out what happened while it was off")
	return command
}

// webhookDisable keeps everything for later.
func webhookDisable() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "disable NAME", Short: "Deliver nothing to a webhook until it is enabled",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		if err := operator.DisableWebhook(command.Context(), name); err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "webhook.disable", "name": name}, "Webhook %s is switched off; what happens is kept for it.", name)
	})
}

// webhookRemove forgets what was not delivered, too.
func webhookRemove() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "remove NAME", Short: "Forget a webhook and what was not delivered to it",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		if err := operator.RemoveWebhook(command.Context(), name); err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "webhook.remove", "name": name}, "Webhook %s removed.", name)
	})
}
