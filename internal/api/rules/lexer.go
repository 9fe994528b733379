package rules

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// lexer splits a body into tokens. It has two modes. The fast mode only handles
// valid JSON and does not track where it is. At anything it would have to
// report, it fails, and the body is read again from the start by the jsontext
// decoder, which finds the error message. So only the decoder reports errors.
//
// The fast mode takes about a third off the time to read and check a typical
// account (BenchmarkReadAndCheck of package contract: 12 µs instead of 18 µs of
// processor time).
type lexer struct {
	decoder *jsontext.Decoder // nil in fast mode
	text    string
	traits       // of the text
	simple  bool // every string ends at the next quote
	failed  bool
	at      int           // end of the last token
	next    int           // position of the token that peek found
	kind    jsontext.Kind // of the token that peek found; 0 before it looked
	expect  separator
	depth   int
	objects uint64 // one bit per level: whether it is an object
}

// separator is what must come before the next value.
type separator uint8

const (
	noSeparator separator = iota
	comma                 // unless the object or list ends
	colon
)

const (
	// maxFastBody is the longest body to try in fast mode. An error at the end of a
	// longer one would make reading it twice too expensive.
	maxFastBody  = 32 << 10
	maxFastDepth = 64
)

// errFastLexer is returned in fast mode for anything that is not plain, valid
// JSON.
var errFastLexer = errors.New("not plain JSON")

// newLexer returns a lexer in fast mode. It reports false if the body is not
// suited for it.
func newLexer(text string, is traits) (*lexer, bool) {
	if len(text) > maxFastBody || !is.ascii && !utf8.ValidString(text) {
		return nil, false
	}
	return &lexer{text: text, traits: is, simple: is.noEscapes && is.noControls}, true
}

// peek returns the kind of the next token.
func (t *lexer) peek() jsontext.Kind {
	if t.kind != 0 {
		return t.kind
	}
	return t.look()
}

// look is peek when the next token is not known yet. The decoder caches by
// itself.
func (t *lexer) look() jsontext.Kind {
	if t.decoder != nil {
		return t.decoder.PeekKind()
	}
	t.kind = t.scanKind()
	return t.kind
}

// scanKind moves to the next value, name or end and returns its kind, or 0 on
// failure.
func (t *lexer) scanKind() jsontext.Kind {
	if t.failed {
		return 0
	}
	at := t.skipSpace(t.at)
	switch {
	case at == len(t.text):
	case t.expect == colon && t.text[at] == ':', t.expect == comma && t.text[at] == ',':
		if at = t.skipSpace(at + 1); at < len(t.text) && t.text[at] != '}' && t.text[at] != ']' {
			return t.kindAt(at)
		}
	case t.expect == noSeparator, t.expect == comma && (t.text[at] == '}' || t.text[at] == ']'):
		return t.kindAt(at)
	}
	t.failed = true
	return 0
}

func (t *lexer) kindAt(at int) jsontext.Kind {
	t.next = at
	kind := kinds[t.text[at]]
	t.failed = kind == 0
	return kind
}

// kinds maps the first byte of a token to its kind; 0 means not valid in JSON.
var kinds = func() (of [256]jsontext.Kind) {
	for _, c := range []byte(`{[}]"tfn`) {
		of[c] = jsontext.Kind(c)
	}
	for _, c := range []byte("-0123456789") {
		of[c] = '0'
	}
	return of
}()

// skipSpace skips white space.
func (t *lexer) skipSpace(at int) int {
	for at < len(t.text) {
		switch t.text[at] {
		case ' ', '\t', '\n', '\r':
			at++
		default:
			return at
		}
	}
	return at
}

// readDelimiter reads the start or end of an object or list.
func (t *lexer) readDelimiter() error {
	if t.decoder != nil {
		_, err := t.decoder.ReadToken()
		return err
	}
	switch kind := t.peek(); {
	case (kind == '{' || kind == '[') && t.depth < maxFastDepth && !t.expectsName():
		t.depth++
		t.objects <<= 1
		t.expect = noSeparator
		if kind == '{' {
			t.objects |= 1
		}
	case t.depth > 0 && (kind == '}' && t.objects&1 == 1 || kind == ']' && t.objects&1 == 0):
		t.depth--
		t.objects >>= 1
		t.expect = comma
	default:
		t.failed = true
		return errFastLexer
	}
	t.at, t.kind = t.next+1, 0
	t.peekCompact()
	return nil
}

