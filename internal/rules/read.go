package rules

import (
	"bytes"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits bounds what a reader puts up with. Zero values mean the defaults.
type Limits struct {
	Depth      int // of nested objects and lists; 32
	Violations int // listed before too_many_errors; 100
	// Gone is closed when nobody waits for the document any more: Read then ends
	// early with no document and no good reason. nil: somebody always does.
	Gone <-chan struct{}
}

// Read reads one JSON object. What is not well-formed JSON in the strictest
// sense is the second result, and then there is no document: guessing what a
// broken body meant is how data gets lost. Everything else that is wrong with
// the shape is in the document's report. A body with too many values for its
// size has no document either. The body may be changed afterwards.
func (t *Table) Read(body []byte, limits Limits) (*Document, *Violation) {
	if limits.Depth == 0 {
		limits.Depth = 32
	}
	if limits.Violations == 0 {
		limits.Violations = 100
	}
	source := sources.Get().(*source) //nolint:forcetypeassert // the pool makes nothing else
	defer source.release()
	source.buffer = *bytes.NewBuffer(body)
	source.decoder.Reset(&source.buffer, strict...)

	doc := &Document{text: string(body), report: Report{limit: limits.Violations}}
	r := reader{
		decoder: &source.decoder, doc: doc, slab: newSlab(len(body)), depth: limits.Depth, left: budget(len(body)), odd: odd(body),
		gone: limits.Gone,
	}
	doc.root = r.child(nil, 0, &t.typ)
	if fault := r.read(); fault != nil {
		return nil, fault
	}
	return doc, nil
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

// release lets go of the body, which may be personal data and large.
func (s *source) release() {
	s.buffer = bytes.Buffer{}
	s.decoder.Reset(&s.buffer)
	sources.Put(s)
}

// reader walks the tokens of one body. Its methods answer false when the body
// turned out to be malformed, with the reason in fault.
type reader struct {
	decoder *jsontext.Decoder
	doc     *Document
	slab    slab
	depth   int  // how many more levels may be opened
	left    int  // how many more values may be kept
	odd     bool // some string may need a closer look
	walked  int  // values, kept or not
	gone    <-chan struct{}
	fault   *Violation
}

func (r *reader) read() *Violation {
	if fault := r.prologue(); fault != nil {
		return fault
	}
	if !r.object(r.doc.root) {
		return r.fault
	}
	rest := r.doc.text[r.doc.root.end:]
	if strings.Trim(rest, " \t\r\n") != "" {
		return &Violation{Code: CodeMalformedJSON, Detail: "Something follows the JSON object."}
	}
	return nil
}
