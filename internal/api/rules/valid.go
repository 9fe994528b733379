package rules

import "github.com/go-json-experiment/json/jsontext"

// ValidJSON reports whether a text is one JSON value, for those who keep JSON
// without reading it. It says nothing about duplicate keys.
func ValidJSON(text []byte) bool {
	whole := string(text)
	if quick, can := newLexer(whole, scanTraits(whole)); can && quick.validate() {
		return true
	}
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}

// validate goes through one value and reports whether it got to its end and that
// of the text.
func (t *lexer) validate() bool {
	for {
		var err error
		switch t.peek() {
		case '{', '[', '}', ']':
			err = t.readDelimiter()
		default:
			_, err = t.readScalar()
		}
		if err != nil {
			return false
		}
		if t.depth == 0 {
			return t.skipSpace(t.at) == len(t.text)
		}
	}
}