// expectsName reports whether the next token must be a field name.
func (t *lexer) expectsName() bool { return t.depth > 0 && t.objects&1 == 1 && t.expect != colon }

// readScalar reads a name or a scalar value and returns its length.
func (t *lexer) readScalar() (int, error) {
	if t.decoder != nil {
		raw, err := t.decoder.ReadValue()
		return len(raw), err
	}
	end := -1
	kind, named := t.peek(), t.expectsName()
	switch {
	case kind == '"':
		end = t.stringEnd(t.next + 1)
	case named:
	case kind == '0':
		end = numberEnd(t.text, t.next)
	case kind == 't':
		end = t.literalEnd("true")
	case kind == 'f':
		end = t.literalEnd("false")
	case kind == 'n':
		end = t.literalEnd("null")
	}
	if end < 0 {
		t.failed = true
		return 0, errFastLexer
	}
	length := end - t.next
	t.at, t.kind, t.expect = end, 0, comma
	if named {
		t.expect = colon
	}
	t.peekCompact()
	return length, nil
}

// stringEnd returns the end of the string whose contents start at from, or -1 if
// it is invalid.
func (t *lexer) stringEnd(from int) int {
	if t.noEscapes {
		length := indexQuote(t.text[from:])
		if length < 0 || !t.noControls && !scanTraits(t.text[from:from+length]).noControls {
			return -1
		}
		return from + length + 1
	}
	for at := from; at < len(t.text); at++ {
		switch c := t.text[at]; {
		case c == '"' && strings.IndexByte(t.text[from:at], '\\') < 0:
			return at + 1
		case c == '"':
			if !jsontext.Value(t.text[from-1 : at+1]).IsValid() {
				return -1
			}
			return at + 1
		case c == '\\':
			at++
		case c < ' ':
			return -1
		}
	}
	return -1
}

func (t *lexer) literalEnd(word string) int {
	if !strings.HasPrefix(t.text[t.next:], word) {
		return -1
	}
	return t.next + len(word)
}

// numberEnd returns the end of a number, or -1 if it is invalid.
func numberEnd(text string, at int) int {
	digits := func() bool {
		from := at
		for at < len(text) && text[at] >= '0' && text[at] <= '9' {
			at++
		}
		return at > from
	}
	is := func(either, or byte) bool { return at < len(text) && (text[at] == either || text[at] == or) }
	if is('-', '-') {
		at++
	}
	if is('0', '0') {
		at++
	} else if !digits() {
		return -1
	}
	if is('.', '.') {
		if at++; !digits() {
			return -1
		}
	}
	if is('e', 'E') {
		if at++; is('+', '-') {
			at++
		}
		if !digits() {
			return -1
		}
	}
	return at
}

// offset returns the end of the last token.
func (t *lexer) offset() int {
	if t.decoder != nil {
		return int(t.decoder.InputOffset())
	}
	return t.at
}

// pointer returns the JSON pointer of the last token. The fast mode does not
// know it.
func (t *lexer) pointer() jsontext.Pointer {
	if t.decoder != nil {
		return t.decoder.StackPointer()
	}
	t.failed = true
	return ""
}

// decoderOptions allows duplicate names because the reader detects them itself,
// with data it has anyway. The decoder would keep a second copy of every name.
var decoderOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true)}

// pooledDecoder is a decoder and its buffer for reuse.
type pooledDecoder struct {
	decoder jsontext.Decoder
	buffer  bytes.Buffer
}

var decoderPool = sync.Pool{New: func() any { return new(pooledDecoder) }}

// open starts reading a body.
func (s *pooledDecoder) open(body []byte) *lexer {
	s.buffer = *bytes.NewBuffer(body)
	s.decoder.Reset(&s.buffer, decoderOptions...)
	return &lexer{decoder: &s.decoder}
}

// release drops the body, which may be large and hold personal data.
func (s *pooledDecoder) release() {
	s.buffer = bytes.Buffer{}
	s.decoder.Reset(&s.buffer)
	decoderPool.Put(s)
}
