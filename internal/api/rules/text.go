package rules

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Messages used by several rules.
const (
	detailRequired   = "This field is required."
	detailBlank      = "This field must not be blank."
	detailCharacters = "Must not contain control characters."
)

// typeDetails is the message for a value of the wrong JSON type.
var typeDetails = [...]string{
	ShapeText:     "Must be a string.",
	ShapeBoolean:  "Must be true or false.",
	ShapeInteger:  "Must be an integer without a fraction or exponent.",
	ShapeAmount:   "Must be a number or a string that contains a decimal number.",
	ShapeDecimal:  "Must be a number or a string that contains a decimal number.",
	ShapeDate:     "Must be a string with a date in the format YYYY-MM-DD.",
	ShapeDatetime: "Must be a string with a datetime in the format YYYY-MM-DDTHH:MM:SSZ.",
	ShapeObject:   "Must be an object.",
	ShapeList:     "Must be a list.",
}

// text checks a string and reports only its first violation.
func (r *reader) text(node *Node, kind jsontext.Kind) {
	typ := node.typ
	if kind != '"' && (kind != '0' || !typ.acceptsInteger() || !isInteger(node.plain())) {
		r.reject(node, CodeInvalidType, typeDetails[ShapeText])
		return
	}
	text := r.unquote(node)
	switch {
	case r.special && typ.Format != nil && typ.Format.Controls && !allowedCharacters(text, false) && strings.IndexByte(text, 0) < 0:
		r.reject(node, typ.Format.Code, typ.Format.Detail)
	case r.special && !allowedCharacters(text, typ.Multiline):
		r.reject(node, CodeInvalidCharacters, detailCharacters)
	case text == "":
		if typ.Min > 0 {
			r.reject(node, CodeBlank, detailBlank)
		}
	case typ.Max > 0 && len(text) > typ.Max && utf8.RuneCountInString(text) > typ.Max:
		r.reject(node, CodeMaxLength, "Must have at most "+plural(typ.Max, "character")+".")
	case typ.Choices != nil && !slices.Contains(typ.Choices, text):
		r.reject(node, CodeInvalidChoice, "Must be one of: "+strings.Join(typ.Choices, ", ")+".")
	case typ.Format != nil && !typ.Format.Check(text):
		r.reject(node, typ.Format.Code, typ.Format.Detail)
	}
}

// acceptsInteger reports whether a string may be written as a JSON integer. Exports
// write identifiers of digits that way, and no digit is lost.
func (typ *Type) acceptsInteger() bool {
	return !typ.Multiline && typ.Choices == nil && (typ.Format == nil || typ.Format.Integers)
}

// isInteger reports whether a JSON number has digits only.
func isInteger(raw string) bool {
	for i := range len(raw) {
		if raw[i] < '0' || raw[i] > '9' {
			return false
		}
	}
	return true
}

// unquote returns the contents of a string and records whether it has escapes.
func (r *reader) unquote(node *Node) string {
	raw := r.doc.text[node.start:node.end]
	switch {
	case raw[0] != '"':
		return raw
	case !r.special:
		return raw[1 : len(raw)-1]
	case strings.IndexByte(raw, '\\') >= 0:
		node.state |= isEscaped
	}
	return node.plain()
}

// unescape removes the quotes and escapes of a valid JSON string.
func unescape(raw string) string {
	text, _ := jsontext.AppendUnquote(nil, raw) // the decoder has checked it
	return string(text)
}

// allowedCharacters reports whether a string has no control characters. With
// multiline, tab, line feed and carriage return are allowed.
func allowedCharacters(text string, multiline bool) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\t', c == '\n', c == '\r':
			if !multiline {
				return false
			}
		case c < 0x20, c == 0x7f:
			return false
		case c == 0xc2 && text[i+1] < 0xa0: // U+0080 to U+009F
			return false
		}
	}
	return true
}

// plural writes "1 item", "2 items".
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
