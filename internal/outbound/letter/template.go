package letter

import (
	"bytes"
	"errors"
	"fmt"
	html "html/template"
	"reflect"
	"slices"
	"strings"
	text "text/template"
	"text/template/parse"
	"unicode/utf8"
)

// Templates are written by operators, but a mistake in one must not cost memory.
const (
	longestTemplate = 128 << 10 // of a file
	longestBody     = 256 << 10 // of what comes out of it
	longestSubject  = 200       // characters
)

// template is one kind of letter in one language.
type template struct {
	language string
	subject  *text.Template
	plain    *text.Template
	rich     *html.Template
}

// parts are the files of a template.
var parts = []string{"subject.txt", "body.txt", "body.html"}

// newTemplate reads the texts of a template and tries it, with a name and
// without. What it does is bounded by its form: no loop within a loop, nothing
// that calls itself, no function that makes texts of any length.
func newTemplate(language string, files map[string]string) (*template, error) {
	made := &template{language: language}
	for _, part := range parts {
		content, there := files[part]
		if !there {
			return nil, fmt.Errorf("%s is missing", part)
		}
		if !utf8.ValidString(content) || strings.ContainsRune(content, 0) {
			return nil, fmt.Errorf("%s is not UTF-8 text", part)
		}
		if len(content) > longestTemplate {
			return nil, fmt.Errorf("%s is longer than %d bytes", part, longestTemplate)
		}
		// The HTML is parsed as plain text first: what is allowed is judged by the
		// form of a template, which is the same in both.
		parsed, err := text.New(part).Parse(content)
		if err == nil {
			err = allowed(parsed)
		}
		if err != nil {
			return nil, fault(part, err)
		}
		switch part {
		case "subject.txt":
			made.subject = parsed
		case "body.txt":
			made.plain = parsed
		default:
			if made.rich, err = html.New(part).Parse(content); err != nil {
				return nil, fault(part, err)
			}
		}
	}
	known := Fields{
		Name: "Ada Lovelace", Names: []string{"Ada Lovelace"}, AccountNumber: "A-7K3M9Q2B", FormerAccountNumber: "1001",
		Supplier: "Acme", SupplierCode: "ACME", MovedOn: "2026-03-01", ReplyTo: "help@example.com", Language: language,
	}
	unknown := known
	unknown.Name, unknown.Names = "", nil
	for _, fields := range []Fields{known, unknown} {
		if _, err := made.fill(fields); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// fault says which part is wrong, and why in the words of the template engine.
func fault(part string, err error) error {
	words := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "html/"), "template:")
	return fmt.Errorf("%s: %s", part, strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(words), part), ": "))
}

// filled is a letter before it is put into an envelope.
type filled struct {
	subject, plain, rich string
}

// fill puts the fields in.
func (t *template) fill(fields Fields) (filled, error) {
	var subject, plain, rich bounded
	for part, run := range map[string]func() error{
		"subject.txt": func() error { return t.subject.Execute(&subject, fields) },
		"body.txt":    func() error { return t.plain.Execute(&plain, fields) },
		"body.html":   func() error { return t.rich.Execute(&rich, fields) },
	} {
		if err := run(); err != nil {
			return filled{}, fault(part, err)
		}
	}
	line := oneLine(subject.String())
	switch count := utf8.RuneCountInString(line); {
	case line == "":
		return filled{}, errors.New("subject.txt gives an empty subject")
	case count > longestSubject:
		// A long name must not keep a letter from being sent, so that the subject
		// is cut and not refused.
		line = string([]rune(line)[:longestSubject-1]) + "…"
	}
	if strings.TrimSpace(plain.String()) == "" {
		return filled{}, errors.New("body.txt gives an empty text")
	}
	return filled{line, plain.String(), rich.String()}, nil
}

// bounded takes a body and no more.
type bounded struct{ bytes.Buffer }

