package rules

import "bytes"

// Peek gives the texts of two members of the outermost object, for those who
// must know whom a body is about before it is their turn to read it. It looks no
// further than it must, so it says nothing about the rest; where it finds no
// such text the body is refused by whoever reads it.
func Peek(body []byte, first, second string) (one, two string, found bool) {
	var has [2]bool
	at := skipBlanks(body, 0)
	if at >= len(body) || body[at] != '{' {
		return "", "", false
	}
	for at++; at < len(body); {
		switch at = skipBlanks(body, at); {
		case at >= len(body) || body[at] == '}':
			return "", "", false
		case body[at] == ',':
			at++
			continue
		case body[at] != '"':
			return "", "", false
		}
		end := skipString(body, at)
		if end < 0 {
			return "", "", false
		}
		name := body[at:end]
		at = skipBlanks(body, end)
		if at >= len(body) || body[at] != ':' {
			return "", "", false
		}
		at = skipBlanks(body, at+1)
		if end = skipJSON(body, at); end < 0 {
			return "", "", false
		}
		switch {
		case nameEquals(name, first):
			one, has[0] = stringValue(body[at:end])
		case nameEquals(name, second):
			two, has[1] = stringValue(body[at:end])
		}
		if has[0] && has[1] {
			return one, two, true
		}
		at = end
	}
	return "", "", false
}

// skipBlanks gives the place of the next byte that is not white space.
func skipBlanks(body []byte, at int) int {
	for at < len(body) && (body[at] == ' ' || body[at] == '\t' || body[at] == '\n' || body[at] == '\r') {
		at++
	}
	return at
}

// skipString gives the place behind a string, or -1.
func skipString(body []byte, at int) int {
	for end := at + 1; ; end++ {
		next := bytes.IndexByte(body[end:], '"')
		if next < 0 {
			return -1
		}
		end += next
		escapes := 0
		for body[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
}

// skipJSON gives the place behind a value, or -1. What is no JSON may be taken for
// something; it is refused later.
func skipJSON(body []byte, at int) int {
	depth := 0
	for at < len(body) {
		switch body[at] {
		case '"':
			if at = skipString(body, at); at < 0 {
				return -1
			}
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
			if depth < 0 {
				return at // of the object that a number or a word stands in
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return -1
}

// nameEquals reports whether a string, with its quotes, is a word, however it is
// escaped.
func nameEquals(raw []byte, word string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == word
	}
	return unescape(string(raw)) == word
}

func stringValue(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return unescape(string(raw)), true
}
