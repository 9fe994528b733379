package rules

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// tokens takes a body apart. It has two ways to do so. The quick one knows JSON
// without mistakes and nothing of where it is; whenever it meets anything that
// would have to be told somebody, it is lost, and the body is read again from
// the start by the decoder, which finds the words. So only the decoder says
// what is wrong with a body, and bodies with nothing wrong are read in half the
// time.
type tokens struct {
	decoder *jsontext.Decoder // nil: the quick way
	text    string
	traits       // of the text
	simple  bool // a string of it ends with the next quote
	lost    bool
	at      int           // behind what was read last
	next    int           // where what peek found stands
	kind    jsontext.Kind // of what peek found; 0 before it looked
	expect  expectation
	depth   int
	objects uint64 // a bit for each level: whether it is an object
}

// expectation is what has to come before the next value.
type expectation uint8

const (
	nothing expectation = iota
	comma               // unless the object or list ends
	colon
)

const (
	// longestQuick is the longest body that is read the quick way first: what
	// is wrong at the end of a long one would cost it twice.
	longestQuick = 32 << 10
	deepestQuick = 64
)

// errLost is what the quick way says of anything it does not know.
var errLost = errors.New("not plain JSON")

// quickly prepares the quick way, if there is one.
func quickly(text string, is traits) (*tokens, bool) {
	if len(text) > longestQuick || !is.ascii && !utf8.ValidString(text) {
		return nil, false
	}
	return &tokens{text: text, traits: is, simple: is.plain && is.flat}, true
}

// peek tells what comes next.
func (t *tokens) peek() jsontext.Kind {
	if t.kind != 0 {
		return t.kind
	}
	return t.look()
}

// look is peek where nothing was found yet. The decoder remembers by itself.
func (t *tokens) look() jsontext.Kind {
	if t.decoder != nil {
		return t.decoder.PeekKind()
	}
	t.kind = t.find()
	return t.kind
}

// find goes to the next value, name or end, and tells its kind, 0 when lost.
func (t *tokens) find() jsontext.Kind {
	if t.lost {
		return 0
	}
	at := t.skip(t.at)
	switch {
	case at == len(t.text):
	case t.expect == colon && t.text[at] == ':', t.expect == comma && t.text[at] == ',':
		if at = t.skip(at + 1); at < len(t.text) && t.text[at] != '}' && t.text[at] != ']' {
			return t.found(at)
		}
	case t.expect == nothing, t.expect == comma && (t.text[at] == '}' || t.text[at] == ']'):
		return t.found(at)
	}
	t.lost = true
	return 0
}

func (t *tokens) found(at int) jsontext.Kind {
	t.next = at
	kind := kinds[t.text[at]]
	t.lost = kind == 0
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

// skip passes over white space.
func (t *tokens) skip(at int) int {
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

// step reads the beginning or the end of an object or list.
func (t *tokens) step() error {
	if t.decoder != nil {
		_, err := t.decoder.ReadToken()
		return err
	}
	switch kind := t.peek(); {
	case (kind == '{' || kind == '[') && t.depth < deepestQuick && !t.named():
		t.depth++
		t.objects <<= 1
		t.expect = nothing
		if kind == '{' {
			t.objects |= 1
		}
	case t.depth > 0 && (kind == '}' && t.objects&1 == 1 || kind == ']' && t.objects&1 == 0):
		t.depth--
		t.objects >>= 1
		t.expect = comma
	default:
		t.lost = true
		return errLost
	}
	t.at, t.kind = t.next+1, 0
	t.glance()
	return nil
}

// named reports whether a name has to come next.
func (t *tokens) named() bool { return t.depth > 0 && t.objects&1 == 1 && t.expect != colon }

// value reads a name or a value without parts, and tells how long it is.
func (t *tokens) value() (int, error) {
	if t.decoder != nil {
		raw, err := t.decoder.ReadValue()
		return len(raw), err
	}
	end := -1
	kind, named := t.peek(), t.named()
	switch {
	case kind == '"':
		end = t.quoted(t.next + 1)
	case named:
	case kind == '0':
		end = number(t.text, t.next)
	case kind == 't':
		end = t.word("true")
	case kind == 'f':
		end = t.word("false")
	case kind == 'n':
		end = t.word("null")
	}
	if end < 0 {
		t.lost = true
		return 0, errLost
	}
	length := end - t.next
	t.at, t.kind, t.expect = end, 0, comma
	if named {
		t.expect = colon
	}
	t.glance()
	return length, nil
}

// quoted gives the end of a string from behind its first quote, -1 when it is
// none.
func (t *tokens) quoted(from int) int {
	if t.plain {
		length := quote(t.text[from:])
		if length < 0 || !t.flat && !survey(t.text[from:from+length]).flat {
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

func (t *tokens) word(word string) int {
	if !strings.HasPrefix(t.text[t.next:], word) {
		return -1
	}
	return t.next + len(word)
}

// number gives the end of a number, -1 when it is none.
func number(text string, at int) int {
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
func (t *tokens) offset() int {
	if t.decoder != nil {
		return int(t.decoder.InputOffset())
	}
	return t.at
}

// pointer tells where what was read last stands. The quick way does not know.
func (t *tokens) pointer() jsontext.Pointer {
	if t.decoder != nil {
		return t.decoder.StackPointer()
	}
	t.lost = true
	return ""
}

// The reader notices duplicate names itself, in slots it has anyway; the
// decoder's own way would keep a second copy of every name.
var strict = []jsontext.Options{jsontext.AllowDuplicateNames(true)}

// source is a decoder and its buffer, used again and again.
type source struct {
	decoder jsontext.Decoder
	buffer  bytes.Buffer
}

var sources = sync.Pool{New: func() any { return new(source) }}

// open lets the decoder read a body.
func (s *source) open(body []byte) *tokens {
	s.buffer = *bytes.NewBuffer(body)
	s.decoder.Reset(&s.buffer, strict...)
	return &tokens{decoder: &s.decoder}
}

// release lets go of the body, which may be personal data and large.
func (s *source) release() {
	s.buffer = bytes.Buffer{}
	s.decoder.Reset(&s.buffer)
	sources.Put(s)
}
