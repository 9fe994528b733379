package contract

import (
	"encoding/json"

	"landfall/internal/api/rules"
)

// Walk visits every field of the packs with a value that its type refuses. Fields
// that accept anything are left out.
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
		}
		for typ.Shape == rules.ShapeList {
			path, typ = path+".0", typ.Item
		}
		if typ.Shape == rules.ShapeObject && s.holds[typ.Table] && !s.excluded(table, field.Name) {
			s.walk(path+".", typ.Table, visit)
		}
	}
}
