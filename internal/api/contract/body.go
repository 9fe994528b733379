package contract

import (
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// Body declares a response body, as a Table declares a request body: one
// declaration writes it, describes it and gives an example, so that the three
// always agree.
type Body[T any] struct {
	name    string
	doc     string
	open    bool // may have members that are not declared
	members []bodyMember[T]
	// write replaces writing the members one by one, for responses that repeat the
	// request; nil writes the members in order.
	write   func(dst []byte, value T) []byte
	example T
}

// bodyMember declares one member of a body made from a T.
type bodyMember[T any] struct {
	name    string
	doc     string
	schema  map[string]any
	write   func(dst []byte, value T) []byte // writes only the value
	present func(value T) bool               // nil: always present
}

// Append writes the body.
func (b *Body[T]) Append(dst []byte, value T) []byte {
	if b.write != nil {
		return b.write(dst, value)
	}
	dst = append(dst, '{')
	for i := range b.members {
		member := &b.members[i]
		if member.present == nil || member.present(value) {
			dst = member.write(rules.AppendName(dst, member.name), value)
		}
	}
	return append(dst, '}')
}

// Name returns the schema name.
func (b *Body[T]) Name() string { return b.name }

// Example returns the body for an example value.
func (b *Body[T]) Example() json.RawMessage { return b.Append(nil, b.example) }

// Schema describes the body as JSON Schema.
func (b *Body[T]) Schema() map[string]any {
	properties := make(map[string]any, len(b.members))
	required := []string{}
	for _, member := range b.members {
		properties[member.name] = withDescription(member.schema, member.doc)
		if member.present == nil {
			required = append(required, member.name)
		}
	}
	schema := map[string]any{
		"type": "object", "description": b.doc, "properties": properties, "additionalProperties": b.open,
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// withDescription returns a copy of a schema with a description. The schema may
// be shared.
func withDescription(schema map[string]any, doc string) map[string]any {
	if doc == "" {
		return schema
	}
	out := map[string]any{"description": doc}
	maps.Copy(out, schema)
	return out
}

// List is a body that is an array of other bodies.
type List[T any] struct {
	name  string
	items *Body[T]
	// examples are the example items; nil uses the example of the item.
	examples []T
}

// Append writes the whole list.
func (l *List[T]) Append(dst []byte, values []T) []byte {
	dst = append(dst, '[')
	for _, value := range values {
		dst = l.items.Append(rules.AppendComma(dst), value)
	}
	return append(dst, ']')
}

// Name returns the schema name.
func (l *List[T]) Name() string { return l.name }

// Example returns a short list.
func (l *List[T]) Example() json.RawMessage {
	if l.examples == nil {
		return l.Append(nil, []T{l.items.example})
	}
	return l.Append(nil, l.examples)
}

// Schema describes the list as JSON Schema.
func (l *List[T]) Schema() map[string]any { return arraySchema(schemaRef(l.items.name)) }

// The schemas that members are made of.
var (
	stringSchema         = map[string]any{"type": "string"}
	nullableStringSchema = map[string]any{"type": []string{"string", "null"}}
	timeSchema           = map[string]any{"type": "string", "format": "date-time"}
	nullableTimeSchema   = map[string]any{"type": []string{"string", "null"}, "format": "date-time"}
	integerSchema        = map[string]any{"type": "integer"}
	booleanSchema        = map[string]any{"type": "boolean"}
	// anyObjectSchema allows additional properties explicitly: code generators take
	// an object without properties for an empty one.
	anyObjectSchema = map[string]any{"type": "object", "additionalProperties": true}
)

// anyValueSchema lists every JSON type, because code generators do not support a
// schema with a list of types.
var anyValueSchema = map[string]any{"anyOf": []any{
	anyObjectSchema, arraySchema(map[string]any{}), stringSchema, map[string]any{"type": "number", "format": "double"}, booleanSchema,
	map[string]any{"type": "null"},
}}

// schemaRef refers to a schema of the OpenAPI document.
func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

func arraySchema(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

// enumSchema describes a string with a fixed set of values.
func enumSchema(choices ...string) map[string]any {
	return map[string]any{"type": "string", "enum": choices}
}

func stringMember[T any](name, doc string, get func(T) string) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: stringSchema, write: func(dst []byte, value T) []byte {
		return rules.AppendString(dst, get(value))
	}}
}

// nullableString is a member that is a string or null.
func nullableString[T any](name, doc string, get func(T) (string, bool)) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: nullableStringSchema, write: func(dst []byte, value T) []byte {
		if text, given := get(value); given {
			return rules.AppendString(dst, text)
		}
		return append(dst, "null"...)
	}}
}

// timeMember is a member that is an instant, or null if it is zero.
func timeMember[T any](name, doc string, get func(T) time.Time) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: timeSchema, write: func(dst []byte, value T) []byte {
		return appendInstant(dst, get(value))
	}}
}

func intMember[T any](name, doc string, get func(T) int) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: integerSchema, write: func(dst []byte, value T) []byte {
		return strconv.AppendInt(dst, int64(get(value)), 10)
	}}
}

func boolMember[T any](name, doc string, get func(T) bool) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: booleanSchema, write: func(dst []byte, value T) []byte {
		return strconv.AppendBool(dst, get(value))
	}}
}

// rawMember is a member whose JSON already exists.
func rawMember[T any](name, doc string, schema map[string]any, get func(T) []byte) bodyMember[T] {
	return bodyMember[T]{name: name, doc: doc, schema: schema, write: func(dst []byte, value T) []byte {
		return append(dst, get(value)...)
	}}
}

// listMember is a member that is a list of other bodies.
func listMember[T, Item any](name, doc string, items *Body[Item], get func(T) []Item) bodyMember[T] {
	list := List[Item]{items: items}
	return bodyMember[T]{name: name, doc: doc, schema: arraySchema(schemaRef(items.name)), write: func(dst []byte, value T) []byte {
		return list.Append(dst, get(value))
	}}
}

// onlyIf leaves a member out unless the condition holds.
func (m bodyMember[T]) onlyIf(given func(T) bool) bodyMember[T] {
	m.present = given
	return m
}

// withSchema replaces the schema of a member.
func (m bodyMember[T]) withSchema(schema map[string]any) bodyMember[T] {
	m.schema = schema
	return m
}

// appendInstant writes an instant, or null if it is zero.
func appendInstant(dst []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(dst, "null"...)
	}
	return append(calendar.AppendInstant(append(dst, '"'), at), '"')
}
