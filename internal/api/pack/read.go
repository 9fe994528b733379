package pack

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/lib/limits"
	"landfall/internal/lib/spelling"
	"landfall/internal/lib/yamltree"
)

// Read reads a pack and reports all its mistakes as Problems. It cannot know the
// objects of Landfall; contract.NewSchema checks what refers to them.
func Read(text []byte) (*Pack, error) {
	if len(text) > limits.PackBytes {
		return nil, Problems{{Line: 1, Text: fmt.Sprintf("a pack may have at most %d bytes", limits.PackBytes)}}
	}
	root, err := yamltree.Read(bytes.NewReader(text))
	if err != nil {
		return nil, Problems{{Line: 1, Text: err.Error()}}
	}
	r := &reader{pack: new(Pack)}
	r.root(root)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
		return nil, r.problems
	}
	return r.pack, nil
}

// reader collects the parts of a pack and its mistakes.
type reader struct {
	pack     *Pack
	fields   int
	problems Problems
}

func (r *reader) wrongf(line int, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{line, fmt.Sprintf(format, args...)})
	}
}

func (r *reader) members(node *yamltree.Node, what string, allowed []string, visit func(name string, node *yamltree.Node)) {
	if node.Kind != yamltree.Mapping {
		r.wrongf(node.Line, "%s must be a mapping", what)
		return
	}
	for _, member := range node.Members {
		if allowed != nil && !slices.Contains(allowed, member.Name) {
			r.wrongf(member.Line, "%s cannot have %q.%s", what, member.Name, hint(member.Name, allowed))
			continue
		}
		visit(member.Name, member.Node)
	}
}

func hint(name string, known []string) string {
	if text := spelling.Hint(name, known); text != "" {
		return " " + text
	}
	return ""
}

func (r *reader) root(node *yamltree.Node) {
	r.members(node, "a pack", []string{"pack", "version", "description", "add", "objects", "rules"}, func(name string, value *yamltree.Node) {
		switch name {
		case "pack":
			if r.pack.Code = r.text(value, name); !validCode(r.pack.Code) {
				r.wrongf(value.Line, "the code of a pack has at most 32 lower-case letters, digits and hyphens, and starts with a letter")
			}
		case "version":
			r.pack.Version = int(r.integer(value, name, 1, 1_000_000))
		case "description":
			r.pack.Description = r.text(value, name)
		case "add":
			r.pack.Added = r.objects(value, "add", false)
		case "objects":
			r.pack.Objects = r.objects(value, "objects", true)
		case "rules":
			r.rules(value)
		}
	})
	for _, needed := range []string{"pack", "version"} {
		if node.Kind == yamltree.Mapping && node.Find(needed) == nil {
			r.wrongf(1, "%s is missing", needed)
		}
	}
	r.references()
}

func validCode(text string) bool {
	return codePattern.MatchString(text)
}

var (
	codePattern   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	fieldPattern  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	objectPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)
)

// objects reads the objects of add, which are mappings of fields, or of objects,
// which also have a description.
func (r *reader) objects(node *yamltree.Node, what string, own bool) []Object {
	var list []Object
	r.members(node, what, nil, func(name string, value *yamltree.Node) {
		object := Object{Name: name, Line: value.Line}
		switch {
		case !objectPattern.MatchString(name):
			r.wrongf(value.Line, "the name of an object starts with a capital letter and has letters and digits only, such as MeterPoint; %q does not", name)
		case own:
			r.members(value, name, []string{"description", "open", "fields"}, func(key string, value *yamltree.Node) {
				switch key {
				case "description":
					object.Description = r.text(value, key)
				case "open":
					object.Open = r.boolean(value, key)
				case "fields":
					object.Fields = r.fieldList(value, name)
				}
			})
		default:
			object.Fields = r.fieldList(value, name)
		}
		if list = append(list, object); len(list) == limits.PackObjects+1 {
			r.wrongf(value.Line, "a pack may have at most %d objects", limits.PackObjects)
		}
	})
	return list
}

