package mail

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

	"landfall/internal/lib/limits"
)

// Operators write templates, but a mistake in one must not exhaust memory.
const (
	maxSubjectLength = 200 // characters
)

// mailTemplate is a message in one language.
type mailTemplate struct {
	language string
	subject  *text.Template
	plain    *text.Template
	html     *html.Template
}

var templateFiles = []string{"subject.txt", "body.txt", "body.html"}

// parseTemplate parses a template and executes it with and without a customer's
// name and old number. Only templates with bounded work are accepted: no nested loops, no
// recursion, no functions that produce text of any length.
func parseTemplate(language string, files map[string]string) (*mailTemplate, error) {
	template := &mailTemplate{language: language}
	for _, name := range templateFiles {
		source, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("%s is missing", name)
		}
		if !utf8.ValidString(source) || strings.ContainsRune(source, 0) {
			return nil, fmt.Errorf("%s is not UTF-8 text", name)
		}
		if len(source) > limits.MailTemplate {
			return nil, fmt.Errorf("%s is longer than %d bytes", name, limits.MailTemplate)
		}
		// The HTML is parsed as plain text first: the check needs only the structure,
		// which is the same in both.
		parsed, err := text.New(name).Parse(source)
		if err == nil {
			err = checkTemplate(parsed)
		}
		if err != nil {
			return nil, templateError(name, err)
		}
		switch name {
		case "subject.txt":
			template.subject = parsed
		case "body.txt":
			template.plain = parsed
		default:
			if template.html, err = html.New(name).Parse(source); err != nil {
				return nil, templateError(name, err)
			}
		}
	}
	withName := Fields{
		Name: "Ada Lovelace", Names: []string{"Ada Lovelace"}, AccountNumber: "A-7K3M9Q2B", FormerAccountNumber: "1001",
		Supplier: "Acme", SupplierCode: "ACME", MovedOn: "2026-03-01", ReplyTo: "help@example.com", Language: language,
	}
	withoutName := withName
	withoutName.Name, withoutName.Names, withoutName.FormerAccountNumber = "", nil, ""
	for _, fields := range []Fields{withName, withoutName} {
		if _, err := template.execute(fields); err != nil {
			return nil, err
		}
	}
	return template, nil
}

// templateError adds the file name to an error of the template engine and removes
// the engine's own prefix.
func templateError(name string, err error) error {
	detail := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "html/"), "template:")
	return fmt.Errorf("%s: %s", name, strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(detail), name), ": "))
}

// rendered is an executed template.
type rendered struct {
	subject, plain, html string
}

func (t *mailTemplate) execute(fields Fields) (rendered, error) {
	var subject, plain, rich limitedBuffer
	for name, run := range map[string]func() error{
		"subject.txt": func() error { return t.subject.Execute(&subject, fields) },
		"body.txt":    func() error { return t.plain.Execute(&plain, fields) },
		"body.html":   func() error { return t.html.Execute(&rich, fields) },
	} {
		if err := run(); err != nil {
			return rendered{}, templateError(name, err)
		}
	}
	line := singleLine(subject.String())
	switch count := utf8.RuneCountInString(line); {
	case line == "":
		return rendered{}, errors.New("subject.txt gives an empty subject")
	case count > maxSubjectLength:
		// Cut a long subject instead of refusing it: a long name must not prevent the
		// mail.
		line = string([]rune(line)[:maxSubjectLength-1]) + "…"
	}
	if strings.TrimSpace(plain.String()) == "" {
		return rendered{}, errors.New("body.txt gives an empty text")
	}
	return rendered{line, plain.String(), rich.String()}, nil
}

// limitedBuffer fails once it holds limits.MailBody bytes, which stops a template whose
// output grows without bound.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(data []byte) (int, error) {
	if b.Len()+len(data) > limits.MailBody {
		return 0, fmt.Errorf("the result is longer than %d bytes", limits.MailBody)
	}
	return b.Buffer.Write(data)
}

// functions lists the functions that templates may call.
var functions = []string{"and", "or", "not", "eq", "ne", "len", "html", "urlquery"}

// checkTemplate refuses unknown fields, which would otherwise fail only when the
// first mail is sent, and everything that could run without bound.
func checkTemplate(parsed *text.Template) error {
	for _, defined := range parsed.Templates() {
		if defined.Name() != parsed.Name() {
			return fmt.Errorf("it defines %q, but must be one template", defined.Name())
		}
	}
	if parsed.Tree == nil || parsed.Root == nil {
		return errors.New("it is empty")
	}
	return scope{}.check(parsed.Root)
}

// scope is the context of a node in a template.
type scope struct {
	dotChanged bool // inside range or with, where the dot has another meaning
	inLoop     bool
}

// check walks the tree when a template is loaded, so that a mistake is found before
// any mail is sent.
func (s scope) check(node parse.Node) error {
	switch node := node.(type) {
	case *parse.ListNode:
		return s.checkList(node)
	case *parse.ActionNode:
		return s.check(node.Pipe)
	case *parse.IfNode:
		return s.checkBranch(&node.BranchNode, s)
	case *parse.WithNode:
		return s.checkBranch(&node.BranchNode, scope{dotChanged: true, inLoop: s.inLoop})
	case *parse.RangeNode:
		if over := node.Pipe.Cmds[0].String(); s.inLoop || over != ".Names" && over != "$.Names" {
			return errors.New("range works only on .Names, and not within another range")
		}
		return s.checkBranch(&node.BranchNode, scope{dotChanged: true, inLoop: true})
	case *parse.PipeNode:
		return s.checkPipe(node)
	case *parse.FieldNode:
		if s.dotChanged {
			return fmt.Errorf("inside range and with, write fields with a dollar sign: $.%s", node.Ident[0])
		}
		return checkField(node.Ident)
	case *parse.VariableNode:
		if len(node.Ident) > 1 && node.Ident[0] == "$" {
			return checkField(node.Ident[1:])
		} else if len(node.Ident) > 1 {
			return fmt.Errorf("%s is text and has no fields", node.Ident[0])
		}
	case *parse.IdentifierNode:
		if !slices.Contains(functions, node.Ident) {
			return fmt.Errorf("function %s is not available; use %s", node.Ident, strings.Join(functions, ", "))
		}
	case *parse.TemplateNode, *parse.ChainNode:
		return fmt.Errorf("%s is not supported in mail templates", node)
	}
	return nil
}

// checkList accepts nil, which is the else list of an if without else.
func (s scope) checkList(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		if err := s.check(node); err != nil {
			return err
		}
	}
	return nil
}

func (s scope) checkPipe(pipe *parse.PipeNode) error {
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			if err := s.check(argument); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkBranch checks an if, with or range. Its else list belongs to the outer scope.
func (s scope) checkBranch(node *parse.BranchNode, inner scope) error {
	return errors.Join(s.checkPipe(node.Pipe), inner.checkList(node.List), s.checkList(node.ElseList))
}

// checkField lists all fields in its error, because the mistake is usually a typo.
func checkField(path []string) error {
	if _, known := reflect.TypeFor[Fields]().FieldByName(path[0]); !known || len(path) > 1 {
		return fmt.Errorf("there is no field .%s; the fields are %s", strings.Join(path, "."), strings.Join(fieldNames(), ", "))
	}
	return nil
}

func fieldNames() []string {
	var names []string
	for field := range reflect.TypeFor[Fields]().Fields() {
		names = append(names, "."+field.Name)
	}
	return names
}
