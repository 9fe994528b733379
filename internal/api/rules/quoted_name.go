package rules

// quotedName is a name as programs write it: in quotes, and the colon behind it.
type quotedName struct {
	head, mask uint64 // its first eight bytes, as far as it has them
	text       string
}

func newQuotedName(name string) quotedName {
	l := quotedName{text: `"` + name + `":`}
	for i := range min(8, len(l.text)) {
		l.head |= uint64(l.text[i]) << (8 * i)
		l.mask |= 0xff << (8 * i)
	}
	return l
}

// matches reports whether a text begins with the label and goes on behind it.
// Most that do not differ in their first eight bytes.
func (l *quotedName) matches(text string, head uint64) bool {
	return head&l.mask == l.head && len(text) > len(l.text) && text[:len(l.text)] == l.text
}

// nameLookahead is how many names are compared.
const nameLookahead = 8

// expectName reads the name of a member when it is one of the few that are expected
// from a place on, and tells which. Senders mostly keep to the declared order and
// leave some out, and then nobody has to look for the end of the name or for its
// place. What it does not know is -1, and left as it is.
func (t *lexer) expectName(labels []quotedName, from int) int {
	if t.kind != '"' { // the decoder never says so
		return -1
	}
	rest := t.text[t.next:]
	if len(rest) < 8 {
		return -1
	}
	head := word(rest, 0)
	for i := from; i < min(from+nameLookahead, len(labels)); i++ {
		l := &labels[i]
		if !l.matches(rest, head) {
			continue
		}
		kind := kinds[rest[len(l.text)]]
		if kind == 0 || kind == '}' || kind == ']' {
			return -1
		}
		t.next += len(l.text)
		t.at, t.kind, t.expect = t.next-1, kind, colon
		return i
	}
	return -1
}
