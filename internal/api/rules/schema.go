package rules

import (
	"slices"
	"strconv"
)

// Walk visits every field below a table, depth first and in declared order.
// Paths are attrs with * for any item, such as customers.*.landline.
func (t *Table) Walk(visit func(path string, field Field)) { t.walk("", visit) }

func (t *Table) walk(prefix string, visit func(path string, field Field)) {
	for _, field := range t.Fields {
		path := prefix + field.Name
		visit(path, field)
		typ := field.Type
		for typ.Shape == ShapeList {
			path, typ = path+".*", *typ.Item
		}
		if typ.Or != nil {
			typ = *typ.Or
		}
		if typ.Shape == ShapeObject {
			typ.Table.walk(path+".", visit)
		}
	}
}

// Schema describes the table as JSON Schema 2020-12, as used by OpenAPI 3.1.
// Nested tables become references, written by ref. The result does not depend on
// map order.
func (t *Table) Schema(ref func(*Table) string) map[string]any {
	properties := make(map[string]any, len(t.Fields))
	required := []string{}
	for _, field := range t.Fields {
		typ := field.Type
		if field.Required && typ.Format != nil && typ.Format.NonEmpty {
			typ.Min = 1
		}
		schema := typ.schema(ref)
		if !field.Required {
			orNull(schema)
		}
		if field.Doc != "" {
			schema["description"] = joinSentences(field.Doc, schema["description"])
		}
		if field.Old {
			schema["deprecated"] = true
		}
		properties[field.Name] = schema
		if field.Required {
			required = append(required, field.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": t.Open}
	if len(required) > 0 {
		schema["required"] = required
	}
	if t.Doc != "" {
		schema["description"] = t.Doc
	}
	return schema
}

// schema describes one value.
func (typ *Type) schema(ref func(*Table) string) map[string]any {
	switch typ.Shape {
	case ShapeText:
		if typ.Or != nil {
			return map[string]any{"oneOf": []any{typ.textSchema(), typ.Or.schema(ref)}}
		}
		return typ.textSchema()
	case ShapeBoolean:
		return map[string]any{"type": "boolean"}
	case ShapeInteger:
		return map[string]any{"type": "integer", "minimum": typ.Low, "maximum": typ.High}
	case ShapeAmount:
		if typ.Digits > 0 {
			return exactSchema(typ.Digits, 3, "A sum of money")
		}
		return map[string]any{"$ref": ref(moneyTable)}
	case ShapeDecimal:
		if typ.Digits > 0 {
			return exactSchema(typ.Digits, typ.Places, "An exact number")
		}
		return map[string]any{"$ref": ref(decimalTable)}
	case ShapeDate:
		return map[string]any{"type": "string", "format": "date"}
	case ShapeDatetime:
		return map[string]any{"type": "string", "format": "date-time"}
	case ShapeObject:
		return map[string]any{"$ref": ref(typ.Table)}
	case ShapeList:
		return typ.listSchema(ref)
	}
	if typ.Decimals {
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"$ref": ref(decimalTable)}}
	}
	if typ.Object {
		return map[string]any{"type": "object"}
	}
	return map[string]any{}
}

func (typ *Type) textSchema() map[string]any {
	schema := map[string]any{"type": "string"}
	if typ.Max > 0 {
		schema["maxLength"] = typ.Max
	}
	if typ.Min > 0 && typ.Choices == nil {
		schema["minLength"] = typ.Min
	}
	if typ.Choices != nil {
		choices := typ.Choices
		if typ.Min == 0 && !slices.Contains(choices, "") {
			choices = append([]string{""}, choices...)
		}
		schema["enum"] = choices
	}
	if format := typ.Format; format != nil {
		switch {
		case format.Pattern == "" && typ.Min == 0:
			// A named format would refuse the empty string that is allowed here.
			schema["description"] = "Format: " + format.Name + ", or empty."
		case format.Pattern == "":
			schema["format"] = format.Name
		case typ.Min == 0:
			schema["pattern"] = "^$|" + format.Pattern
		default:
			schema["pattern"] = format.Pattern
		}
	}
	return schema
}

func (typ *Type) listSchema(ref func(*Table) string) map[string]any {
	schema := map[string]any{"type": "array", "items": typ.Item.schema(ref)}
	if typ.Min > 0 {
		schema["minItems"] = typ.Min
	}
	if typ.Max > 0 {
		schema["maxItems"] = typ.Max
	}
	return schema
}

// moneyTable and decimalTable give the exact numbers a name, so that client
// generators make one type of each instead of one per field.
var moneyTable, decimalTable = &Table{Name: "Money"}, &Table{Name: "Decimal"}

// NumberSchemas describes the exact numbers that tables refer to, by name.
func NumberSchemas() map[string]any {
	return map[string]any{
		moneyTable.Name:   exactSchema(12, 3, "Money"),
		decimalTable.Name: exactSchema(12, 10, "An exact number"),
	}
}

// exactSchema describes an exact decimal as a string or a number. The pattern
// applies to the string. JSON Schema cannot limit the digits of a number; its
// format keeps generators from using single precision.
func exactSchema(digits, places int, noun string) map[string]any {
	d, n, most := strconv.Itoa(digits), strconv.Itoa(places), strconv.Itoa(digits-1)
	return map[string]any{
		"description": noun + " with at most " + d + " digits before the decimal point and " + n + " decimal places, as a string or a number. " +
			"A string must not contain an exponent.",
		"anyOf": []any{
			map[string]any{"type": "string", "pattern": `^-?(0|[1-9][0-9]{0,` + most + `})(\.[0-9]{1,` + n + `}0*)?$`},
			map[string]any{"type": "number", "format": "double"},
		},
	}
}

// orNull allows null for an optional value. It means the same as leaving it out.
func orNull(schema map[string]any) {
	switch typ := schema["type"].(type) {
	case string:
		schema["type"] = []string{typ, "null"}
	case []string:
		schema["type"] = append(typ, "null")
	default:
		if ref, is := schema["$ref"]; is {
			delete(schema, "$ref")
			schema["oneOf"] = []any{map[string]any{"$ref": ref}, map[string]any{"type": "null"}}
		} else if forms, is := schema["oneOf"].([]any); is {
			schema["oneOf"] = append(forms, map[string]any{"type": "null"})
		}
		return
	}
	if choices, closed := schema["enum"].([]string); closed {
		all := make([]any, 0, len(choices)+1)
		for _, choice := range choices {
			all = append(all, choice)
		}
		schema["enum"] = append(all, nil)
	}
}

func joinSentences(doc string, more any) string {
	if text, is := more.(string); is {
		return doc + " " + text
	}
	return doc
}
