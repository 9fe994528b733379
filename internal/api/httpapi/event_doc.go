package httpapi

import (
	"encoding/json"
	"net/http"

	"landfall/internal/api/contract"
)

const tagEvents = "Events"

var eventsDoc = &operation{
	id: "events", tag: tagEvents, summary: "Read what happened",
	description: "Events of every supplier granted to the organisation, or of one, as CloudEvents 1.0 in the order of the log, which is " +
		"the order of commits for each account. Ask again with `next` as `after`: no event is ever skipped, whoever writes at the same " +
		"time, and a cursor is good on every replica and after every restart. With `wait` the answer comes as soon as there is an event, or " +
		"empty when the time is over.",
	query: []parameter{
		{name: "after", description: "`next` of an earlier answer; from the oldest event that is kept on without it.", schema: object{{"type", "string"}}},
		{name: "limit", description: "Most events to answer with.",
			schema: object{{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}, {"default", 100}}, example: 100},
		{name: "import_supplier_code", description: "Events of this supplier alone.", schema: object{{"type", "string"}}},
		{name: "wait", description: "Seconds to wait for an event when there is none.",
			schema: object{{"type", "integer"}, {"minimum", 0}, {"maximum", 60}, {"default", 0}}, example: 0},
	},
	responses: []response{
		{http.StatusOK, "A page of events; an empty one says that there is nothing new.", responseContent(contract.FeedBody), nil},
		{http.StatusBadRequest, "A query parameter is not what it should be, the cursor is of another history of the database " +
			"(`event_cursor_unknown`), or events behind it were kept long enough and are gone (`event_cursor_too_old`).", errorContent(exampleBadLimit), nil},
		{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
	},
}

var eventTypesDoc = &operation{
	id: "eventTypes", tag: tagEvents, summary: "The types of events",
	description: "Every type with the path of its JSON Schema. It needs no token.",
	responses:   []response{{http.StatusOK, "The types.", responseContent(contract.EventTypesBody), nil}},
}

var eventSchemaDoc = &operation{
	id: "eventSchema", tag: tagEvents, summary: "The JSON Schema of a type of event",
	description: "Describes the whole event, its data included. It needs no token.",
	responses: []response{
		{http.StatusOK, "The schema.", &content{schema: "JSONSchema", example: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`)}, nil},
		{http.StatusNotFound, "There is no event of this type.", errorContent(exampleNoRoute), nil},
	},
}
