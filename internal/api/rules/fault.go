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

// maxNameLength is how many characters of a sender's own field name an attr
// repeats.
const maxNameLength = 200

// checkStart refuses bodies that are not an object, with a specific message.
func (r *reader) checkStart() *Violation {
	text := r.doc.text
	var detail string
	switch kind := r.lexer.peek(); {
	case len(text) > math.MaxInt32: // offsets are 32 bits wide
		detail = "The body is too large."
	case strings.HasPrefix(text, "\ufeff"):
		detail = "The body starts with a byte order mark. Send UTF-8 without one."
	case strings.Trim(text, " \t\r\n") == "":
		detail = "The body is empty. Send one JSON object."
	case kind != '{':
		detail = "The body must be one JSON object."
	default:
		return nil
	}
	return &Violation{Code: CodeMalformedJSON, Detail: detail}
}

// syntaxError turns an error of the decoder into a violation. It does not use
// the text of the error, which may quote the body.
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
		fault.Detail = "Unexpected end of JSON."
	default:
		fault.Detail = "The body is not valid JSON at " + where + "."
	}
	r.fault = fault
	return false
}

// malformed refuses the body at the position that was read last.
func (r *reader) malformed(detail string) bool {
	r.fault = &Violation{Code: CodeMalformedJSON, Attr: attrOf(r.lexer.pointer()), Detail: detail}
	return false
}

func (r *reader) duplicateField() bool { return r.malformed("Duplicate field.") }

// rejectHere reports a violation that has no node, at the position that was read
// last.
func (r *reader) rejectHere(offset int32, code, detail string) {
	if !r.doc.report.full() {
		r.doc.report.addShape(finding{offset: offset, node: absent, member: attrOf(r.lexer.pointer()),
			code: code, detail: detail})
	}
}

// lineAndColumn describes a byte offset for people.
func lineAndColumn(text string, offset int) string {
	before := text[:min(offset, len(text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, character %d", line, column)
}

// attrOf writes a JSON pointer as a dotted path.
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

// printableName makes a sender's own field name safe to repeat: it escapes
// invisible and control characters and truncates long names.
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
