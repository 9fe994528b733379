package rules

import "github.com/go-json-experiment/json/jsontext"

// Valid reports whether a text is one JSON value, for those who keep JSON
// without reading it. It says nothing about duplicate keys.
func Valid(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}
