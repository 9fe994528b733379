package rules

import "github.com/go-json-experiment/json/jsontext"

// Valid reports whether a text is one JSON value, for those who keep JSON
// without reading it. It says nothing about duplicate keys.
func Valid(text []byte) bool {
	whole := string(text)
	if quick, can := quickly(whole, survey(whole)); can && quick.sound() {
		return true
	}
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}

// sound goes through one value and reports whether it got to its end and that
// of the text.
func (t *tokens) sound() bool {
	for {
		var err error
		switch t.peek() {
		case '{', '[', '}', ']':
			err = t.step()
		default:
			_, err = t.value()
		}
		if err != nil {
			return false
		}
		if t.depth == 0 {
			return t.skip(t.at) == len(t.text)
		}
	}
}