func (r *reader) fieldList(node *yamltree.Node, object string) []Field {
	var list []Field
	r.members(node, object, nil, func(name string, value *yamltree.Node) {
		if !fieldPattern.MatchString(name) {
			r.wrongf(value.Line, "the name of a field starts with a lower-case letter and has lower-case letters, digits and underscores only; %q does not", name)
			return
		}
		list = append(list, r.field(name, value))
		if r.fields++; r.fields == limits.PackFields+1 {
			r.wrongf(value.Line, "a pack may have at most %d fields", limits.PackFields)
		}
	})
	return list
}

var fieldKeys = []string{"type", "required", "choices", "pattern", "min", "max", "digits", "places", "deprecated", "description"}

// field reads one field: a type, or a mapping that also says more.
func (r *reader) field(name string, node *yamltree.Node) Field {
	field := Field{Name: name, Line: node.Line}
	if node.Kind == yamltree.Scalar {
		field.Type = r.typ(node.Line, node.Text)
		r.complete(node.Line, name, &field.Type)
		return field
	}
	if kind := node.Find("type"); node.Kind == yamltree.Mapping && kind != nil {
		field.Type = r.typ(kind.Line, r.text(kind, "type"))
	}
	scalar := &field.Type
	if scalar.Kind == List {
		scalar = scalar.Item
	}
	if field.Type.Kind == Integer {
		field.Type.Min, field.Type.Max = -limits.PackInteger, limits.PackInteger
	}
	r.members(node, name, fieldKeys, func(key string, value *yamltree.Node) {
		switch key {
		case "required":
			field.Required, field.Requiring = r.boolean(value, key), true
		case "choices":
			scalar.Choices = r.choices(value, name)
		case "pattern":
			scalar.Pattern = r.pattern(value)
		case "min":
			field.Type.Min = r.integer(value, key, -1e15, 1e15)
		case "max":
			field.Type.Max = r.integer(value, key, -1e15, 1e15)
		case "digits":
			scalar.Digits = int(r.integer(value, key, 1, 12))
		case "places":
			scalar.Places = int(r.integer(value, key, 0, 10))
		case "deprecated":
			if field.Deprecated = r.text(value, key); field.Deprecated == "true" {
				field.Deprecated = "still accepted"
			}
		case "description":
			field.Description = r.text(value, key)
		}
	})
	r.limitsOf(node, name, &field.Type)
	r.complete(node.Line, name, &field.Type)
	return field
}

// limitsOf checks that the limits of a field suit its type.
func (r *reader) limitsOf(node *yamltree.Node, name string, typ *Type) {
	scalar := typ
	if typ.Kind == List {
		scalar = typ.Item
	}
	allowed := func(key string, ok bool, where string) {
		if value := node.Find(key); value != nil && !ok {
			r.wrongf(value.Line, "%s: %s is only for %s", name, key, where)
		}
	}
	if node.Kind != yamltree.Mapping {
		return
	}
	counted := typ.Kind == Integer || typ.Kind == List
	allowed("min", counted, "integers and lists")
	allowed("max", counted, "integers and lists")
	allowed("digits", scalar.Kind == Decimal, "decimals")
	allowed("places", scalar.Kind == Decimal, "decimals")
	allowed("choices", scalar.Kind == Choice, "type: choice")
	allowed("pattern", scalar.Kind == Line || scalar.Kind == Text, "lines and texts")
}

// complete fills in what a type leaves out.
func (r *reader) complete(line int, name string, typ *Type) {
	switch typ.Kind {
	case Text:
		typ.Size = orElse(typ.Size, limits.PackText)
	case Line:
		typ.Size = orElse(typ.Size, limits.PackLine)
	case Choice:
		if len(typ.Choices) == 0 {
			r.wrongf(line, "%s: a choice needs choices, such as choices: [YES, NO]", name)
		}
	case Integer:
		if typ.Min == 0 && typ.Max == 0 { // in a list, or without limits
			typ.Min, typ.Max = -limits.PackInteger, limits.PackInteger
		}
		r.ordered(line, name, typ)
	case Decimal:
		if typ.Digits == 0 && typ.Places > 0 {
			typ.Digits = 12
		} else if typ.Digits > 0 && typ.Places == 0 {
			typ.Places = 10
		}
	case List:
		if typ.Max == 0 {
			typ.Max = limits.PackItems
		}
		r.ordered(line, name, typ)
		if typ.Min < 0 || typ.Max > limits.PackItems {
			r.wrongf(line, "%s: a list has from 0 to %d items", name, limits.PackItems)
		}
		r.complete(line, name, typ.Item)
	}
}

