package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/service/operate"
)

func webhookCommand() *cobra.Command {
	return commandGroup("webhook", "Manage webhooks that receive events", webhookAdd(), webhookList(), webhookShow(), webhookLog(),
		webhookTest(), webhookReplay(), webhookRotate(), webhookEnable(),
		webhookChange("disable", "Stop deliveries to a webhook until it is enabled", "Disabled webhook %s. Its events are kept.", (*operate.Operator).DisableWebhook),
		webhookChange("remove", "Remove a webhook and its undelivered events", "Removed webhook %s.", (*operate.Operator).RemoveWebhook))
}

func webhookAdd() *cobra.Command {
	var request operate.WebhookRequest
	command := onDatabase(&cobra.Command{
		Use: "add NAME ORGANISATION URL", Short: "Add a webhook and print its signing secret once",
		Args: checkArguments(cobra.ExactArgs(3)), ValidArgsFunction: completeArguments(noCompletion, organisationNames, prefixes("https://")),
		Example: "  landfall webhook add books Acme https://hooks.acme.example/landfall\n" +
			"  landfall webhook add done Acme https://hooks.acme.example/done --event account_import.completed --supplier NORTH",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		request.Name, request.Organisation, request.URL = args[0], args[1], args[2]
		// Nothing that can fail comes between creating the secret and printing it.
		webhook, secret, err := operator.AddWebhook(command.Context(), request)
		if err != nil {
			return err
		}
		return printSecret(command, secret, "Added webhook "+webhook.Name+" of \""+webhook.Organisation+"\". Its secret will not be shown again:",
			map[string]any{"name": webhook.Name, "organisation": webhook.Organisation, "url": webhook.URL, "secret": secret})
	})
	flags := command.Flags()
	flags.StringArrayVar(&request.Types, "event", nil, "type of event to deliver (default: all); can be repeated")
	flags.StringArrayVar(&request.Suppliers, "supplier", nil, "supplier whose events to deliver (default: all granted ones); can be repeated")
	flags.BoolVar(&request.FromStart, "from-start", false, "also deliver all past events")
	flags.BoolVar(&request.IncludeData, "include-data", false, "send the whole account with every event about a created account; the receiver gets personal data")
	completeFlag(command, "event", oneOf(eventTypes()...))
	completeFlag(command, "supplier", supplierCodes)
	return command
}

func webhookList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list [ORGANISATION]", Short: "List webhooks and their state", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(organisationNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.Webhooks(command.Context(), strings.Join(args, ""))
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, newWebhookEntry))
	})
}

// onWebhook completes a command about one webhook.
func onWebhook(command *cobra.Command, work func(*cobra.Command, *operate.Operator, string) error) *cobra.Command {
	command.Args, command.ValidArgsFunction = checkArguments(cobra.ExactArgs(1)), completeArguments(webhookNames)
	return onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		return work(command, operator, args[0])
	})
}

func webhookTest() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "test NAME", Short: "Send a test event and show the response",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		outcome, err := operator.TestWebhook(command.Context(), name)
		if err != nil {
			return err
		}
		// A script that sets up a webhook should stop here.
		if !outcome.Arrived() {
			return fmt.Errorf("the test event was not delivered: %s", outcome.Reason)
		}
		return printDone(command, map[string]any{"action": "webhook.test", "name": name, "status": outcome.Status, "milliseconds": outcome.Took.Milliseconds()},
			"Delivered the test event: status %d after %s.", outcome.Status, outcome.Took.Round(time.Millisecond))
	})
}

// webhookReplay retries dead deliveries, or delivers everything since a time again.
func webhookReplay() *cobra.Command {
	var events []string
	var since string
	command := onWebhook(&cobra.Command{
		Use: "replay NAME", Short: "Deliver dead deliveries again, or everything since a time",
		Example: "  landfall webhook replay books                                 all dead deliveries\n" +
			"  landfall webhook replay books --event 1042-hga1g4gfv4         one of them\n" +
			"  landfall webhook replay books --since 2026-03-01T00:00:00Z    everything since then",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		if since != "" {
			at, err := time.Parse(time.RFC3339, since)
			if err != nil || len(events) > 0 {
				return usageError{errors.New("--since: want a time such as 2026-03-01T00:00:00Z, without --event")}
			}
			purged, err := operator.ReplaySince(command.Context(), name, at)
			if err != nil {
				return err
			}
			note := ""
			if len(purged) > 0 {
				note = " Older events of " + strings.Join(purged, ", ") + " were purged and cannot be delivered."
			}
			return printDone(command, map[string]any{"action": "webhook.replay", "name": name, "since": since, "purged": purged},
				"Everything since %s will be delivered again. Receivers recognise duplicates by their event IDs.%s", since, note)
		}
		count, err := operator.ReplayDead(command.Context(), name, events)
		if err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "webhook.replay", "name": name, "deliveries": count},
			"%d dead deliveries will be retried.", count)
	})
	command.Flags().StringArrayVar(&events, "event", nil, "ID of an event with a dead delivery; can be repeated")
	command.Flags().StringVar(&since, "since", "", "deliver all events from this time on again")
	return command
}

// webhookRotate creates a new secret. Both are used for a while, so that the receiver can switch at
// any time.
func webhookRotate() *cobra.Command {
	var overlap string
	command := onWebhook(&cobra.Command{
		Use: "rotate NAME", Short: "Create a new signing secret and print it once",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		// Parsed before the secret is created.
		both, err := parseDurationFlag("overlap", overlap)
		if err != nil {
			return err
		}
		secret, err := operator.RotateWebhook(command.Context(), name, both)
		if err != nil {
			return err
		}
		return printSecret(command, secret, "Webhook "+name+" is signed with both secrets for "+overlap+". The new one will not be shown again:",
			map[string]any{"name": name, "secret": secret})
	})
	command.Flags().StringVar(&overlap, "overlap", "1d", "how long deliveries are also signed with the old secret")
	return command
}

// webhookEnable resumes deliveries where they stopped, unless --from-now is given.
func webhookEnable() *cobra.Command {
	var fromNow bool
	command := webhookChange("enable", "Enable a disabled webhook", "Enabled webhook %s.",
		func(operator *operate.Operator, ctx context.Context, name string) error {
			return operator.EnableWebhook(ctx, name, fromNow)
		})
	command.Flags().BoolVar(&fromNow, "from-now", false, "skip the events that occurred while it was disabled")
	return command
}

func webhookChange(verb, short, done string, change func(*operate.Operator, context.Context, string) error) *cobra.Command {
	return changeCommand("webhook."+verb, &cobra.Command{
		Use: verb + " NAME", Short: short, ValidArgsFunction: completeArguments(webhookNames),
	}, "name", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return change(operator, ctx, args[0])
	}, done)
}
