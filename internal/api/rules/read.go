package rules

import "strings"

// Limits bounds what Read accepts. Zero values mean the defaults.
type Limits struct {
	Depth      int // maximum nesting; 32
	Violations int // maximum number listed before too_many_errors; 100
	// Done is closed when the caller no longer waits for the document. Read then
	// returns early without a document. nil means never.
	Done <-chan struct{}
}

// Read reads one JSON object. If the body is not strictly valid JSON, the second
// result says why and there is no document: guessing what a broken body means
// would lose data. The same holds for a body with too many values for its size.
// All other shape violations are in the document's report. The body may be
// modified afterwards.
func (t *Table) Read(body []byte, limits Limits) (*Document, *Violation) {
	if limits.Depth == 0 {
		limits.Depth = 32
	}
	if limits.Violations == 0 {
		limits.Violations = 100
	}
	text := string(body)
	is := scanTraits(text)
	if quick, can := newLexer(text, is); can {
		doc, fault := t.follow(quick, text, is, limits)
		if !quick.failed {
			return doc, fault
		}
	}
	source := decoderPool.Get().(*pooledDecoder) //nolint:forcetypeassert // the pool makes nothing else
	defer source.release()
	return t.follow(source.open(body), text, is, limits)
}

// follow reads the tokens of a body.
func (t *Table) follow(from *lexer, text string, is traits, limits Limits) (*Document, *Violation) {
	doc := &Document{text: text, report: Report{limit: limits.Violations}}
	r := reader{
		lexer: from, doc: doc, arena: newArena(len(text)), depth: limits.Depth, valuesLeft: maxValues(len(text)), special: is.special(text),
		done: limits.Done,
	}
	doc.arena = r.arena
	doc.root = r.child(nil, 0, &t.typ)
	if fault := r.read(); fault != nil {
		return nil, fault
	}
	return doc, nil
}

// reader walks the tokens of one body. Its methods return false if the body is
// malformed, with the reason in fault.
type reader struct {
	lexer      *lexer
	doc        *Document
	arena      *arena
	depth      int  // levels that may still be opened
	valuesLeft int  // values that may still be stored
	special    bool // some string may contain an escape or a control character
	valuesRead int  // values read, stored or not
	done       <-chan struct{}
	fault      *Violation
}

func (r *reader) read() *Violation {
	if fault := r.checkStart(); fault != nil {
		return fault
	}
	if !r.object(r.doc.root) {
		return r.fault
	}
	rest := r.doc.text[r.doc.root.end:]
	if strings.Trim(rest, " \t\r\n") != "" {
		return &Violation{Code: CodeMalformedJSON, Detail: "There is data after the JSON object."}
	}
	return nil
}
