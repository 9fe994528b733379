package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// webhookEntry is a webhook for machines, without its secrets.
type webhookEntry struct {
	Name         string   `json:"name"`
	Organisation string   `json:"organisation"`
	State        string   `json:"state"`
	URL          string   `json:"url"`
	Events       []string `json:"events"`    // empty: all
	Suppliers    []string `json:"suppliers"` // empty: all granted
	Position     int64    `json:"position"`
	Delivered    int64    `json:"delivered"`
	DeliveredAt  *string  `json:"delivered_at"`
	FailingAt    *string  `json:"failing_since"`
	Attempts     int      `json:"failed_rounds"`
	DueAt        *string  `json:"not_before"`
	SecretUntil  *string  `json:"former_secret_until"`
	CreatedAt    *string  `json:"created_at"`
}

// newWebhookEntry leaves the secrets out: they are shown once, when they are
// made.
func newWebhookEntry(webhook landfall.Webhook) webhookEntry {
	entry := webhookEntry{
		Name: webhook.Name, Organisation: webhook.Organisation, State: string(webhook.State), URL: webhook.URL, Events: []string{},
		Suppliers: append([]string{}, webhook.Suppliers...), Position: webhook.Position, Delivered: webhook.Delivered,
		DeliveredAt: timeOrNull(webhook.DeliveredAt), FailingAt: timeOrNull(webhook.FailingAt), Attempts: webhook.Attempts,
		DueAt: timeOrNull(webhook.DueAt), CreatedAt: timeOrNull(webhook.CreatedAt),
	}
	for _, kind := range webhook.Types {
		entry.Events = append(entry.Events, string(kind))
	}
	// A former secret is told only while it is still good; afterwards it matters to nobody.
	if len(webhook.Secrets) > 1 && webhook.Secrets[1].Until.After(time.Now()) {
		entry.SecretUntil = timeOrNull(webhook.Secrets[1].Until)
	}
	return entry
}

// narrowed says what goes to the webhook when not everything does.
func (e webhookEntry) narrowed() string {
	return strings.Join(append(append([]string{}, e.Suppliers...), e.Events...), " ")
}

// deliveryEntry is a delivery that waits or was given up.
type deliveryEntry struct {
	Event    string  `json:"event"`
	Type     string  `json:"type"`
	Subject  string  `json:"subject"`
	State    string  `json:"state"`
	Attempts int     `json:"attempts"`
	FirstAt  *string `json:"first_at"`
	DueAt    *string `json:"due_at"`
	Status   int     `json:"status"`
	Reason   string  `json:"reason"`
}

// deliveryEntries lists deliveries without what they carry.
func deliveryEntries(deliveries []landfall.Delivery) []deliveryEntry {
	entries := []deliveryEntry{}
	for _, d := range deliveries {
		// Events about a supplier as a whole have no account, and then no slash at the end.
		subject := strings.TrimSuffix(d.Event.Key.Supplier+"/"+d.Event.Key.External, "/")
		entries = append(entries, deliveryEntry{contract.EventID(d.Event), string(d.Event.Type), subject, string(d.State), d.Attempts,
			timeOrNull(d.FirstAt), timeOrNull(d.DueAt), d.Status, d.Reason})
	}
	return entries
}

// webhookShow tells everything about one: settings, what waits, what is dead.
func webhookShow() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "show NAME", Short: "Show a webhook, what waits for it and what was given up",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		facts, err := operator.ShowWebhook(command.Context(), name)
		if err != nil {
			return err
		}
		data := struct {
			webhookEntry
			WaitingCount int             `json:"waiting_count"`
			Waiting      []deliveryEntry `json:"waiting"`
			DeadCount    int             `json:"dead_count"`
			Dead         []deliveryEntry `json:"dead"`
		}{newWebhookEntry(facts.Webhook), facts.WaitingCount, deliveryEntries(facts.Waiting), facts.DeadCount, deliveryEntries(facts.Dead)}
		return printData(command, data, func(out io.Writer) {
			fmt.Fprintf(out, "%s of %q: %s\n", escapeText(facts.Name), escapeText(facts.Organisation), facts.State)
			fmt.Fprintf(out, "  url        %s\n", escapeText(facts.URL))
			if only := data.narrowed(); only != "" {
				fmt.Fprintf(out, "  only       %s\n", escapeText(only))
			}
			fmt.Fprintf(out, "  delivered  %d\n", facts.Delivered)
			// Since when it fails is told only while it does.
			if !facts.FailingAt.IsZero() {
				fmt.Fprintf(out, "  failing    since %s, next attempt %s\n", formatTime(facts.FailingAt), formatTime(facts.DueAt))
			}
			printDeliveries(out, "waiting", facts.WaitingCount, data.Waiting)
			printDeliveries(out, "dead", facts.DeadCount, data.Dead)
		})
	})
}

// printDeliveries prints how many there are, and the first of them.
func printDeliveries(out io.Writer, what string, count int, entries []deliveryEntry) {
	fmt.Fprintf(out, "  %-10s %d\n", what, count)
	if len(entries) == 0 {
		return
	}
	rows := [][]string{}
	for _, entry := range entries {
		due := ""
		if entry.DueAt != nil {
			due = *entry.DueAt
		}
		rows = append(rows, []string{entry.Event, entry.Type, entry.Subject, strconv.Itoa(entry.Attempts), due, entry.Reason})
	}
	printTable(out, []string{"EVENT", "TYPE", "SUBJECT", "ATTEMPTS", "NEXT", "REASON"}, rows)
}

// webhookLog shows the last rounds of deliveries.
func webhookLog() *cobra.Command {
	return onWebhook(&cobra.Command{
		Use: "log NAME", Short: "Show the last deliveries to a webhook, newest first",
	}, func(command *cobra.Command, operator *operate.Operator, name string) error {
		facts, err := operator.ShowWebhook(command.Context(), name)
		if err != nil {
			return err
		}
		type entry struct {
			At           *string `json:"at"`
			Delivered    int     `json:"delivered"`
			Failed       int     `json:"failed"`
			Dead         int     `json:"dead"`
			Status       int     `json:"status"`
			Reason       string  `json:"reason"`
			Milliseconds int64   `json:"milliseconds"`
		}
		entries, rows := []entry{}, [][]string{}
		for _, round := range facts.Rounds {
			entries = append(entries, entry{timeOrNull(round.At), round.Delivered, round.Failed, round.Dead, round.Status, round.Reason, round.Took.Milliseconds()})
			rows = append(rows, []string{formatTime(round.At), strconv.Itoa(round.Delivered), strconv.Itoa(round.Failed), strconv.Itoa(round.Dead),
				strconv.Itoa(round.Status), round.Took.Round(time.Millisecond).String(), round.Reason})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"AT", "DELIVERED", "FAILED", "DEAD", "STATUS", "TOOK", "REASON"}, rows)
		})
	})
}

// eventTypes are the words an event filter takes.
func eventTypes() []string {
	var all []string
	for _, kind := range contract.EventKinds() {
		all = append(all, string(kind.Type))
	}
	return all
}
