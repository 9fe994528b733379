package rules

import "unicode/utf8"

// AppendName starts a member of an object: a comma unless it is the first
// member, the name and a colon.
//
// Responses are written by appending to a byte slice: in a fixed order and
// without reflection.
func AppendName(dst []byte, name string) []byte {
	return append(AppendString(AppendComma(dst), name), ':')
}

// AppendComma writes a comma unless dst ends with the start of an object or
// list.
func AppendComma(dst []byte) []byte {
	if last := len(dst) - 1; last < 0 || dst[last] == '{' || dst[last] == '[' {
		return dst
	}
	return append(dst, ',')
}

// AppendText writes a string member.
func AppendText(dst []byte, name, value string) []byte {
	return AppendString(AppendName(dst, name), value)
}

// AppendString writes a JSON string. It also escapes the characters that are
// special in HTML, so that a response that is shown in a page by mistake does no
// harm. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		if unescaped[text[i]] {
			i++
			continue
		}
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[i:])
		}
		if needsNoEscape(c) && (c != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = appendEscape(append(dst, text[from:i]...), c)
		i += size
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}

// unescaped marks the ASCII letters that need no escape.
var unescaped = func() (letters [256]bool) {
	for c := range rune(utf8.RuneSelf) {
		letters[c] = needsNoEscape(c)
	}
	return letters
}()

func needsNoEscape(c rune) bool {
	return c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0x2028 && c != 0x2029
}

func appendEscape(dst []byte, c rune) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', byte(c))
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[c>>12&15], hex[c>>8&15], hex[c>>4&15], hex[c&15])
}
