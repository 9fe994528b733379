package httpapi

import (
	"regexp"
	"slices"

	"landfall/internal/api/contract"
)

// bodySchemas describes the request and response bodies of all routes and their
// parts.
func bodySchemas(schema *contract.Schema) object {
	all := schema.Schemas()
	var out object
	var add func(name string)
	add = func(name string) {
		// Delete it when it is added, so that schemas that refer to each other
		// terminate.
		schema, known := all[name]
		if !known {
			return
		}
		delete(all, name)
		out = append(out, member{name, schema})
		raw, err := marshal(schema)
		if err != nil {
			panic("httpapi: " + name + " cannot be written: " + err.Error())
		}
		for _, inner := range schemaReference.FindAllSubmatch(raw, -1) {
			add(string(inner[1]))
		}
	}
	// Start with the routes, not with the tables: a table that no route uses is not
	// included.
	for _, r := range routeTable() {
		if r.doc == nil {
			continue
		}
		if r.doc.request != nil {
			add(r.doc.request.schema)
		}
		for _, response := range r.doc.responses {
			if response.content != nil {
				add(response.content.schema)
			}
		}
	}
	return out
}

// schemaReference finds the schemas that a schema refers to.
var schemaReference = regexp.MustCompile(`"#/components/schemas/(\w+)"`)

// components are the parts that several routes share.
func components(schema *contract.Schema) object {
	header := func(description string, schema object) object {
		return object{{"description", description}, {"schema", schema}}
	}
	text := object{{"type", "string"}}
	return object{
		{"schemas", slices.Concat(tokenSchemas(), streamSchemas(), bodySchemas(schema))},
		{"headers", object{
			{"Allow", header("Methods supported by this path.", text)},
			{"Location", header("Path with a trailing slash.", text)},
			{"Link", header("URL of the next page: `<…>; rel=\"next\"`. Not present on the last page or without `limit`.", text)},
			{cursorHeader, header("Cursor of the event feed: everything that happened up to there is in the response.", text)},
			{"Retry-After", header("Seconds to wait.", object{{"type", "integer"}})},
			{"WWW-Authenticate", header("Always `Token`.", text)},
		}},
		{"securitySchemes", object{
			{"token", object{
				{"type", "apiKey"},
				{"in", "header"},
				{"name", "Authorization"},
				{"description", "`Token <ACCESS_TOKEN>`. `Bearer <ACCESS_TOKEN>`, `JWT <ACCESS_TOKEN>` and the token alone are also accepted."},
			}},
		}},
	}
}