func orElse(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}

func (r *reader) ordered(line int, name string, typ *Type) {
	if typ.Min > typ.Max {
		r.wrongf(line, "%s: min is greater than max", name)
	}
}

// typ reads a type such as "text 255", "list of MeterPoint" or "date".
func (r *reader) typ(line int, text string) Type {
	if item, is := strings.CutPrefix(text, "list of "); is {
		inner := r.typ(line, item)
		if inner.Kind == List {
			r.wrongf(line, "a list cannot contain lists; use an object with a list")
		}
		return Type{Kind: List, Item: &inner}
	}
	word, size, sized := strings.Cut(text, " ")
	switch {
	case objectPattern.MatchString(word) && !sized:
		return Type{Kind: Named, Object: word}
	case !slices.Contains(kinds, word):
		r.wrongf(line, "unknown type %q. A type is one of %s, list of …, or the name of an object.%s", text, strings.Join(kinds, ", "), hint(word, kinds))
		return Type{Kind: Any}
	}
	typ := Type{Kind: Kind(word)}
	if sized {
		number, err := strconv.Atoi(size)
		if err != nil || number < 1 || number > limits.PackText || typ.Kind != Text && typ.Kind != Line {
			r.wrongf(line, "%q is not a type. Only text and line have a length, from 1 to %d, such as line 255", text, limits.PackText)
		}
		typ.Size = number
	}
	return typ
}

func (r *reader) choices(node *yamltree.Node, name string) []string {
	list := r.texts(node, "choices")
	if len(list) > limits.PackChoices {
		r.wrongf(node.Line, "%s: at most %d choices are allowed", name, limits.PackChoices)
		return nil
	}
	known := make(map[string]bool, len(list))
	for _, choice := range list {
		switch {
		case choice == "" || len(choice) > limits.PackLine:
			r.wrongf(node.Line, "%s: a choice has from 1 to %d bytes; the empty text means that an optional field is left out", name, limits.PackLine)
		case known[choice]:
			r.wrongf(node.Line, "%s: the choice %s is given twice", name, choice)
		}
		known[choice] = true
	}
	return list
}

// pattern accepts what package regexp compiles: it matches in linear time.
func (r *reader) pattern(node *yamltree.Node) string {
	text := r.text(node, "pattern")
	if len(text) > maxPattern {
		r.wrongf(node.Line, "a pattern may have at most %d bytes", maxPattern)
		return ""
	}
	if _, err := regexp.Compile(text); err != nil {
		r.wrongf(node.Line, "the pattern cannot be read: %v", err)
		return ""
	}
	return text
}

func (r *reader) text(node *yamltree.Node, what string) string {
	if node.Kind != yamltree.Scalar {
		r.wrongf(node.Line, "%s must be a text", what)
	}
	return node.Text
}

func (r *reader) texts(node *yamltree.Node, what string) []string {
	if node.Kind != yamltree.List {
		r.wrongf(node.Line, "%s must be a list", what)
		return nil
	}
	list := make([]string, 0, len(node.Items))
	for _, item := range node.Items {
		list = append(list, r.text(item, what))
	}
	return list
}

func (r *reader) boolean(node *yamltree.Node, what string) bool {
	if node.Kind != yamltree.Scalar || node.Text != "true" && node.Text != "false" {
		r.wrongf(node.Line, "%s must be true or false", what)
	}
	return node.Text == "true"
}

func (r *reader) integer(node *yamltree.Node, what string, least, most int64) int64 {
	number, err := strconv.ParseInt(node.Text, 10, 64)
	if node.Kind != yamltree.Scalar || err != nil || number < least || number > most {
		r.wrongf(node.Line, "%s must be a whole number from %d to %d", what, least, most)
	}
	return number
}
