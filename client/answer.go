package client

import "bytes"

// parseAnswer parses an answer in the exact form that servers write, without parsing its body.
// Parsing the body twice was most of the cost of a long call. Any other form is left to
// encoding/json.
func parseAnswer(text []byte) (answer Answer, plain bool) {
	rest, plain := bytes.CutPrefix(text, []byte(`{"line":`))
	if !plain {
		return answer, false
	}
	answer.Line, rest = leadingNumber(rest)
	if rest, plain = bytes.CutPrefix(rest, []byte(`,"status":`)); !plain {
		return answer, false
	}
	answer.Status, rest = leadingNumber(rest)
	if rest, plain = bytes.CutPrefix(rest, []byte(`,"body":`)); !plain {
		return answer, false
	}
	end := endOfBody(rest)
	answer.Body = rest[:end:end]
	return answer, end > 0 && string(rest[end:]) == "}\n"
}

// leadingNumber reads the digits at the start of a text. Digits that would overflow are left in
// rest.
func leadingNumber(text []byte) (number int, rest []byte) {
	const most = 15
	at := 0
	for at < min(len(text), most) && '0' <= text[at] && text[at] <= '9' {
		number = 10*number + int(text[at]-'0')
		at++
	}
	return number, text[at:]
}

// endOfBody returns the end of the object or list at the start of a text, or 0.
func endOfBody(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			// Skip the string with its escapes.
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
		if depth == 0 {
			return 0 // neither an object nor a list
		}
	}
	return 0
}
