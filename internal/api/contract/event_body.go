package contract

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// CloudEvent is an event as it leaves the service: CloudEvents 1.0, structured
// JSON.
type CloudEvent struct {
	landfall.Event
	Source string // where the service is, or UnnamedSource
}

// UnnamedSource stands for a service whose address nobody has set.
const UnnamedSource = "urn:landfall"

// EventID names an event for ever: its place in the log, and its time, so that
// a database that was put back to an earlier state names nothing else the same.
func EventID(event landfall.Event) string {
	return strconv.FormatInt(event.ID, 10) + "-" + strconv.FormatInt(event.At.UnixMicro(), 36)
}

// ParseEventID gives the place in the log an EventID names.
func ParseEventID(id string) (int64, bool) {
	place, at, found := strings.Cut(id, "-")
	number, err := strconv.ParseInt(place, 10, 64)
	_, timeErr := strconv.ParseInt(at, 36, 64)
	return number, found && err == nil && timeErr == nil && number > 0
}

// EventSchemas is where the running program serves the schemas of events.
const EventSchemas = "/v1/data-import/event-schemas/"

// EventBody is an event on the wire.
var EventBody = &Body[CloudEvent]{
	name: "Event", doc: "An event as CloudEvents 1.0 has it.",
	members: []member[CloudEvent]{
		stringMember("specversion", "", func(CloudEvent) string { return "1.0" }).withSchema(enumSchema("1.0")),
		stringMember("id", "The same however often the event is delivered: by it repetitions are recognised.",
			func(e CloudEvent) string { return EventID(e.Event) }),
		stringMember("source", "Where the service is found.", func(e CloudEvent) string { return e.Source }).
			withSchema(map[string]any{"type": "string", "format": "uri-reference"}),
		stringMember("type", "What happened.", func(e CloudEvent) string { return string(e.Type) }),
		stringMember("subject", "What it happened to: `supplier/external`, or the supplier alone. Supplier codes have no slash.", CloudEvent.subject),
		timeMember("time", "When it was committed.", func(e CloudEvent) time.Time { return e.At }),
		stringMember("datacontenttype", "", func(CloudEvent) string { return "application/json" }).withSchema(enumSchema("application/json")),
		stringMember("dataschema", "Where the type's JSON Schema is, if the service knows its own address.", func(e CloudEvent) string {
			return e.Source + EventSchemas + string(e.Type) + "/"
		}).withSchema(map[string]any{"type": "string", "format": "uri"}).onlyIf(func(e CloudEvent) bool { return e.Source != UnnamedSource }),
		{
			name: "data", doc: "What is to be told, by type. Members may be added: ignore those you do not know.", schema: anyObjectSchema,
			write: func(dst []byte, e CloudEvent) []byte { return e.appendData(dst) },
		},
	},
	example: eventKinds[0].Example(),
}

// subject names the account an event is about, or the supplier where it is
// about all.
func (e CloudEvent) subject() string {
	if e.Key.External == "" {
		return e.Key.Supplier
	}
	return e.Key.Supplier + "/" + e.Key.External
}

// appendData writes what an event tells. Details nobody declared leave as texts:
// they are a later version's, and nothing is dropped in silence.
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
	return append(dst, '}')
}

// appendDetail writes a detail as what its type declares, and as text where
// an old event does not fit a newer declaration: the log is never rewritten.
func appendDetail(dst []byte, kind *EventKind, name, text string) []byte {
	if kind != nil {
		at := slices.IndexFunc(kind.members, func(member eventMember) bool { return member.name == name })
		if at >= 0 && kind.members[at].unquoted(text) {
			return append(dst, text...)
		}
	}
	return rules.AppendString(dst, text)
}

// unquoted says that a detail is a number or a flag and is written like one.
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

// FeedPage is a part of the feed and where the next one begins.
type FeedPage struct {
	Events []CloudEvent
	Next   landfall.EventPosition
}

// FeedBody answers a question for events.
var FeedBody = &Body[FeedPage]{
	name: "EventPage", doc: "Events in the order of the log, and where to go on.",
	members: []member[FeedPage]{
		listMember("events", "Empty when there is nothing new.", EventBody, func(p FeedPage) []CloudEvent { return p.Events }),
		stringMember("next", "Ask with it as `after` the next time. It is always there.", func(p FeedPage) string { return EncodeEventCursor(p.Next) }),
	},
	example: FeedPage{Events: []CloudEvent{exampleEvent}, Next: exampleEvent.Position()},
}

// exampleEvent is the first that happens to somebody who tries things in their
// order.
var exampleEvent = func() CloudEvent {
	event := eventKind(landfall.EventDryRunCompleted).Example()
	event.Details = nil
	return event
}()
