package contract

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/api/rules"
)

// PackValue is the value of a field of a pack in an account.
type PackValue struct {
	Attr     string
	Label    string // the name of the field, in words
	Doc      string // its description in the pack
	Value    string
	Personal bool
}

// PackValues lists the values of the fields of packs in an account, in the order of the
// tables, at most so many. It reports how many more there are.
func (s *Schema) PackValues(document []byte, most int) (values []PackValue, more int) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var account map[string]any
	if decoder.Decode(&account) != nil {
		return nil, 0
	}
	c := valueCollector{schema: s, most: most}
	c.object(s.account, account, "", false)
	return c.values, c.more
}

type valueCollector struct {
	schema *Schema
	most   int
	values []PackValue
	more   int
}

// object adds the fields of packs at or below an object.
func (c *valueCollector) object(table *rules.Table, object map[string]any, attr string, personal bool) {
	for i := range table.Fields {
		field := &table.Fields[i]
		if value, given := object[field.Name]; given && value != nil {
			c.value(field, &field.Type, value, attr+field.Name, c.schema.fields[table][field.Name], personal || isPersonal(table, field.Name))
		}
	}
}

// value adds a value of a field, or what is inside it.
func (c *valueCollector) value(field *rules.Field, typ *rules.Type, value any, attr string, own, personal bool) {
	switch inner := value.(type) {
	case []any:
		if typ.Shape == rules.ShapeList {
			for i, item := range inner {
				c.value(field, typ.Item, item, attr+"."+strconv.Itoa(i), own, personal)
			}
			return
		}
	case map[string]any:
		if typ.Table != nil {
			if c.schema.holds[typ.Table] {
				c.object(typ.Table, inner, attr+".", personal)
			}
			return
		}
	}
	if !own {
		return
	}
	if len(c.values) == c.most {
		c.more++
		return
	}
	text, isText := value.(string)
	if !isText {
		written, _ := json.Marshal(value) //nolint:errchkjson // it was just read
		text = string(written)
	}
	free := typ.Shape == rules.ShapeAny || typ.Shape == rules.ShapeText && typ.Choices == nil && typ.Format != codeText.Format
	c.values = append(c.values, PackValue{attr, inWords(field.Name), field.Doc, text, personal || free})
}

// personalWords are in the names of fields about health and hardship.
var personalWords = []string{"birth", "deceased", "hardship", "life_support", "psr"}

// isPersonal reports whether a field, or everything in it, is about a person.
func isPersonal(table *rules.Table, name string) bool {
	return table.Name == customerTable.Name || name == "customers" || slices.ContainsFunc(personalWords, func(word string) bool { return strings.Contains(name, word) })
}

// inWords turns a name such as credit_score into Credit score.
func inWords(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}
