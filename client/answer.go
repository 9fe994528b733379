package client

import "bytes"

// parseAnswer reads an answer that is spelt as servers spell it, without looking
// into its body: whoever wants to know that reads it, and to do so twice was most of
// what a long call cost its caller. Any other spelling is for encoding/json.
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

// leadingNumber reads the digits that a text begins with. So many that they would not
// fit are left where they are.
func leadingNumber(text []byte) (number int, rest []byte) {
	const most = 15
	at := 0
	for at < min(len(text), most) && '0' <= text[at] && text[at] <= '9' {
		number = 10*number + int(text[at]-'0')
		at++
	}
	return number, text[at:]
}

// endOfBody is where the object or list ends that a text begins with, or 0.
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
			// To the end of the string: what is escaped in it does not end it.
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
