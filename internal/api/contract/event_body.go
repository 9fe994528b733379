package contract

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
)

// CloudEvent is an event as sent: CloudEvents 1.0 in structured JSON.
type CloudEvent struct {
	landfall.Event
	Source string // address of the service, or UnnamedSource and its instance
	// Account are the members of the data that carry the whole account, from
	// EventAccount; nil if it is not included.
	Account []byte
}

// EventAccount returns the members of an event's data that carry a whole account.
// A long account is not sent: the members say so and where to read it.
func EventAccount(account landfall.WholeAccount, base string) ([]byte, error) {
	if account.Lists.Lengths() == account.Lengths {
		whole, err := NewWholeAccount(account)
		if err != nil {
			return nil, err
		}
		if text := WholeAccountBody.Append([]byte(`"account":`), whole); len(text) <= limits.WebhookAccount {
			return text, nil
		}
	}
	address := base + "/v1/data-import/accounts/" + url.PathEscape(account.Key.Supplier) + "/" + url.PathEscape(account.Key.External) + "/"
	return rules.AppendString([]byte(`"account_too_large":true,"account_url":`), address), nil
}

// NoEventAccount returns the members about an account that no longer exists.
func NoEventAccount() []byte { return []byte(`"account":null`) }

// UnnamedSource begins the source of a service without a configured base URL. The
// name of the installation follows.
const UnnamedSource = "urn:landfall:"

// EventSource returns the source of events: the base URL, or without one the
// instance.
func EventSource(base, instance string) string {
	if base != "" {
		return base
	}
	return UnnamedSource + instance
}

// EventID identifies an event permanently: its position in the log and its time.
// With the time, a database restored from a backup does not reuse ids.
func EventID(event landfall.Event) string {
	return strconv.FormatInt(event.ID, 10) + "-" + strconv.FormatInt(event.At.UnixMicro(), 36)
}

// ParseEventID returns the log position of an EventID.
func ParseEventID(id string) (int64, bool) {
	place, at, found := strings.Cut(id, "-")
	number, err := strconv.ParseInt(place, 10, 64)
	_, timeErr := strconv.ParseInt(at, 36, 64)
	return number, found && err == nil && timeErr == nil && number > 0
}

// EventSchemas is the path under which the event schemas are served.
const EventSchemas = "/v1/data-import/event-schemas/"

// EventBody is an event on the wire.
var EventBody = &Body[CloudEvent]{
	name: "Event", doc: "An event in CloudEvents 1.0 format.",
	members: []bodyMember[CloudEvent]{
		stringMember("specversion", "", func(CloudEvent) string { return "1.0" }).withSchema(enumSchema("1.0")),
		stringMember("id", "Unique id. It stays the same when the event is delivered again, so use it to detect duplicates.",
			func(e CloudEvent) string { return EventID(e.Event) }),
		stringMember("source", "Address of the service. Without a configured base URL, `urn:landfall:` and a name that differs for every installation.", func(e CloudEvent) string { return e.Source }).
			withSchema(map[string]any{"type": "string", "format": "uri-reference"}),
		stringMember("type", "Type of the event.", func(e CloudEvent) string { return string(e.Type) }),
		stringMember("subject", "Subject of the event: `supplier/external_account_number`, or only the supplier. Supplier codes contain no slash.", CloudEvent.subject),
		timeMember("time", "When the event was committed.", func(e CloudEvent) time.Time { return e.At }),
		stringMember("datacontenttype", "", func(CloudEvent) string { return "application/json" }).withSchema(enumSchema("application/json")),
		stringMember("dataschema", "Address of the JSON Schema of this type, if the service has a configured base URL.", func(e CloudEvent) string {
			return e.Source + EventSchemas + string(e.Type) + "/"
		}).withSchema(map[string]any{"type": "string", "format": "uri"}).onlyIf(func(e CloudEvent) bool { return !strings.HasPrefix(e.Source, UnnamedSource) }),
		{
			name: "data", doc: "Event data, depending on the type. Ignore members you do not know; new ones may be added.", schema: anyObjectSchema,
			write: func(dst []byte, e CloudEvent) []byte { return e.appendData(dst) },
		},
	},
	example: eventKinds[0].Example(),
}

// subject identifies the account of an event, or only the supplier.
func (e CloudEvent) subject() string {
	if e.Key.External == "" {
		return e.Key.Supplier
	}
	return e.Key.Supplier + "/" + e.Key.External
}

// appendData writes the data of an event. Undeclared details come from a later
// version and are written as strings, so that nothing is dropped silently.
func (e CloudEvent) appendData(dst []byte) []byte {
	dst = rules.AppendString(rules.AppendName(append(dst, '{'), "import_supplier"), e.Key.Supplier)
	if e.Key.External != "" {
		dst = rules.AppendString(rules.AppendName(dst, "external_account_number"), e.Key.External)
	}
	if e.AccountNumber != "" {
		dst = rules.AppendString(rules.AppendName(dst, "platform_account_number"), e.AccountNumber)
	}
	kind := eventKind(e.Type)
	for _, name := range slices.Sorted(maps.Keys(e.Details)) {
		dst = appendDetail(rules.AppendName(dst, name), kind, name, e.Details[name])
	}
	if e.Account != nil {
		dst = append(append(dst, ','), e.Account...)
	}
	return append(dst, '}')
}

// appendDetail writes a detail as its declared type, or as a string if an old
// event does not match a newer declaration: the log is never rewritten.
func appendDetail(dst []byte, kind *EventKind, name, text string) []byte {
	if kind != nil {
		at := slices.IndexFunc(kind.members, func(member eventMember) bool { return member.name == name })
		if at >= 0 && kind.members[at].unquoted(text) {
			return append(dst, text...)
		}
	}
	return rules.AppendString(dst, text)
}

// unquoted reports whether a detail is a number or boolean and is written like
// one.
func (m eventMember) unquoted(text string) bool {
	switch m.schema["type"] {
	case "integer":
		number, err := strconv.ParseInt(text, 10, 64)
		return err == nil && strconv.FormatInt(number, 10) == text
	case "boolean":
		return text == "true" || text == "false"
	}
	return false
}

// FeedPage is a page of the feed and the cursor of the next one.
type FeedPage struct {
	Events   []CloudEvent
	Next     landfall.EventPosition
	Supplier string // whose events were asked for; "" means all
}

// FeedBody is a page of events.
var FeedBody = &Body[FeedPage]{
	name: "EventPage", doc: "A page of events in log order, and the cursor for the next page.",
	members: []bodyMember[FeedPage]{
		listMember("events", "Empty if there are no new events.", EventBody, func(p FeedPage) []CloudEvent { return p.Events }),
		stringMember("next", "Cursor for the next request; pass it as `after` with the same `import_supplier_code`. Always present.", func(p FeedPage) string { return EncodeEventCursor(p.Next, p.Supplier) }),
	},
	example: FeedPage{Events: []CloudEvent{exampleEvent}, Next: exampleEvent.Position()},
}

// exampleEvent is the first event after following the examples in order.
var exampleEvent = func() CloudEvent {
	event := eventKind(landfall.EventDryRunCompleted).Example()
	event.Details = nil
	return event
}()
