package httpapi

import "slices"

// tokenSchemas describes the token service and this document. Other schemas come
// from their tables.
func tokenSchemas() object {
	// GraphQL allows more; this is enough to obtain a token.
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

// anyObject is an object with any members.
func anyObject() object { return object{{"type", "object"}, {"additionalProperties", true}} }

// withDescription adds a description to a schema without changing it.
func withDescription(schema object, description string) object {
	return append(slices.Clip(schema), member{"description", description})
}

// schemaRef refers to a schema by name.
func schemaRef(schema string) object {
	return object{{"$ref", "#/components/schemas/" + schema}}
}