// Write ends a template that never would, such as a loop that grows.
func (b *bounded) Write(part []byte) (int, error) {
	if b.Len()+len(part) > longestBody {
		return 0, fmt.Errorf("it becomes longer than %d bytes", longestBody)
	}
	return b.Buffer.Write(part)
}

// functions are those of the template language that a letter needs.
var functions = []string{"and", "or", "not", "eq", "ne", "len", "html", "urlquery"}

// allowed refuses what a letter does not need: unknown fields, which would be
// found when the first customer is written to, and whatever could run for ever.
func allowed(made *text.Template) error {
	for _, defined := range made.Templates() {
		if defined.Name() != made.Name() {
			return fmt.Errorf("it defines %q: a letter is one template", defined.Name())
		}
	}
	if made.Tree == nil || made.Root == nil {
		return errors.New("it is empty")
	}
	return place{}.inspect(made.Root)
}

// place is where in a template something stands.
type place struct {
	inner   bool // within range or with, where the dot is something else
	looping bool
}

// inspect walks through a template when it is loaded. What is executed is only what
// is known here: a mistake found while sending would leave customers unwritten to.
func (p place) inspect(node parse.Node) error {
	switch node := node.(type) {
	case *parse.ListNode:
		return p.inspectAll(node)
	case *parse.ActionNode:
		return p.inspect(node.Pipe)
	case *parse.IfNode:
		return p.branch(&node.BranchNode, p)
	case *parse.WithNode:
		return p.branch(&node.BranchNode, place{inner: true, looping: p.looping})
	case *parse.RangeNode:
		if over := node.Pipe.Cmds[0].String(); p.looping || over != ".Names" && over != "$.Names" {
			return errors.New("range goes over .Names, and not within another range")
		}
		return p.branch(&node.BranchNode, place{inner: true, looping: true})
	case *parse.PipeNode:
		return p.pipe(node)
	case *parse.FieldNode:
		if p.inner {
			return fmt.Errorf("within range and with a field is written with a dollar: $.%s", node.Ident[0])
		}
		return knownField(node.Ident)
	case *parse.VariableNode:
		if len(node.Ident) > 1 && node.Ident[0] == "$" {
			return knownField(node.Ident[1:])
		} else if len(node.Ident) > 1 {
			return fmt.Errorf("%s is a text and has no fields", node.Ident[0])
		}
	case *parse.IdentifierNode:
		if !slices.Contains(functions, node.Ident) {
			return fmt.Errorf("function %s is not for letters; there are %s", node.Ident, strings.Join(functions, ", "))
		}
	case *parse.TemplateNode, *parse.ChainNode:
		return fmt.Errorf("%s is too clever for a letter", node)
	}
	return nil
}

// inspectAll takes an absent list, such as that of an if without else, for empty.
func (p place) inspectAll(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		if err := p.inspect(node); err != nil {
			return err
		}
	}
	return nil
}

// pipe looks at what is handed from one function to the next.
func (p place) pipe(pipe *parse.PipeNode) error {
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			if err := p.inspect(argument); err != nil {
				return err
			}
		}
	}
	return nil
}

// branch looks at a node with a body; what stands behind else is outside.
func (p place) branch(node *parse.BranchNode, within place) error {
	return errors.Join(p.pipe(node.Pipe), within.inspectAll(node.List), p.inspectAll(node.ElseList))
}

// knownField names all fields there are, since the mistake is nearly always one in
// spelling.
func knownField(path []string) error {
	if _, known := reflect.TypeFor[Fields]().FieldByName(path[0]); !known || len(path) > 1 {
		return fmt.Errorf("there is no field .%s; there are %s", strings.Join(path, "."), strings.Join(FieldNames(), ", "))
	}
	return nil
}

// FieldNames lists what a template can say, as it is written there.
func FieldNames() []string {
	var names []string
	for field := range reflect.TypeFor[Fields]().Fields() {
		names = append(names, "."+field.Name)
	}
	return names
}
