package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// Event is an event in the format of CloudEvents 1.0.
type Event struct {
	ID      string          `json:"id"` // the same for every delivery
	Source  string          `json:"source"`
	Type    string          `json:"type"`    // such as account_import.completed
	Subject string          `json:"subject"` // supplier/external, or the supplier alone
	Time    time.Time       `json:"time"`
	Data    json.RawMessage `json:"data"`
}

// EventQuery selects events.
type EventQuery struct {
	After    string        // the cursor of an earlier page with the same Supplier; "" starts at the beginning
	Limit    int           // 0 means the server's default
	Supplier string        // "" means all granted ones
	Wait     time.Duration // how long to wait for an event if there is none; at most a minute
	// IncludeData asks for the whole account in the data of every event about a created one. It needs
	// a key of the role reader.
	IncludeData bool
}

// EventPage is a page of events and the cursor of the next page.
type EventPage struct {
	Events []Event `json:"events"`
	Next   string  `json:"next"` // store it together with the processed events
}

// Events reads a page of the feed.
func (c *Client) Events(ctx context.Context, query EventQuery) (EventPage, error) {
	values := url.Values{}
	for name, text := range map[string]string{"after": query.After, "import_supplier_code": query.Supplier} {
		if text != "" {
			values.Set(name, text)
		}
	}
	if query.Limit > 0 {
		values.Set("limit", strconv.Itoa(query.Limit))
	}
	if query.IncludeData {
		values.Set("include_data", "true")
	}
	if seconds := int(query.Wait.Seconds()); seconds > 0 {
		values.Set("wait", strconv.Itoa(seconds))
	}
	var events EventPage
	err := c.get(ctx, apiPath("events"), values, &events)
	return events, err
}

// Follow reads the feed page by page and waits for new events at its end. It ends only with its
// context. It yields pages and not events, because cursors are between pages: store Next once the
// events of a page are processed.
func (c *Client) Follow(ctx context.Context, query EventQuery) iter.Seq2[EventPage, error] {
	if query.Wait == 0 {
		query.Wait = 30 * time.Second
	}
	return func(yield func(EventPage, error) bool) {
		for {
			events, err := c.Events(ctx, query)
			if err != nil {
				yield(EventPage{}, err)
				return
			}
			query.After = events.Next
			if len(events.Events) > 0 && !yield(events, nil) {
				return
			}
		}
	}
}

// EventType is a type of event.
type EventType struct {
	Type        string `json:"type"`
	Description string `json:"description"`
	Schema      string `json:"schema"` // URL of its JSON Schema
}

// EventTypes lists all types of events.
func (c *Client) EventTypes(ctx context.Context) ([]EventType, error) {
	var list []EventType
	err := c.get(ctx, apiPath("event-schemas"), nil, &list)
	return list, err
}

// EventSchema returns the JSON Schema of an event type.
func (c *Client) EventSchema(ctx context.Context, kind string) (json.RawMessage, error) {
	var schema json.RawMessage
	err := c.get(ctx, apiPath("event-schemas", kind), nil, &schema)
	return schema, err
}
