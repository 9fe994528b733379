// Package outline reads YAML that people write by hand: settings and maps. It
// gives a tree in which every value knows its line, so that a mistake can be
// shown where it stands, and refuses what people write by mistake or in
// malice: a name that comes twice, a text that contains itself, one that grows
// when it is unfolded.
package yamltree

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is what a node is.
type Kind uint8

// The kinds.
const (
	Null   Kind = iota // left empty, or null
	Scalar             // a plain value, as it was written
	List
	Mapping // named members
)

// Node is one value of an outline.
type Node struct {
	Kind    Kind
	Line    int
	Text    string   // of a text
	Quoted  bool     // whether the text stood in quotes
	Items   []*Node  // of a list
	Members []Member // of a group, in the order they were written
}

// Member is a named part of a group.
type Member struct {
	Name string
	Line int // of the name
	Node *Node
}

// Find gives a member by its name, or nil.
func (n *Node) Find(name string) *Node {
	for _, member := range n.Members {
		if member.Name == name {
			return member.Node
		}
	}
	return nil
}

// maxValues is how many values an outline may have once everything that is said by
// reference is written out. Nobody writes as many by hand.
const maxValues = 200_000

// Read reads one outline. A text without anything in it gives a node of kind
// Nothing.
func Read(from io.Reader) (*Node, error) {
	decoder := yaml.NewDecoder(from)
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return &Node{Line: 1}, nil
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	// What stands behind a line of dashes would be left out without a word.
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds more than one document")
	}
	r := reader{open: map[*yaml.Node]bool{}}
	return r.read(document.Content[0])
}

// reader turns the library's nodes into ours.
type reader struct {
	open map[*yaml.Node]bool // those we are inside of
	seen int
}

// read counts what it writes out, so that references to references end at a bound
// and not with the memory.
func (r *reader) read(from *yaml.Node) (*Node, error) {
	if r.seen++; r.seen > maxValues {
		return nil, fmt.Errorf("line %d: it has more than %d values once its references are written out", from.Line, maxValues)
	}
	if from.Kind == yaml.AliasNode {
		return r.read(from.Alias)
	}
	if r.open[from] {
		return nil, fmt.Errorf("line %d: it contains itself", from.Line)
	}
	r.open[from] = true
	defer delete(r.open, from)
	node := &Node{Line: from.Line}
	switch from.Kind {
	case yaml.ScalarNode:
		if from.ShortTag() != "!!null" {
			node.Kind, node.Text, node.Quoted = Scalar, from.Value, from.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
		}
	case yaml.SequenceNode:
		node.Kind = List
		for _, item := range from.Content {
			read, err := r.read(item)
			if err != nil {
				return nil, err
			}
			node.Items = append(node.Items, read)
		}
	case yaml.MappingNode:
		node.Kind = Mapping
		return node, r.members(node, from)
	}
	return node, nil
}

// members refuses a name that comes twice: of two settings only one would count,
// and people look at the other.
func (r *reader) members(node *Node, from *yaml.Node) error {
	lines := map[string]int{}
	for i := 0; i+1 < len(from.Content); i += 2 {
		name := from.Content[i]
		if name.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a name must be a plain text", name.Line)
		}
		if first := lines[name.Value]; first > 0 {
			return fmt.Errorf("line %d: %s stands in line %d already", name.Line, name.Value, first)
		}
		lines[name.Value] = name.Line
		read, err := r.read(from.Content[i+1])
		if err != nil {
			return err
		}
		node.Members = append(node.Members, Member{name.Value, name.Line, read})
	}
	return nil
}
