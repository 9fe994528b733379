package pack

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"landfall/internal/lib/limits"
)

//go:generate go test -run TestSchemaIsCurrent -update .

var update = flag.Bool("update", false, "write docs/pack.schema.json again")

// TestSchemaIsCurrent compares the JSON Schema for editors with what Read accepts.
func TestSchemaIsCurrent(t *testing.T) {
	text := func(pattern string) map[string]any { return map[string]any{"type": "string", "pattern": pattern} }
	typ := map[string]any{"type": "string", "description": "text N, line N, another type, list of …, or the name of an object", "examples": kinds}
	members := map[string]any{
		"type": typ, "required": map[string]any{"type": "boolean"}, "deprecated": map[string]any{"type": []string{"string", "boolean"}},
		"choices": map[string]any{"type": "array", "minItems": 1, "maxItems": limits.PackChoices, "uniqueItems": true},
		"pattern": map[string]any{"type": "string", "maxLength": maxPattern, "description": "a regular expression (RE2)"},
		"min":     map[string]any{"type": "integer"}, "max": map[string]any{"type": "integer"},
		"digits": map[string]any{"type": "integer", "minimum": 1, "maximum": 12}, "places": map[string]any{"type": "integer", "minimum": 0, "maximum": 10},
		"description": map[string]any{"type": "string"},
	}
	for _, key := range fieldKeys {
		if members[key] == nil {
			t.Errorf("the schema lacks %s", key)
		}
	}
	field := map[string]any{"oneOf": []any{typ, map[string]any{"type": "object", "properties": members, "additionalProperties": false}}}
	fields := map[string]any{"type": "object", "propertyNames": text(fieldPattern.String()), "additionalProperties": map[string]any{"$ref": "#/$defs/field"}}
	names := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	schema := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A pack of fields", "type": "object",
		"required": []string{"pack", "version"}, "additionalProperties": false,
		"$defs": map[string]any{"field": field, "fields": fields},
		"properties": map[string]any{
			"pack": text(codePattern.String()), "version": map[string]any{"type": "integer", "minimum": 1}, "description": map[string]any{"type": "string"},
			"add": map[string]any{"type": "object", "propertyNames": text(objectPattern.String()), "additionalProperties": map[string]any{"$ref": "#/$defs/fields"}},
			"objects": map[string]any{"type": "object", "propertyNames": text(objectPattern.String()), "additionalProperties": map[string]any{
				"type": "object", "required": []string{"fields"}, "additionalProperties": false, "properties": map[string]any{
					"description": map[string]any{"type": "string"}, "open": map[string]any{"type": "boolean"}, "fields": map[string]any{"$ref": "#/$defs/fields"},
				},
			}},
			"rules": map[string]any{"type": "array", "maxItems": limits.PackRules, "items": map[string]any{
				"type": "object", "required": []string{"code", "kind", "object", "fields"}, "additionalProperties": false, "properties": map[string]any{
					"code": text(ruleCodes.String()), "kind": map[string]any{"enum": ruleKinds}, "object": map[string]any{"type": "string"},
					"list": map[string]any{"type": "string"}, "fields": names, "when": map[string]any{"type": "string"}, "is": map[string]any{"type": "string"},
					"severity": map[string]any{"enum": severities}, "description": map[string]any{"type": "string"},
				},
			}},
		},
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(schema); err != nil {
		t.Fatal(err)
	}
	const path = "../../../docs/pack.schema.json"
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/pack.schema.json is not current (%v); run make generate", err)
	}
}
