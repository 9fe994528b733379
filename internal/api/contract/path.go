package contract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidPath reports whether text is a document path that cannot leave the
// supplier's document root, whatever the object store or file system makes of
// it. A leading slash is allowed and ignored. The rules apply to the path as
// sent and after each percent-decoding.
func ValidPath(text string) bool {
	if len(text) > maxPathBytes {
		return false
	}
	for range maxDecodings {
		if !plainPath(text) {
			return false
		}
		decoded := percentDecoded(text)
		if decoded == text {
			return true
		}
		text = decoded
	}
	return false
}

// maxDecodings is how often a path may be percent-encoded. Real paths are
// encoded at most twice.
const maxDecodings = 4

// plainPath reports whether a path is relative and unambiguous in every file
// store.
func plainPath(text string) bool {
	text = strings.TrimPrefix(text, "/")
	if hasScheme(text) || strings.HasPrefix(text, "~") {
		return false
	}
	for _, r := range text {
		if r < utf8.RuneSelf {
			// Most paths are ASCII; the Unicode tables are slow.
			if r < ' ' || r == '\\' || r == 0x7f {
				return false
			}
			continue
		}
		if r == '＼' || r == '／' || r == unicode.ReplacementChar || isInvisible(r) {
			return false
		}
	}
	for segment := range strings.SplitSeq(text, "/") {
		if !plainSegment(segment) {
			return false
		}
	}
	return true
}

// plainSegment refuses empty segments and those that end with a dot: . and ..,
// and names that some file systems shorten to them or to another name. Dots of
// other scripts count, because some stores convert them.
func plainSegment(segment string) bool {
	trimmed := strings.TrimSpace(segment)
	if trimmed == "" {
		return false
	}
	if last := trimmed[len(trimmed)-1]; last < utf8.RuneSelf {
		return last != '.'
	}
	for _, dot := range []string{"．", "․", "‥", "…", "﹒", "。", "｡"} {
		if strings.HasSuffix(trimmed, dot) {
			return false
		}
	}
	return true
}

// hasScheme reports whether text starts with a scheme or drive, such as s3:,
// file: or C:.
func hasScheme(text string) bool {
	head, _, found := strings.Cut(text, ":")
	if !found || head == "" || (head[0]|0x20 < 'a' || head[0]|0x20 > 'z') {
		return false
	}
	return asciiToken(head, "+.-")
}

// percentDecoded decodes every well-formed %XX once and keeps other percent
// signs.
func percentDecoded(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	decoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && hexDigit(text[i+1]) >= 0 && hexDigit(text[i+2]) >= 0 {
			decoded = append(decoded, byte(hexDigit(text[i+1])<<4|hexDigit(text[i+2]))) //nolint:gosec // two digits are one byte
			i += 2
			continue
		}
		decoded = append(decoded, text[i])
	}
	return string(decoded)
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
