package httpapi

import (
	"encoding/json"
	"net/http"

	"landfall/internal/api/contract"
)

const tagEvents = "Events"

var eventsDoc = &operationDoc{
	id: "events", tag: tagEvents, summary: "Read events",
	description: "Events of all suppliers granted to your organisation, or of one of them, in CloudEvents 1.0 format and in log order, which is " +
		"the commit order for each account. Pass `next` as `after` in your next request: no event is ever skipped, even with concurrent " +
		"writes, and a cursor is valid on every replica and after a restart. With `wait`, the response is sent as soon as there is an event, or " +
		"empty when the time is up.",
	query: []parameter{
		{name: "after", description: "`next` from an earlier response with the same `import_supplier_code`. Without it, reading starts at the oldest event.", schema: object{{"type", "string"}}},
		{name: "limit", description: "Maximum number of events.",
			schema: object{{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}, {"default", 100}}, example: 100},
		{name: "import_supplier_code", description: "Only events of this supplier. A cursor belongs to the filter it was given for.", schema: object{{"type", "string"}}},
		{name: "include_data", description: "Every event about a created account has the whole account as `data.account`, as it is now. Needs a key of the role `reader`. " +
			"A page with long accounts has fewer events.", schema: object{{"type", "boolean"}, {"default", false}}},
		{name: "wait", description: "Seconds to wait for an event if there is none.",
			schema: object{{"type", "integer"}, {"minimum", 0}, {"maximum", 60}, {"default", 0}}, example: 0},
	},
	responses: []responseDoc{
		{http.StatusOK, "A page of events. It is empty if there are no new events.", responseContent(contract.FeedBody), nil},
		{http.StatusBadRequest, "A query parameter is invalid, the cursor was given for another filter (`invalid_cursor`), it is unknown because the database was restored " +
			"(`event_cursor_unknown`), or events after the cursor have already been deleted (`event_cursor_too_old`).", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
	},
}

var eventTypesDoc = &operationDoc{
	id: "eventTypes", tag: tagEvents, summary: "List event types",
	description: "Every event type with the path of its JSON Schema. No token is required.",
	responses:   []responseDoc{{http.StatusOK, "The event types.", responseContent(contract.EventTypesBody), nil}},
}

var eventSchemaDoc = &operationDoc{
	id: "eventSchema", tag: tagEvents, summary: "Get the JSON Schema of an event type",
	description: "Describes the whole event, including its data. No token is required.",
	responses: []responseDoc{
		{http.StatusOK, "The schema.", &mediaContent{schema: "JSONSchema", example: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`)}, nil},
		{http.StatusNotFound, "The event type does not exist.", errorContent(exampleNoRoute), nil},
	},
}
