package operate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"landfall/internal/api/rules"
	"landfall/internal/lib/spelling"
)

// The maximum lengths of an operator's texts, in characters.
const (
	maxNameLength   = 128
	maxReasonLength = 500
	maxRootLength   = 1024
)

// checkLine refuses a text that people cannot see, tell apart or retype: one
// that is blank or too long, begins or ends with a blank, or contains invisible
// characters.
func checkLine(attr, what, text string, longest int) error {
	count := utf8.RuneCountInString(text)
	switch {
	case strings.TrimSpace(text) == "":
		return invalid(attr, rules.CodeBlank, "%s must not be blank.", what)
	case count > longest:
		return invalid(attr, rules.CodeMaxLength, "%s has %d characters; at most %d are allowed.", what, count, longest)
	case strings.TrimSpace(text) != text:
		return invalid(attr, rules.CodeInvalidCharacters, "%s must not begin or end with a space.", what)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return invalid(attr, rules.CodeInvalidCharacters, "%s must not contain control or invisible characters.", what)
	}
	return nil
}

// suggestion names the known words that may have been meant, and the command
// that lists them all.
func suggestion(word string, known []string, listing string) string {
	return strings.TrimSpace(spelling.Hint(word, known) + " List them with: " + listing)
}
