package contract

import (
	"encoding/json"
	"slices"

	"landfall"
)

// Schema describes a whole event of this type as JSON Schema.
func (k EventKind) Schema() map[string]any {
	data := map[string]any{"import_supplier": withDescription(stringSchema, "Code of the import supplier.")}
	required := []string{"import_supplier"}
	if k.account {
		data["external_account_number"] = withDescription(stringSchema, "Account number in the source system.")
		required = append(required, "external_account_number")
	}
	if k.number {
		data["platform_account_number"] = withDescription(stringSchema, "Number of the account on the platform.")
		required = append(required, "platform_account_number")
		data["account"] = map[string]any{
			"type": []string{"object", "null"}, "description": "The whole account as it is when the event is delivered, as `GET /v1/data-import/accounts/<supplier>/<external account number>/` " +
				"returns it. Null if it no longer exists. Only for webhooks that include it.",
		}
		data["account_too_large"] = withDescription(booleanSchema, "True if the account is too large for an event. Then `account_url` says where to read it.")
		data["account_url"] = withDescription(stringSchema, "Address of the account, if it is too large.")
	}
	for _, member := range k.members {
		data[member.name] = withDescription(member.schema, member.doc)
		if member.always {
			required = append(required, member.name)
		}
	}
	slices.Sort(required)
	schema := EventBody.Schema()
	properties, _ := schema["properties"].(map[string]any)
	properties["type"] = map[string]any{"const": string(k.Type)}
	properties["data"] = map[string]any{"type": "object", "properties": data, "required": required, "additionalProperties": true}
	schema["$schema"], schema["$id"] = "https://json-schema.org/draft/2020-12/schema", "urn:landfall:event:"+string(k.Type)
	schema["title"], schema["description"] = string(k.Type), k.Doc
	// CloudEvents allows intermediaries to add attributes.
	schema["additionalProperties"] = true
	return schema
}

// EventSchema returns the JSON Schema of a type. It reports false for an unknown
// type.
func EventSchema(of string) ([]byte, bool) {
	kind := eventKind(landfall.EventType(of))
	if kind == nil {
		return nil, false
	}
	text, err := json.MarshalIndent(kind.Schema(), "", "  ")
	if err != nil {
		panic("contract: a schema cannot be written: " + err.Error())
	}
	return append(text, '\n'), true
}

// EventTypesBody lists the event types.
var EventTypesBody = &List[EventKind]{name: "EventTypeList", items: eventTypeBody, examples: eventKinds[:1]}

var eventTypeBody = &Body[EventKind]{
	name: "EventType", doc: "An event type.",
	members: []bodyMember[EventKind]{
		stringMember("type", "", func(k EventKind) string { return string(k.Type) }),
		stringMember("description", "", func(k EventKind) string { return k.Doc }),
		stringMember("schema", "Path of its JSON Schema.", func(k EventKind) string { return EventSchemas + string(k.Type) + "/" }),
	},
	example: eventKinds[0],
}
