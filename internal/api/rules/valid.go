package rules

import "github.com/go-json-experiment/json/jsontext"

// ValidJSON reports whether text is a single JSON value. It does not check for
// duplicate names.
func ValidJSON(text []byte) bool {
	whole := string(text)
	if quick, can := newLexer(whole, scanTraits(whole)); can && quick.validate() {
		return true
	}
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}

// validate reads one value and reports whether it is valid and nothing follows
// it.
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
