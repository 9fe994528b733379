// Package yamltree reads YAML written by hand, such as settings and conversion
// maps. Every value knows its line, so that errors can point at it. It refuses
// duplicate names, documents that contain themselves, and documents that expand
// too much.
package yamltree

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds.
const (
	Null   Kind = iota // left empty, or null
	Scalar             // a plain value, as it was written
	List
	Mapping // named members
)

// Node is one value.
type Node struct {
	Kind    Kind
	Line    int
	Text    string   // of a scalar
	Quoted  bool     // whether the scalar was quoted
	Items   []*Node  // of a list
	Members []Member // of a mapping, in order
}

// Member is a named part of a mapping.
type Member struct {
	Name string
	Line int // of the name
	Node *Node
}

// Find returns a member by name, or nil.
func (n *Node) Find(name string) *Node {
	for _, member := range n.Members {
		if member.Name == name {
			return member.Node
		}
	}
	return nil
}

// maxValues limits the number of values after expanding aliases.
const maxValues = 200_000

// Read reads one document. An empty one returns a node of kind Null.
func Read(from io.Reader) (*Node, error) {
	decoder := yaml.NewDecoder(from)
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return &Node{Line: 1}, nil
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	// A second document would be ignored silently.
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it contains more than one document")
	}
	r := reader{open: map[*yaml.Node]bool{}}
	return r.read(document.Content[0])
}

// reader converts the library's nodes.
type reader struct {
	open map[*yaml.Node]bool // nodes being read
	seen int
}

// read counts values, so that nested aliases cannot exhaust memory.
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

// members refuses duplicate names: only one of two settings would apply, and
// people may look at the other.
func (r *reader) members(node *Node, from *yaml.Node) error {
	lines := map[string]int{}
	for i := 0; i+1 < len(from.Content); i += 2 {
		name := from.Content[i]
		if name.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a name must be plain text", name.Line)
		}
		if first := lines[name.Value]; first > 0 {
			return fmt.Errorf("line %d: %s is already in line %d", name.Line, name.Value, first)
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
