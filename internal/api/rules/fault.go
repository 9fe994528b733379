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

// maxNameLength is how many characters of a sender's own name an attr repeats.
const maxNameLength = 200

// checkStart refuses bodies that are no object at all, in words that fit.
func (r *reader) checkStart() *Violation {
	text := r.doc.text
	var detail string
	switch kind := r.lexer.peek(); {
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

// syntaxError turns the decoder's error into a violation. The decoder's own text is
// not used: it may quote the body.
func (r *reader) syntaxError(err error) bool {
	fault := &Violation{Code: CodeMalformedJSON}
	where := "the end"
	if syntax, is := errors.AsType[*jsontext.SyntacticError](err); is {
		fault.Attr = attrOf(syntax.JSONPointer)
		where = lineAndColumn(r.doc.text, int(syntax.ByteOffset))
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
	r.fault = &Violation{Code: CodeMalformedJSON, Attr: attrOf(r.lexer.pointer()), Detail: detail}
	return false
}

func (r *reader) duplicateField() bool { return r.malformed("This field is given twice.") }

// rejectHere reports something no node stands for, at what was read last.
func (r *reader) rejectHere(offset int32, code, detail string) {
	if !r.doc.report.full() {
		r.doc.report.addShape(finding{offset: offset, node: absent, member: attrOf(r.lexer.pointer()),
			code: code, detail: detail})
	}
}

// lineAndColumn tells people where a byte stands.
func lineAndColumn(text string, offset int) string {
	before := text[:min(offset, len(text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, character %d", line, column)
}

// attrOf writes a JSON pointer the way attrs are written.
func attrOf(pointer jsontext.Pointer) string {
	var path strings.Builder
	for name := range pointer.Tokens() {
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(printableName(name))
	}
	return path.String()
}

// printableName makes a sender's own field name fit to be repeated: invisible and
// control characters are spelled out, and it is cut when it is long.
func printableName(name string) string {
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
		if length += utf8.RuneCountInString(piece); length > maxNameLength {
			break
		}
		out.WriteString(piece)
	}
	return out.String()
}
