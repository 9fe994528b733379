package rules

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// lexer takes a body apart. It has two ways to do so. The quick one knows JSON
// without mistakes and nothing of where it is; whenever it meets anything that
// would have to be told somebody, it is lost, and the body is read again from
// the start by the decoder, which finds the words. So only the decoder says
// what is wrong with a body, and bodies with nothing wrong are read in half the
// time.
type lexer struct {
	decoder *jsontext.Decoder // nil: the quick way
	text    string
	traits       // of the text
	simple  bool // a string of it ends with the next quote
	failed  bool
	at      int           // behind what was read last
	next    int           // where what peek found stands
	kind    jsontext.Kind // of what peek found; 0 before it looked
	expect  separator
	depth   int
	objects uint64 // a bit for each level: whether it is an object
}

// separator is what has to come before the next value.
type separator uint8

const (
	noSeparator separator = iota
	comma                 // unless the object or list ends
	colon
)

const (
	// maxFastBody is the longest body that is read the quick way first: what
	// is wrong at the end of a long one would cost it twice.
	maxFastBody  = 32 << 10
	maxFastDepth = 64
)

// errFastLexer is what the quick way says of anything it does not know.
var errFastLexer = errors.New("not plain JSON")

// newLexer prepares the quick way, if there is one.
func newLexer(text string, is traits) (*lexer, bool) {
	if len(text) > maxFastBody || !is.ascii && !utf8.ValidString(text) {
		return nil, false
	}
	return &lexer{text: text, traits: is, simple: is.noEscapes && is.noControls}, true
}

// peek tells what comes next.
func (t *lexer) peek() jsontext.Kind {
	if t.kind != 0 {
		return t.kind
	}
	return t.look()
}

// look is peek where nothing was found yet. The decoder remembers by itself.
func (t *lexer) look() jsontext.Kind {
	if t.decoder != nil {
		return t.decoder.PeekKind()
	}
	t.kind = t.scanKind()
	return t.kind
}

// scanKind goes to the next value, name or end, and tells its kind, 0 when lost.
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

// kinds tells what begins with a byte; 0 is nothing that may stand in JSON.
var kinds = func() (of [256]jsontext.Kind) {
	for _, c := range []byte(`{[}]"tfn`) {
		of[c] = jsontext.Kind(c)
	}
	for _, c := range []byte("-0123456789") {
		of[c] = '0'
	}
	return of
}()

// skipSpace passes over white space.
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

// readDelimiter reads the beginning or the end of an object or list.
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

// expectsName reports whether a name has to come next.
func (t *lexer) expectsName() bool { return t.depth > 0 && t.objects&1 == 1 && t.expect != colon }

// readScalar reads a name or a value without parts, and tells how long it is.
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

// stringEnd gives the end of a string from behind its first quote, -1 when it is
// none.
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

// numberEnd gives the end of a number, -1 when it is none.
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

// offset is the place behind what was read last.
func (t *lexer) offset() int {
	if t.decoder != nil {
		return int(t.decoder.InputOffset())
	}
	return t.at
}

// pointer tells where what was read last stands. The quick way does not know.
func (t *lexer) pointer() jsontext.Pointer {
	if t.decoder != nil {
		return t.decoder.StackPointer()
	}
	t.failed = true
	return ""
}

// The reader notices duplicate names itself, in slots it has anyway; the
// decoder's own way would keep a second copy of every name.
var decoderOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true)}

// pooledDecoder is a decoder and its buffer, used again and again.
type pooledDecoder struct {
	decoder jsontext.Decoder
	buffer  bytes.Buffer
}

var decoderPool = sync.Pool{New: func() any { return new(pooledDecoder) }}

// open lets the decoder read a body.
func (s *pooledDecoder) open(body []byte) *lexer {
	s.buffer = *bytes.NewBuffer(body)
	s.decoder.Reset(&s.buffer, decoderOptions...)
	return &lexer{decoder: &s.decoder}
}

// release lets go of the body, which may be personal data and large.
func (s *pooledDecoder) release() {
	s.buffer = bytes.Buffer{}
	s.decoder.Reset(&s.buffer)
	decoderPool.Put(s)
}
