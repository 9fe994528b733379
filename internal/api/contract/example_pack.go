package contract

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
)

// Example returns an account in which every field of the packs is filled, with as
// few others as possible. It passes the rules of the packs.
func (s *Schema) Example() []byte {
	var out strings.Builder
	s.fillObject(&out, s.account)
	return []byte(out.String())
}

// exampleValues are the values of fields that an example must have.
var exampleValues = map[string]string{
	"import_supplier": `"` + exampleSupplier + `"`, "external_account_number": `"` + exampleExternal + `"`, "family_name": `"Example"`,
}

func (s *Schema) fillObject(out *strings.Builder, table *rules.Table) {
	out.WriteByte('{')
	first := true
	for i := range table.Fields {
		field := &table.Fields[i]
		own := s.fields[table][field.Name]
		inner := tableOf(&field.Type)
		if !own && !field.Required && (inner == nil || !s.holds[inner]) && (table.Name != customerTable.Name || field.Name != "family_name") || s.excluded(table, field.Name) {
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.WriteString(strconv.Quote(field.Name) + ":")
		if value, fixed := exampleValues[field.Name]; fixed {
			out.WriteString(value)
			continue
		}
		s.fillValue(out, &field.Type)
	}
	out.WriteByte('}')
}

// excluded reports whether a rule allows another field instead of this one.
func (s *Schema) excluded(table *rules.Table, field string) bool {
	checks := s.checks[table]
	return checks != nil && slices.ContainsFunc(checks.rules, func(rule *pack.Rule) bool {
		return rule.Kind == pack.Exclusive && slices.Index(rule.Fields, field) > 0
	})
}

func (s *Schema) fillValue(out *strings.Builder, typ *rules.Type) {
	switch typ.Shape {
	case rules.ShapeObject:
		s.fillObject(out, typ.Table)
	case rules.ShapeList:
		if inner := tableOf(typ); inner != nil && !s.holds[inner] {
			out.WriteString("[]") // a documented object that no pack adds to
			return
		}
		out.WriteByte('[')
		s.fillValue(out, typ.Item)
		out.WriteByte(']')
	default:
		out.WriteString(exampleOf(typ))
	}
}

// exampleOf returns a value that a type accepts, as JSON.
func exampleOf(typ *rules.Type) string {
	switch typ.Shape {
	case rules.ShapeText:
		text, _ := json.Marshal(exampleText(typ)) //nolint:errchkjson // a string can always be written
		return string(text)
	case rules.ShapeBoolean:
		return "true"
	case rules.ShapeInteger:
		return strconv.FormatInt(min(max(1, typ.Low), typ.High), 10)
	case rules.ShapeAmount:
		return `"12.34"`
	case rules.ShapeDecimal:
		if typ.Digits > 0 && typ.Places == 0 {
			return `"1"`
		}
		return `"1.5"`
	case rules.ShapeDate:
		return `"2026-01-15"`
	case rules.ShapeDatetime:
		return `"2026-01-15T09:30:00Z"`
	}
	if typ.Decimals {
		return `{"peak":"0.31"}`
	}
	return `{"kept":"unchanged"}`
}

// exampleText prefers the last choice: it is one that a pack has added.
func exampleText(typ *rules.Type) string {
	if typ.Choices != nil {
		return typ.Choices[len(typ.Choices)-1]
	}
	candidates := []string{"Example", "ABCD", "1234", "09:30", "ada@fields.invalid", "020 7946 0018", "GB", "en", "A", "1"}
	if typ.Max > 0 && typ.Max < len(candidates[0]) {
		candidates[0] = candidates[0][:typ.Max]
	}
	for _, text := range candidates {
		fits := typ.Max == 0 || len(text) <= typ.Max
		if typ.Format == nil && fits || typ.Format != nil && fits && typ.Format.Check(text) && matches(typ.Format.Pattern, text) {
			return text
		}
	}
	return ""
}

func matches(pattern, text string) bool {
	return pattern == "" || regexp.MustCompile(pattern).MatchString(text)
}
