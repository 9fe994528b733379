package contract

import (
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// Body declares a body that goes out, as a Table declares one that comes in:
// the same declaration writes it, describes it and shows an example of it, so
// that none of the three can say what the others do not.
type Body[T any] struct {
	name    string
	doc     string
	open    bool // may have members that are not declared
	members []member[T]
	// write replaces the members' own writing where an answer repeats what was
	// sent; nil writes the members in their order.
	write   func(dst []byte, value T) []byte
	example T
}

// member declares one member of a body made from a T.
type member[T any] struct {
	name    string
	doc     string
	schema  map[string]any
	write   func(dst []byte, value T) []byte // the value alone
	present func(value T) bool               // nil: always there
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

// Name is what the API description calls the body.
func (b *Body[T]) Name() string { return b.name }

// Example is the body for a made-up value, written like every other.
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

// withDescription adds a sentence to a schema, which others may share.
func withDescription(schema map[string]any, doc string) map[string]any {
	if doc == "" {
		return schema
	}
	out := map[string]any{"description": doc}
	maps.Copy(out, schema)
	return out
}

// List is a body that is an array of others.
type List[T any] struct {
	name  string
	items *Body[T]
	// examples are the made-up items; the items' own example when there are none.
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

// Name is what the API description calls the list.
func (l *List[T]) Name() string { return l.name }

// Example is a short list.
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
	integerSchema        = map[string]any{"type": "integer"}
	booleanSchema        = map[string]any{"type": "boolean"}
	// anyObjectSchema says so explicitly: generators take an object without a word
	// about its members for one that has none.
	anyObjectSchema = map[string]any{"type": "object", "additionalProperties": true}
)

// anyValueSchema says one by one what any JSON may be, since generators do not
// take a list of types for a schema without one.
var anyValueSchema = map[string]any{"anyOf": []any{
	anyObjectSchema, arraySchema(map[string]any{}), stringSchema, map[string]any{"type": "number", "format": "double"}, booleanSchema,
	map[string]any{"type": "null"},
}}

// schemaRef points at a schema of the API description.
func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// arraySchema is a list in a schema.
func arraySchema(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

// enumSchema is a text of which every value is known.
func enumSchema(choices ...string) map[string]any {
	return map[string]any{"type": "string", "enum": choices}
}

// stringMember is a member that is a text.
func stringMember[T any](name, doc string, get func(T) string) member[T] {
	return member[T]{name: name, doc: doc, schema: stringSchema, write: func(dst []byte, value T) []byte {
		return rules.AppendString(dst, get(value))
	}}
}

// nullableString is a member that is a text, or null when there is none.
func nullableString[T any](name, doc string, get func(T) (string, bool)) member[T] {
	return member[T]{name: name, doc: doc, schema: nullableStringSchema, write: func(dst []byte, value T) []byte {
		if text, given := get(value); given {
			return rules.AppendString(dst, text)
		}
		return append(dst, "null"...)
	}}
}

// timeMember is a member that is an instant, null when it is none.
func timeMember[T any](name, doc string, get func(T) time.Time) member[T] {
	return member[T]{name: name, doc: doc, schema: timeSchema, write: func(dst []byte, value T) []byte {
		return appendInstant(dst, get(value))
	}}
}

// intMember is a member that is a whole number.
func intMember[T any](name, doc string, get func(T) int) member[T] {
	return member[T]{name: name, doc: doc, schema: integerSchema, write: func(dst []byte, value T) []byte {
		return strconv.AppendInt(dst, int64(get(value)), 10)
	}}
}

// boolMember is a member that is true or false.
func boolMember[T any](name, doc string, get func(T) bool) member[T] {
	return member[T]{name: name, doc: doc, schema: booleanSchema, write: func(dst []byte, value T) []byte {
		return strconv.AppendBool(dst, get(value))
	}}
}

// rawMember is a member that is JSON written before.
func rawMember[T any](name, doc string, schema map[string]any, get func(T) []byte) member[T] {
	return member[T]{name: name, doc: doc, schema: schema, write: func(dst []byte, value T) []byte {
		return append(dst, get(value)...)
	}}
}

// listMember is a member that is a list of other bodies.
func listMember[T, Item any](name, doc string, items *Body[Item], get func(T) []Item) member[T] {
	list := List[Item]{items: items}
	return member[T]{name: name, doc: doc, schema: arraySchema(schemaRef(items.name)), write: func(dst []byte, value T) []byte {
		return list.Append(dst, get(value))
	}}
}

// onlyIf leaves a member out of the values that have none.
func (m member[T]) onlyIf(given func(T) bool) member[T] {
	m.present = given
	return m
}

// withSchema gives a member a schema that says more.
func (m member[T]) withSchema(schema map[string]any) member[T] {
	m.schema = schema
	return m
}

// appendInstant writes an instant, or null where there is none.
func appendInstant(dst []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(dst, "null"...)
	}
	return append(calendar.AppendInstant(append(dst, '"'), at), '"')
}
