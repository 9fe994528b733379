package rules

import "github.com/go-json-experiment/json/jsontext"

// readSimple reads a scalar value and returns its length. Nearly all values are
// strings, and nearly all strings are simple.
func (t *lexer) readSimple() (int, error) {
	if t.kind != '"' || !t.simple {
		return t.readScalar()
	}
	length := indexQuote(t.text[t.next+1:])
	if length < 0 {
		t.failed = true
		return 0, errFastLexer
	}
	end := t.next + length + 2
	t.at, t.kind, t.expect = end, 0, comma
	if rest := t.text[end:]; len(rest) > 1 {
		t.peekAfterValue(rest[0], rest[1])
	}
	return length + 2, nil
}

// peekAfterValue looks at what follows a value.
func (t *lexer) peekAfterValue(c, next byte) {
	if c != ',' {
		if c == '}' || c == ']' {
			t.kind, t.next = jsontext.Kind(c), t.at
		}
		return
	}
	if kind := kinds[next]; kind != '}' && kind != ']' {
		t.kind, t.next = kind, t.at+1
	}
}

// peekCompact finds the next token if there is no white space before it, which
// is how programs write JSON. Otherwise peek finds it later.
func (t *lexer) peekCompact() {
	rest := t.text[t.at:]
	switch {
	case len(rest) < 2:
	case t.expect == noSeparator:
		t.kind, t.next = kinds[rest[0]], t.at
	case t.expect == comma:
		t.peekAfterValue(rest[0], rest[1])
	case rest[0] == ':':
		if kind := kinds[rest[1]]; kind != '}' && kind != ']' {
			t.kind, t.next = kind, t.at+1
		}
	}
}
