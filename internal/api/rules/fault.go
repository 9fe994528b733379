package rules

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// nameLimit is how many characters of a sender's own name an attr repeats.
const nameLimit = 200

// prologue refuses bodies that are no object at all, in words that fit.
func (r *reader) prologue() *Violation {
	text := r.doc.text
	var detail string
	switch kind := r.tokens.peek(); {
	case len(text) > math.MaxInt32: // offsets are 32 bits wide
		detail = "The body is too large."
	case strings.HasPrefix(text, "\ufeff"):
		detail = "The body begins with a byte order mark. Send plain UTF-8."
	case strings.Trim(text, " \t\r\n") == "":
		detail = "The body is empty. Send one JSON object."
	case kind != '{':
		detail = "The body must be one JSON object."
	default:
		return nil
	}
	return &Violation{Code: CodeMalformedJSON, Detail: detail}
}

// broken turns the decoder's error into a violation. The decoder's own text is
// not used: it may quote the body.
func (r *reader) broken(err error) bool {
	fault := &Violation{Code: CodeMalformedJSON}
	where := "the end"
	if syntax, is := errors.AsType[*jsontext.SyntacticError](err); is {
		fault.Attr = dotted(syntax.JSONPointer)
		where = place(r.doc.text, int(syntax.ByteOffset))
	}
	switch {
	case !utf8.ValidString(r.doc.text):
		fault.Detail = "The body is not valid UTF-8."
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		fault.Detail = "The JSON ends too early."
	default:
		fault.Detail = "The body is not valid JSON at " + where + "."
	}
	r.fault = fault
	return false
}

// malformed refuses the body for what was read last.
func (r *reader) malformed(detail string) bool {
	r.fault = &Violation{Code: CodeMalformedJSON, Attr: dotted(r.tokens.pointer()), Detail: detail}
	return false
}

func (r *reader) twice() bool { return r.malformed("This field is given twice.") }

// astray reports something no node stands for, at what was read last.
func (r *reader) astray(offset int32, code, detail string) {
	if !r.doc.report.full() {
		r.doc.report.shape(finding{offset: offset, node: absent, member: dotted(r.tokens.pointer()),
			code: code, detail: detail})
	}
}

// place tells people where a byte stands.
func place(text string, offset int) string {
	before := text[:min(offset, len(text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, character %d", line, column)
}

// dotted writes a JSON pointer the way attrs are written.
func dotted(pointer jsontext.Pointer) string {
	var path strings.Builder
	for name := range pointer.Tokens() {
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(harmless(name))
	}
	return path.String()
}

// harmless makes a sender's own field name fit to be repeated: invisible and
// control characters are spelled out, and it is cut when it is long.
func harmless(name string) string {
	if name == "" {
		return `""`
	}
	var out strings.Builder
	length := 0
	for _, c := range name {
		piece := string(c)
		if !unicode.IsPrint(c) {
			piece = fmt.Sprintf(`\u%04x`, c)
		}
		if length += utf8.RuneCountInString(piece); length > nameLimit {
			break
		}
		out.WriteString(piece)
	}
	return out.String()
}
