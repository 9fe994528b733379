// Package rules turns a declared table into everything that must agree about a
// payload: how it is read, what is wrong with it and where, its JSON Schema,
// and its documentation.
package rules

// Table declares the fields of one JSON object. Fields outside it are refused.
type Table struct {
	Name   string // as the JSON Schema and the documentation call it
	Doc    string
	Fields []Field

	index       map[string]int
	lookup      *nameIndex // of the same; nil for names that have none
	required    []int      // the fields that must be there
	names       []string
	quotedNames []quotedName
	typ         Type // of the object itself
}

// Field declares one member of an object.
type Field struct {
	Name     string
	Type     Type
	Required bool
	Doc      string
}

// NewTable declares an object. A name declared twice is a mistake of ours.
func NewTable(name, doc string, fields ...Field) *Table {
	table := &Table{Name: name, Doc: doc, Fields: fields, index: make(map[string]int, len(fields))}
	if len(fields) > 64 {
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

// find gives the index of a field, or -1.
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

// Required declares a required field, May an optional one.
func Required(name string, typ Type, doc string) Field { return Field{name, typ, true, doc} }

// Optional declares an optional field: absent and null mean the same.
func Optional(name string, typ Type, doc string) Field { return Field{name, typ, false, doc} }

// Shape is what kind of JSON value a Type reads.
type Shape uint8

// The shapes.
const (
	ShapeText Shape = iota + 1
	ShapeBoolean
	ShapeInteger
	ShapeAmount   // money: two decimals, number or string
	ShapeDecimal  // up to ten decimals, number or string
	ShapeDate     // YYYY-MM-DD
	ShapeDatetime // RFC 3339 with a zone
	ShapeObject   // this one and those after it may have parts
	ShapeList
	ShapeAny // any JSON, kept untouched
)

// Type declares how one value is read. Build it with the functions below.
type Type struct {
	Shape     Shape
	Max       int      // characters of a text, items of a list; 0 means no limit of its own
	Min       int      // items of a list; 1 for a text that may not be blank
	Multiline bool     // a free text: it may hold tab, line feed and carriage return
	Low, High int64    // of an integer, inclusive
	Choices   []string // the allowed texts, when closed
	Format    *Format  // a named check of a text
	Table     *Table   // of an object
	Item      *Type    // of a list
}

// Format is a named check of a text, with its own code.
type Format struct {
	Name    string // "email"; also the schema's format when it has no Pattern
	Code    string
	Detail  string // the sentence shown when it fails
	Pattern string // for the JSON Schema; "" when no pattern says it
	Check   func(text string) bool
	// Controls says that control characters are one more way to fail this
	// format, with its code. U+0000 is invalid_characters everywhere.
	Controls bool
	// Filled says that a required value may not be empty, which fails with this
	// format's code instead of blank.
	NonEmpty bool
}

// Text is a free text of at most so many characters, on several lines if need
// be; it may be empty.
func Text(most int) Type { return Type{Shape: ShapeText, Max: most, Multiline: true} }

// Line is a text on one line, such as a number that has letters in it.
func Line(most int) Type { return Type{Shape: ShapeText, Max: most} }

// NonEmpty is a line of one to so many characters.
func NonEmpty(most int) Type { return Type{Shape: ShapeText, Max: most, Min: 1} }

// free reports whether an empty text is a value like any other.
func (typ *Type) free() bool {
	return typ.Shape == ShapeText && typ.Choices == nil && typ.Format == nil
}

// Formatted is a text that must pass a named check.
func Formatted(most int, format *Format) Type {
	return Type{Shape: ShapeText, Max: most, Min: 1, Format: format}
}

// OrEmpty lets a formatted text or a choice be "" even where it is required.
func OrEmpty(typ Type) Type {
	typ.Min = 0
	return typ
}

// Choice is one of a closed set of texts.
func Choice(choices ...string) Type { return Type{Shape: ShapeText, Min: 1, Choices: choices} }

// Boolean is true or false.
func Boolean() Type { return Type{Shape: ShapeBoolean} }

// Integer is a whole number from low to high.
func Integer(low, high int64) Type { return Type{Shape: ShapeInteger, Low: low, High: high} }

// Amount is money with at most two decimals.
func Amount() Type { return Type{Shape: ShapeAmount} }

// Decimal is an exact number with at most ten decimals.
func Decimal() Type { return Type{Shape: ShapeDecimal} }

// Date is a calendar day.
func Date() Type { return Type{Shape: ShapeDate} }

// Datetime is an instant with a zone.
func Datetime() Type { return Type{Shape: ShapeDatetime} }

// Object is a nested object.
func Object(table *Table) Type { return Type{Shape: ShapeObject, Table: table} }

// List is an array of so few to so many items.
func List(least, most int, item Type) Type {
	return Type{Shape: ShapeList, Min: least, Max: most, Item: &item}
}

// AnyJSON is any value, kept as it was sent.
func AnyJSON() Type { return Type{Shape: ShapeAny} }
