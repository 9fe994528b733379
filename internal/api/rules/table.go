// Package rules turns a declared table into everything that must agree about a
// payload: how it is read, its violations and their paths, its JSON Schema and
// its documentation.
package rules

import "landfall/internal/lib/money"

// Table declares the fields of a JSON object. Other fields are refused.
type Table struct {
	Name   string // used in the JSON Schema and the documentation
	Doc    string
	Fields []Field
	// Open accepts fields that are not declared. They are kept unchecked, like
	// AnyJSON.
	Open bool

	index       map[string]int
	lookup      *nameIndex // same as index, but faster; nil if the names have no perfect hash
	required    []int      // indexes of the required fields
	names       []string
	quotedNames []quotedName
	typ         Type // of the object itself
}

// Field declares one member of an object.
type Field struct {
	Name     string
	Type     Type
	Required bool
	Old      bool // deprecated, but still accepted
	Doc      string
}

// MaxFields is how many fields an object may declare. manyFields is how many of
// them a node counts in its bits.
const (
	MaxFields  = 255
	manyFields = 64
)

// NewTable declares an object. It panics if a name is declared twice.
func NewTable(name, doc string, fields ...Field) *Table {
	table := &Table{Name: name, Doc: doc, Fields: fields, index: make(map[string]int, len(fields))}
	if len(fields) > MaxFields {
		panic("rules: " + name + " has more fields than an object's reader counts")
	}
	for i, field := range fields {
		if _, twice := table.index[field.Name]; twice {
			panic("rules: " + name + "." + field.Name + " declared twice")
		}
		table.index[field.Name] = i
		table.names = append(table.names, field.Name)
		table.quotedNames = append(table.quotedNames, newQuotedName(field.Name))
		if field.Required {
			table.required = append(table.required, i)
		}
	}
	table.typ = Object(table)
	table.lookup = newNameIndex(table.names)
	return table
}

// find returns the index of a field, or -1.
func (t *Table) find(name string) int {
	if t.lookup == nil {
		if i, known := t.index[name]; known {
			return i
		}
		return -1
	}
	i := int(t.lookup.slots[t.lookup.slot(name)]) - 1
	if i >= 0 && t.names[i] != name {
		return -1
	}
	return i
}

// Required declares a required field.
func Required(name string, typ Type, doc string) Field { return Field{name, typ, true, false, doc} }

// Optional declares an optional field. Absent and null mean the same.
func Optional(name string, typ Type, doc string) Field { return Field{name, typ, false, false, doc} }

// Shape is the kind of JSON value a Type reads.
type Shape uint8

// The shapes.
const (
	ShapeText Shape = iota + 1
	ShapeBoolean
	ShapeInteger
	ShapeAmount   // money: up to three decimals, number or string
	ShapeDecimal  // up to ten decimals, number or string
	ShapeDate     // YYYY-MM-DD
	ShapeDatetime // RFC 3339 with a time zone
	ShapeObject   // this one and those below may have parts
	ShapeList
	ShapeAny // any JSON, kept unchanged
)

// Type declares how one value is read. Use the functions below to create one.
type Type struct {
	Shape     Shape
	Max       int      // characters of a string, items of a list; 0 means no limit
	Min       int      // items of a list; 1 for a string that must not be blank
	Multiline bool     // the string may contain tab, line feed and carriage return
	Low, High int64    // of an integer, inclusive
	Digits    int      // of a decimal before the decimal point; 0 means the usual limit
	Places    int      // of a decimal after the decimal point, if Digits is set
	Choices   []string // the allowed strings, if limited
	Format    *Format  // an additional check of a string
	Table     *Table   // of an object
	Item      *Type    // of a list
	Object    bool     // any JSON must be an object
	Decimals  bool     // the members of any object must be decimals
	Or        *Type    // an object that may be given instead of a string
}

// Format is a named check of a string with its own code.
type Format struct {
	Name    string // such as "email"; also the schema's format if there is no Pattern
	Code    string
	Detail  string // message of a failure
	Pattern string // for the JSON Schema; "" if no pattern can express the check
	Check   func(text string) bool
	// Controls makes control characters fail this format, with its code. U+0000 is
	// invalid_characters everywhere.
	Controls bool
	// Integers accepts a JSON integer and reads its digits as the string.
	Integers bool
	// NonEmpty makes an empty required value fail with this format's code instead of
	// blank.
	NonEmpty bool
}

// Text is a string of at most the given length. It may be empty and contain line
// breaks.
func Text(most int) Type { return Type{Shape: ShapeText, Max: most, Multiline: true} }

// Line is a string without line breaks. It may be empty.
func Line(most int) Type { return Type{Shape: ShapeText, Max: most} }

// NonEmpty is a Line that must not be empty.
func NonEmpty(most int) Type { return Type{Shape: ShapeText, Max: most, Min: 1} }

// free reports whether an empty string is a value like any other.
func (typ *Type) free() bool {
	return typ.Shape == ShapeText && typ.Choices == nil && typ.Format == nil
}

// Formatted is a string that must pass a named check.
func Formatted(most int, format *Format) Type {
	return Type{Shape: ShapeText, Max: most, Min: 1, Format: format}
}

// OrEmpty allows a formatted string or a choice to be "" even if it is required.
func OrEmpty(typ Type) Type {
	typ.Min = 0
	return typ
}

// Choice is one of a fixed set of strings.
func Choice(choices ...string) Type { return Type{Shape: ShapeText, Min: 1, Choices: choices} }

// ChoiceOr is one of a fixed set of strings, or an object.
func ChoiceOr(table *Table, choices ...string) Type {
	typ, object := Choice(choices...), Object(table)
	typ.Or = &object
	return typ
}

// Boolean is true or false.
func Boolean() Type { return Type{Shape: ShapeBoolean} }

// Integer is a whole number from low to high, inclusive.
func Integer(low, high int64) Type { return Type{Shape: ShapeInteger, Low: low, High: high} }

// Amount is money with at most three decimals; the currency decides.
func Amount() Type { return Type{Shape: ShapeAmount} }

// Sum is a sum of money with at most 18 digits before the point and three decimals.
func Sum() Type { return Type{Shape: ShapeAmount, Digits: money.MaxSumDigits} }

// Decimal is an exact number with at most ten decimals.
func Decimal() Type { return Type{Shape: ShapeDecimal} }

// DecimalOf is an exact number with at most the given digits before and after
// the decimal point.
func DecimalOf(digits, places int) Type {
	return Type{Shape: ShapeDecimal, Digits: digits, Places: places}
}

// Date is a calendar day.
func Date() Type { return Type{Shape: ShapeDate} }

// Datetime is an instant with a time zone.
func Datetime() Type { return Type{Shape: ShapeDatetime} }

// Object is a nested object.
func Object(table *Table) Type { return Type{Shape: ShapeObject, Table: table} }

// List is an array with a minimum and maximum number of items.
func List(least, most int, item Type) Type {
	return Type{Shape: ShapeList, Min: least, Max: most, Item: &item}
}

// AnyJSON is any value, kept unchanged.
func AnyJSON() Type { return Type{Shape: ShapeAny} }

// AnyObject is any JSON object, kept unchanged.
func AnyObject() Type { return Type{Shape: ShapeAny, Object: true} }

// Decimals is an object with any names, whose values are exact numbers with at most ten
// decimals. It is kept unchanged.
func Decimals() Type { return Type{Shape: ShapeAny, Object: true, Decimals: true} }
