package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"landfall/internal/api/rules"
)

// Walk visits every field of the packs, once for each value that its type refuses:
// of another type, too long, out of range, or no choice. Fields that accept anything
// are left out.
func (s *Schema) Walk(visit func(path string, wrong json.RawMessage)) { s.walk("", s.account, visit) }

func (s *Schema) walk(prefix string, table *rules.Table, visit func(path string, wrong json.RawMessage)) {
	for i := range table.Fields {
		field := &table.Fields[i]
		path, typ := prefix+field.Name, &field.Type
		if s.fields[table][field.Name] && (typ.Shape != rules.ShapeAny || typ.Object) {
			wrong := `{"a":1}`
			if typ.Shape == rules.ShapeObject || typ.Shape == rules.ShapeAny {
				wrong = `"x"`
			}
			visit(path, json.RawMessage(wrong))
			for _, wrong := range wrongValues(typ) {
				visit(path, json.RawMessage(wrong))
			}
		}
		for typ.Shape == rules.ShapeList {
			path, typ = path+".0", typ.Item
		}
		if typ.Shape == rules.ShapeObject && s.holds[typ.Table] && !s.excluded(table, field.Name) {
			s.walk(path+".", typ.Table, visit)
		}
	}
}

// wrongValues are values of the right type that break a limit.
func wrongValues(typ *rules.Type) (wrong []string) {
	switch typ.Shape {
	case rules.ShapeText:
		switch {
		case typ.Choices != nil:
			wrong = append(wrong, `"NO_SUCH_CHOICE"`)
		case typ.Max > 0:
			wrong = append(wrong, strconv.Quote(strings.Repeat("x", typ.Max+1)))
		}
		if typ.Format != nil {
			wrong = append(wrong, `"(?)"`)
		}
	case rules.ShapeInteger:
		wrong = append(wrong, fmt.Sprint(typ.Low-1), fmt.Sprint(typ.High+1), `1.5`)
	case rules.ShapeDecimal, rules.ShapeAmount:
		if wrong = append(wrong, `"ten"`, `1`+strings.Repeat("0", 30)); typ.Digits > 0 {
			wrong = append(wrong, `"1`+strings.Repeat("0", typ.Digits)+`"`, `"0.`+strings.Repeat("0", typ.Places)+`1"`)
		}
	case rules.ShapeDate, rules.ShapeDatetime:
		wrong = append(wrong, `"2026-02-30"`)
	case rules.ShapeAny:
		if typ.Decimals {
			wrong = append(wrong, `{"peak":"ten"}`, `{"peak":true}`, `[1]`)
		}
	case rules.ShapeList:
		if typ.Max <= 10 {
			wrong = append(wrong, `[`+strings.TrimSuffix(strings.Repeat("{},", typ.Max+1), ",")+`]`)
		}
		if typ.Item.Shape == rules.ShapeText {
			for _, item := range wrongValues(typ.Item) {
				wrong = append(wrong, `[`+item+`]`)
			}
		}
	}
	return wrong
}
