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
	members []memberOf[T]
	// write replaces the members' own writing where an answer repeats what was
	// sent; nil writes the members in their order.
	write   func(dst []byte, value T) []byte
	example T
}

// memberOf declares one member of a body made from a T.
type memberOf[T any] struct {
	name   string
	doc    string
	schema map[string]any
	write  func(dst []byte, value T) []byte // the value alone
	given  func(value T) bool               // nil: always there
}

// Append writes the body.
func (b *Body[T]) Append(dst []byte, value T) []byte {
	if b.write != nil {
		return b.write(dst, value)
	}
	dst = append(dst, '{')
	for i := range b.members {
		member := &b.members[i]
		if member.given == nil || member.given(value) {
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
		properties[member.name] = described(member.schema, member.doc)
		if member.given == nil {
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

// described adds a sentence to a schema, which others may share.
func described(schema map[string]any, doc string) map[string]any {
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
func (l *List[T]) Schema() map[string]any { return listOf(refTo(l.items.name)) }

// The schemas that members are made of.
var (
	textSchema    = map[string]any{"type": "string"}
	nullableText  = map[string]any{"type": []string{"string", "null"}}
	instantSchema = map[string]any{"type": "string", "format": "date-time"}
	countSchema   = map[string]any{"type": "integer"}
	flagSchema    = map[string]any{"type": "boolean"}
	// anyObject says so explicitly: generators take an object without a word
	// about its members for one that has none.
	anyObject = map[string]any{"type": "object", "additionalProperties": true}
)

// anyValueSchema says one by one what any JSON may be, since generators do not
// take a list of types for a schema without one.
var anyValueSchema = map[string]any{"anyOf": []any{
	anyObject, listOf(map[string]any{}), textSchema, map[string]any{"type": "number", "format": "double"}, flagSchema,
	map[string]any{"type": "null"},
}}

// refTo points at a schema of the API description.
func refTo(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// listOf is a list in a schema.
func listOf(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

// oneOfTexts is a text of which every value is known.
func oneOfTexts(choices ...string) map[string]any {
	return map[string]any{"type": "string", "enum": choices}
}

// says is a member that is a text.
func says[T any](name, doc string, get func(T) string) memberOf[T] {
	return memberOf[T]{name: name, doc: doc, schema: textSchema, write: func(dst []byte, value T) []byte {
		return rules.AppendString(dst, get(value))
	}}
}

// saysOrNull is a member that is a text, or null when there is none.
func saysOrNull[T any](name, doc string, get func(T) (string, bool)) memberOf[T] {
	return memberOf[T]{name: name, doc: doc, schema: nullableText, write: func(dst []byte, value T) []byte {
		if text, given := get(value); given {
			return rules.AppendString(dst, text)
		}
		return append(dst, "null"...)
	}}
}

// happens is a member that is an instant, null when it is none.
func happens[T any](name, doc string, get func(T) time.Time) memberOf[T] {
	return memberOf[T]{name: name, doc: doc, schema: instantSchema, write: func(dst []byte, value T) []byte {
		return appendInstant(dst, get(value))
	}}
}

// counts is a member that is a whole number.
func counts[T any](name, doc string, get func(T) int) memberOf[T] {
	return memberOf[T]{name: name, doc: doc, schema: countSchema, write: func(dst []byte, value T) []byte {
		return strconv.AppendInt(dst, int64(get(value)), 10)
	}}
}

// tells is a member that is true or false.
func tells[T any](name, doc string, get func(T) bool) memberOf[T] {
	return memberOf[T]{name: name, doc: doc, schema: flagSchema, write: func(dst []byte, value T) []byte {
		return strconv.AppendBool(dst, get(value))
	}}
}

// repeats is a member that is JSON written before.
func repeats[T any](name, doc string, schema map[string]any, get func(T) []byte) memberOf[T] {
	return memberOf[T]{name: name, doc: doc, schema: schema, write: func(dst []byte, value T) []byte {
		return append(dst, get(value)...)
	}}
}

// holds is a member that is a list of other bodies.
func holds[T, Item any](name, doc string, items *Body[Item], get func(T) []Item) memberOf[T] {
	list := List[Item]{items: items}
	return memberOf[T]{name: name, doc: doc, schema: listOf(refTo(items.name)), write: func(dst []byte, value T) []byte {
		return list.Append(dst, get(value))
	}}
}

// when leaves a member out of the values that have none.
func (m memberOf[T]) when(given func(T) bool) memberOf[T] {
	m.given = given
	return m
}

// as gives a member a schema that says more.
func (m memberOf[T]) as(schema map[string]any) memberOf[T] {
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
