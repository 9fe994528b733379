package convert

import (
	"fmt"
	"slices"
	"strings"

	"landfall/internal/lib/spelling"
	"landfall/internal/lib/yamltree"
)

// MapError says everything that is wrong with a map, each with its line.
type MapError struct {
	Path  string
	Wrong []string
}

// Error gives every mistake on a line of its own.
func (e *MapError) Error() string { return strings.Join(e.Wrong, "\n") }

// mapReader reads a map and gathers what is wrong with it, so that whoever
// wrote it need not find that out one mistake at a time.
type mapReader struct {
	path  string
	wrong []mapMistake
}

// mapMistake is one thing wrong with a map, and where it stands.
type mapMistake struct {
	line int
	text string
}

// maxMistakes is how many mistakes are told at once.
const maxMistakes = 100

// errorf keeps a mistake with its place, as compilers do, so that editors
// find it.
func (m *mapReader) errorf(line int, format string, args ...any) {
	one := mapMistake{line, fmt.Sprintf("%s:%d: ", m.path, line) + fmt.Sprintf(format, args...)}
	if len(m.wrong) < maxMistakes && !slices.Contains(m.wrong, one) { // a fill that several places share
		m.wrong = append(m.wrong, one)
	}
}

// err gives all of them in the order of the file, whatever the order in which
// they were found.
func (m *mapReader) err() error {
	if len(m.wrong) == 0 {
		return nil
	}
	slices.SortStableFunc(m.wrong, func(a, b mapMistake) int { return a.line - b.line })
	var texts []string
	for _, one := range m.wrong {
		texts = append(texts, one.text)
	}
	return &MapError{m.path, texts}
}

// unknown complains about a name that is none, with those that were meant.
func (m *mapReader) unknown(line int, what, name, where string, known []string) {
	hint := spelling.Hint(name, known)
	// Where nothing is near, a long list would help nobody either.
	if hint == "" && len(known) <= 20 {
		hint = "There are " + strings.Join(known, ", ") + "."
	}
	if where != "" {
		where = " in " + where
	}
	m.errorf(line, "there is no %s %s%s. %s", what, name, where, hint)
}

// group takes a node for named members, of which only some are known.
func (m *mapReader) group(node *yamltree.Node, what string, known ...string) bool {
	if node.Kind != yamltree.Group {
		m.errorf(node.Line, "%s must have members, such as %s: …", what, known[0])
		return false
	}
	for _, member := range node.Members {
		if !slices.Contains(known, member.Name) {
			m.unknown(member.Line, "setting", member.Name, what, known)
		}
	}
	return true
}

// text takes a member for a plain text; what is not there is "".
func (m *mapReader) text(of *yamltree.Node, name string) (text string, line int) {
	node := of.Find(name)
	// A name with nothing behind it counts as not said.
	if node == nil || node.Kind == yamltree.Nothing {
		return "", of.Line
	}
	if node.Kind != yamltree.Text {
		m.errorf(node.Line, "%s must be a plain text", name)
		return "", node.Line
	}
	return node.Text, node.Line
}

// flag takes a member for true or false.
func (m *mapReader) flag(of *yamltree.Node, name string) bool {
	text, line := m.text(of, name)
	switch text {
	case "true", "yes":
		return true
	case "", "false", "no":
		return false
	}
	m.errorf(line, "%s must be true or false", name)
	return false
}

// texts takes a node for one text or a list of them.
func (m *mapReader) texts(node *yamltree.Node, what string) (list []string) {
	if node == nil {
		return nil
	}
	switch node.Kind {
	case yamltree.Text:
		return []string{node.Text}
	case yamltree.List:
		for _, item := range node.Items {
			if item.Kind == yamltree.Group || item.Kind == yamltree.List {
				m.errorf(item.Line, "%s must be plain texts", what)
				continue
			}
			list = append(list, item.Text)
		}
	case yamltree.Group:
		m.errorf(node.Line, "%s must be a text or a list of texts", what)
	}
	return list
}

// word takes a member for one of a few.
func (m *mapReader) word(of *yamltree.Node, name, usual string, known []string) string {
	text, line := m.text(of, name)
	if text == "" {
		return usual
	}
	if !slices.Contains(known, strings.ToLower(text)) {
		m.unknown(line, name, text, "", known)
		return usual
	}
	return strings.ToLower(text)
}

// letter takes a member for one ASCII character, or for a name of one.
func (m *mapReader) letter(of *yamltree.Node, name string, usual byte, names map[string]byte) byte {
	node := of.Find(name)
	if node == nil {
		return usual
	}
	// An empty text can be a name too: it stands for no grouping. Whether the member
	// is there at all was asked before for that reason.
	text, line := m.text(of, name)
	if c, known := names[strings.ToLower(text)]; known {
		return c
	}
	// A line end between fields could not be told from one between rows.
	if len(text) != 1 || text[0] >= 0x80 || text[0] == '\n' || text[0] == '\r' {
		m.errorf(line, "%s must be one character", name)
		return usual
	}
	return text[0]
}
