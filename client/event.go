package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// Event is something that happened, as CloudEvents 1.0 has it.
type Event struct {
	ID      string          `json:"id"` // the same however often it is told
	Source  string          `json:"source"`
	Type    string          `json:"type"`    // such as account_import.completed
	Subject string          `json:"subject"` // supplier/external, or the supplier alone
	Time    time.Time       `json:"time"`
	Data    json.RawMessage `json:"data"`
}

// EventQuery says which events are wanted.
type EventQuery struct {
	After    string        // the cursor of an earlier page; "" begins at the beginning
	Limit    int           // 0 leaves it to the server
	Supplier string        // "" for all that are granted
	Wait     time.Duration // for as long an empty page waits for an event; a minute at most
}

// EventPage is some events, and where to go on behind them.
type EventPage struct {
	Events []Event `json:"events"`
	Next   string  `json:"next"` // keep it together with what was made of the events
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
	if seconds := int(query.Wait.Seconds()); seconds > 0 {
		values.Set("wait", strconv.Itoa(seconds))
	}
	var page EventPage
	err := c.get(ctx, apiPath("events"), values, &page)
	return page, err
}

// Follow reads the feed from page to page, and waits for more where it ends; it
// comes to an end only with its context. Pages and not events are given, because
// a cursor is good between pages: keep Next once the events of a page are dealt
// with, and begin behind it the next time.
func (c *Client) Follow(ctx context.Context, query EventQuery) iter.Seq2[EventPage, error] {
	if query.Wait == 0 {
		query.Wait = 30 * time.Second
	}
	return func(yield func(EventPage, error) bool) {
		for {
			page, err := c.Events(ctx, query)
			if err != nil {
				yield(EventPage{}, err)
				return
			}
			query.After = page.Next
			if len(page.Events) > 0 && !yield(page, nil) {
				return
			}
		}
	}
}

// EventType is a type of events.
type EventType struct {
	Type        string `json:"type"`
	Description string `json:"description"`
	Schema      string `json:"schema"` // where its JSON Schema is
}

// EventTypes lists every type of events there is.
func (c *Client) EventTypes(ctx context.Context) ([]EventType, error) {
	var list []EventType
	err := c.get(ctx, apiPath("event-schemas"), nil, &list)
	return list, err
}

// EventSchema gives the JSON Schema of a type of events.
func (c *Client) EventSchema(ctx context.Context, kind string) (json.RawMessage, error) {
	var schema json.RawMessage
	err := c.get(ctx, apiPath("event-schemas", kind), nil, &schema)
	return schema, err
}
