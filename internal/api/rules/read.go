package rules

import "strings"

// Limits bounds what a reader puts up with. Zero values mean the defaults.
type Limits struct {
	Depth      int // of nested objects and lists; 32
	Violations int // listed before too_many_errors; 100
	// Gone is closed when nobody waits for the document any more: Read then ends
	// early with no document and no good reason. nil: somebody always does.
	Done <-chan struct{}
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

// reader walks the tokens of one body. Its methods answer false when the body
// turned out to be malformed, with the reason in fault.
type reader struct {
	lexer      *lexer
	doc        *Document
	arena      *arena
	depth      int  // how many more levels may be opened
	valuesLeft int  // how many more values may be kept
	special    bool // some string may need a closer look
	valuesRead int  // values, kept or not
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
		return &Violation{Code: CodeMalformedJSON, Detail: "Something follows the JSON object."}
	}
	return nil
}
