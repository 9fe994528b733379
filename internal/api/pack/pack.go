// Package pack reads packs. A pack is a YAML file that declares fields which a
// market or a company adds to the account, to transactions, notes and
// statements, together with objects and simple rules of its own. Package
// contract adds the fields to its tables.
package pack

import (
	"fmt"
	"strconv"
	"strings"
)

// Pack is one version of a pack. A version never changes.
type Pack struct {
	Code        string
	Version     int
	Description string
	Added       []Object // fields for existing objects, by their name
	Objects     []Object // objects of the pack
	Rules       []Rule
}

// Name returns the code and version, such as gb-energy@1.
func (p *Pack) Name() string { return p.Code + "@" + strconv.Itoa(p.Version) }

// SplitName splits a name such as gb-energy@1.
func SplitName(name string) (code string, version int, err error) {
	code, number, found := strings.Cut(name, "@")
	version, wrong := strconv.Atoi(number)
	if !found || wrong != nil || version < 1 || !validCode(code) {
		return "", 0, fmt.Errorf("%q is not a pack: write the code and the version, such as gb-energy@1", name)
	}
	return code, version, nil
}

// Object is a named set of fields.
type Object struct {
	Name        string
	Description string
	Open        bool // undeclared fields are kept unchecked
	Fields      []Field
	Line        int
}

// Field declares one field. If the object has the field already, Type is zero or
// wider than that of the field.
type Field struct {
	Name        string
	Type        Type
	Required    bool
	Requiring   bool // the file says whether the field is required
	Deprecated  string
	Description string
	Line        int
}

// Doc is the description of a field with its deprecation.
func (f *Field) Doc() string {
	switch {
	case f.Deprecated == "":
		return f.Description
	case f.Description == "":
		return "Deprecated: " + f.Deprecated + "."
	}
	return f.Description + " Deprecated: " + f.Deprecated + "."
}

// Type is the declared type of a field.
type Type struct {
	Kind     Kind
	Size     int    // characters of a text or line
	Object   string // the object's name
	Choices  []string
	Pattern  string
	Min, Max int64 // of an integer, or the number of items of a list
	Digits   int   // of a decimal before the point; 0 means the usual limit
	Places   int
	Item     *Type // of a list
}

// Kind is the kind of value that a field takes.
type Kind string

// The kinds, as a file writes them. An object's name is also a type.
const (
	Text     Kind = "text" // may contain line breaks
	Line     Kind = "line"
	Code     Kind = "code"
	Choice   Kind = "choice"
	Boolean  Kind = "boolean"
	Integer  Kind = "integer"
	Decimal  Kind = "decimal"
	Money    Kind = "money"
	Date     Kind = "date"
	Datetime Kind = "datetime"
	Time     Kind = "time"
	Email    Kind = "email"
	Phone    Kind = "phone"
	Any      Kind = "any"
	AnyMap   Kind = "object"   // any JSON object
	Decimals Kind = "decimals" // an object of decimals, with any names
	List     Kind = "list"
	Named    Kind = "named" // an object of the pack or of Landfall
)

// kinds are the kinds that a file can write without "list of".
var kinds = []string{
	string(Text), string(Line), string(Code), string(Choice), string(Boolean), string(Integer), string(Decimal), string(Money), string(Date),
	string(Datetime), string(Time), string(Email), string(Phone), string(Any), string(AnyMap), string(Decimals),
}

// Rule is a cross-field rule of a pack.
type Rule struct {
	Code        string
	Kind        RuleKind
	Object      string   // the object it is about
	List        string   // a list of the object, for Unique
	Fields      []string // in the order of the file
	When, Is    string   // a field and, if set, the value for which RequiredWhen applies
	Severity    string   // error, warning or off
	Description string
	Line        int
}

// RuleKind says what a rule checks.
type RuleKind string

// The kinds of rules.
const (
	FromTo       RuleKind = "from_to"       // the first field must not be after the second
	Unique       RuleKind = "unique"        // no two items of a list have the same fields
	Together     RuleKind = "together"      // all fields or none
	OneOf        RuleKind = "one_of"        // at least one of the fields
	Exclusive    RuleKind = "exclusive"     // at most one of the fields
	RequiredWhen RuleKind = "required_when" // the fields are required if another one has a value
)

var ruleKinds = []string{string(FromTo), string(Unique), string(Together), string(OneOf), string(Exclusive), string(RequiredWhen)}

// Problem is a mistake in a pack.
type Problem struct {
	Line int
	Text string
}

// Problems lists the mistakes of a pack in the order of its lines.
type Problems []Problem //nolint:errname // a list that is also an error

// Error lists all problems.
func (p Problems) Error() string {
	var text strings.Builder
	for i, problem := range p {
		if i > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "line %d: %s", problem.Line, problem.Text)
	}
	return text.String()
}

// Limits of a pack, so that a hostile one cannot slow the service down.
const (
	maxPattern  = 256
	maxProblems = 100
)
