package rules

// quotedName is a field name as programs write it: in quotes and followed by a
// colon.
type quotedName struct {
	head, mask uint64 // up to eight leading bytes
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

// matches reports whether text starts with the name and continues after it. Most
// names that do not match differ in the first eight bytes.
func (l *quotedName) matches(text string, head uint64) bool {
	return head&l.mask == l.head && len(text) > len(l.text) && text[:len(l.text)] == l.text
}

// nameLookahead is how many names expectName compares.
const nameLookahead = 8

// expectName reads a field name if it is one of the next few names of the table
// and returns its index. Senders usually keep the declared order and leave some
// fields out. This avoids searching the end of the name and looking it up. If
// the name is another one, expectName returns -1 and reads nothing.
func (t *lexer) expectName(labels []quotedName, from int) int {
	if t.kind != '"' { // always true with the decoder
		return -1
	}
	rest := t.text[t.next:]
	if len(rest) < 8 {
		return -1
	}
	head := loadWord(rest, 0)
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
