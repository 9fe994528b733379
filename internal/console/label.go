package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// actorName is the name of a person in the audit, as colleagues call them: "ada",
// or "ada via command line".
func actorName(actor string) string {
	kind, name, is := strings.Cut(actor, ":")
	switch {
	case is && kind == "operator":
		return name
	case is && kind == "shell":
		return name + " via command line"
	}
	return actor
}

// codeLabel writes a code in words: SUPPLY_CHARGE is "Supply charge".
func codeLabel(code any) string {
	words := strings.TrimSpace(strings.ReplaceAll(strings.ToLower(fmt.Sprint(code)), "_", " "))
	first, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + words[size:]
}
