package convert

import (
	"fmt"
	"slices"
	"strings"

	"landfall/internal/lib/spelling"
	"landfall/internal/lib/yamltree"
)

// MapError lists everything that is wrong with a map, with line numbers.
type MapError struct {
	Path  string
	Wrong []string
}

// Error returns one mistake per line.
func (e *MapError) Error() string { return strings.Join(e.Wrong, "\n") }

// mapReader reads a map and collects its mistakes, so that all are reported at once.
type mapReader struct {
	path  string
	wrong []mapMistake
}

// mapMistake is a mistake and its line.
type mapMistake struct {
	line int
	text string
}

// maxMistakes limits how many mistakes are reported.
const maxMistakes = 100

// errorf records a mistake in the format of compilers, so that editors can jump to it.
func (m *mapReader) errorf(line int, format string, args ...any) {
	one := mapMistake{line, fmt.Sprintf("%s:%d: ", m.path, line) + fmt.Sprintf(format, args...)}
	if len(m.wrong) < maxMistakes && !slices.Contains(m.wrong, one) { // duplicates come from a fill that several places share
		m.wrong = append(m.wrong, one)
	}
}

// err returns all mistakes in the order of the file.
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

// unknown reports an unknown name and suggests a known one.
func (m *mapReader) unknown(line int, what, name, where string, known []string) {
	hint := spelling.Hint(name, known)
	// A long list of names would not help.
	if hint == "" && len(known) <= 20 {
		hint = "There are " + strings.Join(known, ", ") + "."
	}
	if where != "" {
		where = " in " + where
	}
	if hint != "" {
		hint = " " + hint
	}
	m.errorf(line, "there is no %s %s%s.%s", what, name, where, hint)
}

// group checks that a node has only known members.
func (m *mapReader) group(node *yamltree.Node, what string, known ...string) bool {
	if node.Kind != yamltree.Mapping {
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

// text reads a plain text; "" if it is missing.
func (m *mapReader) text(of *yamltree.Node, name string) (text string, line int) {
	node := of.Find(name)
	// A name without a value counts as missing.
	if node == nil || node.Kind == yamltree.Null {
		return "", of.Line
	}
	if node.Kind != yamltree.Scalar {
		m.errorf(node.Line, "%s must be a plain text", name)
		return "", node.Line
	}
	return node.Text, node.Line
}

// flag reads a boolean.
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

// texts reads one text or a list of texts.
func (m *mapReader) texts(node *yamltree.Node, what string) (list []string) {
	if node == nil {
		return nil
	}
	switch node.Kind {
	case yamltree.Scalar:
		return []string{node.Text}
	case yamltree.List:
		for _, item := range node.Items {
			if item.Kind == yamltree.Mapping || item.Kind == yamltree.List {
				m.errorf(item.Line, "%s must be plain texts", what)
				continue
			}
			list = append(list, item.Text)
		}
	case yamltree.Mapping:
		m.errorf(node.Line, "%s must be a text or a list of texts", what)
	}
	return list
}

// word reads one of a few words.
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

// letter reads one ASCII character, or the name of one.
func (m *mapReader) letter(of *yamltree.Node, name string, usual byte, names map[string]byte) byte {
	node := of.Find(name)
	if node == nil {
		return usual
	}
	// An empty text can be a name too: it means no grouping.
	text, line := m.text(of, name)
	if c, known := names[strings.ToLower(text)]; known {
		return c
	}
	if text == chooseMark {
		m.errorf(line, "%s says %s: decide what it is", name, chooseMark)
		return usual
	}
	// A line end cannot separate fields.
	if len(text) != 1 || text[0] >= 0x80 || text[0] == '\n' || text[0] == '\r' {
		m.errorf(line, "%s must be one character", name)
		return usual
	}
	return text[0]
}

// undecided reports everything that a suggested map leaves open, wherever it is. Lines with a mistake were reported
// already. what is the name of the value.
func (m *mapReader) undecided(node *yamltree.Node, what string) {
	reported := slices.ContainsFunc(m.wrong, func(one mapMistake) bool { return one.line == node.Line })
	if node.Kind == yamltree.Scalar && strings.TrimPrefix(node.Text, "=") == chooseMark && !reported {
		m.errorf(node.Line, "%s says %s: decide what it is", what, chooseMark)
	}
	for _, item := range node.Items {
		m.undecided(item, what)
	}
	for _, member := range node.Members {
		m.undecided(member.Node, member.Name)
	}
}
