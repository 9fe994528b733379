package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// webhookEntry is a webhook in lists and JSON, without its secrets.
type webhookEntry struct {
	Name         string   `json:"name" table:"NAME"`
	Organisation string   `json:"organisation" table:"ORGANISATION"`
	State        string   `json:"state" table:"STATE"`
	URL          string   `json:"url" table:"URL"`
	Filter       string   `json:"-" table:"ONLY"` // suppliers and events
	Events       []string `json:"events"`         // empty: all
	Suppliers    []string `json:"suppliers"`      // empty: all granted
	IncludeData  bool     `json:"include_data"`
	Position     int64    `json:"position"`
	Delivered    int64    `json:"delivered" table:"DELIVERED"`
	DeliveredAt  *string  `json:"delivered_at" table:"LAST"`
	FailingAt    *string  `json:"failing_since" table:"FAILING SINCE"`
	Attempts     int      `json:"failed_rounds"`
	DueAt        *string  `json:"not_before"`
	SecretUntil  *string  `json:"former_secret_until"`
	CreatedAt    *string  `json:"created_at"`
}

func newWebhookEntry(webhook landfall.Webhook) webhookEntry {
	entry := webhookEntry{
		Name: webhook.Name, Organisation: webhook.Organisation, State: string(webhook.State), URL: webhook.URL,
		Events:    rowsOf(webhook.Types, func(kind landfall.EventType) string { return string(kind) }),
		Suppliers: append([]string{}, webhook.Suppliers...), IncludeData: webhook.IncludeData, Position: webhook.Position, Delivered: webhook.Delivered,
		DeliveredAt: timeOrNull(webhook.DeliveredAt), FailingAt: timeOrNull(webhook.FailingAt), Attempts: webhook.Attempts,
		DueAt: timeOrNull(webhook.DueAt), CreatedAt: timeOrNull(webhook.CreatedAt),
	}
	entry.Filter = strings.Join(slices.Concat(entry.Suppliers, entry.Events), " ")
	// The old secret matters only while it is valid.
	if len(webhook.Secrets) > 1 && webhook.Secrets[1].Until.After(time.Now()) {
		entry.SecretUntil = timeOrNull(webhook.Secrets[1].Until)
	}
	return entry
}

// deliveryEntry is a waiting or dead delivery.
type deliveryEntry struct {
	Event    string  `json:"event" table:"EVENT"`
	Type     string  `json:"type" table:"TYPE"`
	Subject  string  `json:"subject" table:"SUBJECT"`
	State    string  `json:"state"`
	Attempts int     `json:"attempts" table:"ATTEMPTS"`
	FirstAt  *string `json:"first_at"`
	DueAt    *string `json:"due_at" table:"NEXT"`
	Status   int     `json:"status"`
	Reason   string  `json:"reason" table:"REASON"`
}

func newDeliveryEntry(d landfall.Delivery) deliveryEntry {
	// Events about a supplier have no account.
	subject := strings.TrimSuffix(d.Event.Key.Supplier+"/"+d.Event.Key.External, "/")
	return deliveryEntry{contract.EventID(d.Event), string(d.Event.Type), subject, string(d.State), d.Attempts,
		timeOrNull(d.FirstAt), timeOrNull(d.DueAt), d.Status, d.Reason}
}

// webhookShow prints a webhook with its waiting and dead deliveries.
func webhookShow() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "show NAME", Short: "Show a webhook with its waiting and dead deliveries",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		facts, err := operator.ShowWebhook(command.Context(), name)
		if err != nil {
			return err
		}
		data := struct {
			webhookEntry
			WaitingCount int             `json:"waiting_count"`
			Undelivered  int             `json:"undelivered_count"`
			Waiting      []deliveryEntry `json:"waiting"`
			DeadCount    int             `json:"dead_count"`
			Dead         []deliveryEntry `json:"dead"`
		}{newWebhookEntry(facts.Webhook), facts.WaitingCount(), facts.Undelivered, rowsOf(facts.Waiting, newDeliveryEntry), facts.DeadCount, rowsOf(facts.Dead, newDeliveryEntry)}
		return printData(command, data, func(out io.Writer) {
			fmt.Fprintf(out, "%s of %q: %s\n", escapeText(facts.Name), escapeText(facts.Organisation), facts.State)
			fmt.Fprintf(out, "  url        %s\n", escapeText(facts.URL))
			if facts.IncludeData {
				fmt.Fprintln(out, "  data       whole accounts")
			}
			if data.Filter != "" {
				fmt.Fprintf(out, "  only       %s\n", escapeText(data.Filter))
			}
			fmt.Fprintf(out, "  delivered  %d\n", facts.Delivered)
			if !facts.FailingAt.IsZero() {
				fmt.Fprintf(out, "  failing    since %s, next attempt %s\n", formatTime(facts.FailingAt), formatTime(facts.DueAt))
			}
			if facts.Undelivered > 0 {
				fmt.Fprintf(out, "  not sent   %d\n", facts.Undelivered)
			}
			printDeliveries(out, "retrying", facts.RetryCount, data.Waiting)
			printDeliveries(out, "dead", facts.DeadCount, data.Dead)
		})
	})
}

// printDeliveries prints the number of deliveries, and the first of them.
func printDeliveries(out io.Writer, label string, count int, entries []deliveryEntry) {
	fmt.Fprintf(out, "  %-10s %d\n", label, count)
	if len(entries) > 0 {
		printColumns(out, entries)
	}
}

// webhookLog prints the latest delivery rounds.
func webhookLog() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "log NAME", Short: "Show the latest deliveries to a webhook, newest first",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		facts, err := operator.ShowWebhook(command.Context(), name)
		if err != nil {
			return err
		}
		type entry struct {
			At           *string       `json:"at" table:"AT"`
			Delivered    int           `json:"delivered" table:"DELIVERED"`
			Failed       int           `json:"failed" table:"FAILED"`
			Dead         int           `json:"dead" table:"DEAD"`
			Status       int           `json:"status" table:"STATUS"`
			Took         time.Duration `json:"-" table:"TOOK"`
			Reason       string        `json:"reason" table:"REASON"`
			Milliseconds int64         `json:"milliseconds"`
		}
		return printList(command, rowsOf(facts.Rounds, func(round landfall.RoundEntry) entry {
			return entry{timeOrNull(round.At), round.Delivered, round.Failed, round.Dead, round.Status,
				round.Took.Round(time.Millisecond), round.Reason, round.Took.Milliseconds()}
		}))
	})
}

// eventTypes are the values of an event filter.
func eventTypes() []string {
	var all []string
	for _, kind := range contract.EventKinds() {
		all = append(all, string(kind.Type))
	}
	return all
}
