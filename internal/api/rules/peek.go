package rules

import (
	"bytes"
	"iter"
)

// Peek returns two string members of the outermost object, for callers that must
// know which account a body is about before reading it. It stops as soon as it
// has both and does not validate the rest. If it does not find them, reading the
// body fails later.
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
			one, has[0] = StringValue(body[at:end])
		case nameEquals(name, second):
			two, has[1] = StringValue(body[at:end])
		}
		if has[0] && has[1] {
			return one, two, true
		}
		at = end
	}
	return "", "", false
}

// AppendReplaced appends an object that was validated before, with another value
// for one of its members. Members that are null are left out. The others are
// copied as they are, which is much faster than reading them.
func AppendReplaced(dst, object []byte, name, value string) []byte {
	if hasMember(object, name, value) && !bytes.Contains(object, []byte("null")) {
		return append(dst, object...)
	}
	dst = append(dst, '{')
	for quoted, text := range quotedMembers(object) {
		if string(text) == "null" {
			continue
		}
		dst = append(append(AppendComma(dst), quoted...), ':')
		if nameEquals(quoted, name) {
			dst = append(dst, value...)
			continue
		}
		dst = append(dst, text...)
	}
	return append(dst, '}')
}

// hasMember reports whether an object has a member with a value in this spelling.
func hasMember(object []byte, name, value string) bool {
	for quoted, text := range quotedMembers(object) {
		if nameEquals(quoted, name) {
			return string(text) == value
		}
	}
	return false
}

// Members iterates over the members of an object that was validated before. The
// values are parts of the object. Of anything else it yields nothing.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for quoted, value := range quotedMembers(object) {
			if name, _ := StringValue(quoted); !yield(name, value) {
				return
			}
		}
	}
}

// quotedMembers iterates over the members with their names in quotes.
func quotedMembers(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		at := skipBlanks(object, 0)
		if at >= len(object) || object[at] != '{' {
			return
		}
		for at++; at < len(object); {
			switch at = skipBlanks(object, at); {
			case at < len(object) && object[at] == ',':
				at++
				continue
			case at >= len(object) || object[at] != '"':
				return
			}
			end := skipString(object, at)
			if end < 0 {
				return
			}
			quoted := object[at:end]
			at = skipBlanks(object, skipBlanks(object, end)+1) // after the colon
			if end = skipJSON(object, at); end < 0 || !yield(quoted, bytes.TrimRight(object[at:end], " \t\r\n")) {
				return
			}
			at = end
		}
	}
}

// Items iterates over the items of a list that was validated before. They are
// parts of the list. Of anything else it yields nothing.
func Items(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		at := skipBlanks(list, 0)
		if at >= len(list) || list[at] != '[' {
			return
		}
		for at++; at < len(list); {
			switch at = skipBlanks(list, at); {
			case at < len(list) && list[at] == ',':
				at++
				continue
			case at >= len(list) || list[at] == ']':
				return
			}
			end := skipJSON(list, at)
			if end <= at || !yield(bytes.TrimRight(list[at:end], " \t\r\n")) {
				return
			}
			at = end
		}
	}
}

// skipBlanks returns the position of the next byte that is not white space.
func skipBlanks(body []byte, at int) int {
	for at < len(body) && (body[at] == ' ' || body[at] == '\t' || body[at] == '\n' || body[at] == '\r') {
		at++
	}
	return at
}

// skipString returns the position after a string, or -1.
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

// skipJSON returns the position after a value, or -1. It may accept invalid
// JSON, which is refused later.
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
				return at // end of the object that contains a number or literal
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

// nameEquals reports whether a quoted string equals word, including escaped
// spellings.
func nameEquals(raw []byte, word string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == word
	}
	return unescape(string(raw)) == word
}

// StringValue returns the text of a value that is a string, or an integer where the
// reader accepts one for a string.
func StringValue(raw []byte) (string, bool) {
	if len(raw) > 0 && isInteger(string(raw)) {
		return string(raw), true // as the reader accepts it
	}
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return unescape(string(raw)), true
}
