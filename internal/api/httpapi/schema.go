package httpapi

import "slices"

// tokenSchemas describes what the token service and this description are made
// of. Everything else is described by its own table.
func tokenSchemas() object {
	// GraphQL allows far more than is told here; what is told is enough to obtain a token.
	text := object{{"type", "string"}}
	return object{
		{"TokenRequest", object{
			{"type", "object"},
			{"description", "A GraphQL request."},
			{"required", []string{"query"}},
			{"properties", object{
				{"query", text},
				{"operationName", object{{"type", []string{"string", "null"}}}},
				{"variables", object{{"type", []string{"object", "null"}}, {"additionalProperties", true}}},
			}},
		}},
		{"TokenResponse", object{
			{"type", "object"},
			{"description", "A GraphQL response: `data`, `errors` or both."},
			{"properties", object{
				{"data", object{{"type", []string{"object", "null"}}, {"additionalProperties", true}}},
				{"errors", object{{"type", "array"}, {"items", anyObject()}}},
			}},
		}},
		{"OpenAPI", withDescription(anyObject(), "An OpenAPI 3.1 document.")},
		{"JSONSchema", withDescription(anyObject(), "A JSON Schema, draft 2020-12.")},
	}
}

// anyObject has members that nobody describes.
func anyObject() object { return object{{"type", "object"}, {"additionalProperties", true}} }

// withDescription adds a sentence to a schema. The schema may be shared, so it is
// not changed.
func withDescription(schema object, description string) object {
	return append(slices.Clip(schema), member{"description", description})
}

// schemaRef points at a schema by its name.
func schemaRef(schema string) object {
	return object{{"$ref", "#/components/schemas/" + schema}}
}
