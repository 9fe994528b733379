package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// codeLabel writes a code in words: SUPPLY_CHARGE is "Supply charge".
func codeLabel(code any) string {
	words := strings.TrimSpace(strings.ReplaceAll(strings.ToLower(fmt.Sprint(code)), "_", " "))
	first, size := utf8.DecodeRuneInString(words)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + words[size:]
}
