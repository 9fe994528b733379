package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"landfall/internal/api/rules"
)

// extraOf returns the fields that packs add to a documented object, as sent, as
// one JSON object without line breaks. It returns "" if there are none.
func extraOf(n *rules.Node, documented *rules.Table) string {
	table := n.Table()
	if table == nil || table == documented {
		return ""
	}
	var extra []byte
	for i := range table.Fields {
		name := table.Fields[i].Name
		if field := n.Field(name); field.Present() && fieldOf(documented, name) == nil {
			if extra == nil {
				extra = append(extra, '{')
			}
			extra = append(rules.AppendName(extra, name), field.Raw()...)
		}
	}
	if extra == nil {
		return ""
	}
	var compact bytes.Buffer
	if json.Compact(&compact, append(extra, '}')) != nil {
		return string(append(extra, '}')) // it was read before, so this cannot be
	}
	return compact.String()
}

// appendOthers appends the members of an object that its documented table does
// not have, by name. Packs declared them.
func appendOthers(dst, object []byte, documented *rules.Table) []byte {
	members := othersOf(object, documented)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		dst = append(rules.AppendName(dst, name), members[name]...)
	}
	return dst
}

// othersOf returns the members of an object that its documented table does not
// have.
func othersOf(object []byte, documented *rules.Table) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil // it was read before, so this cannot be
	}
	maps.DeleteFunc(members, func(name string, value json.RawMessage) bool {
		return fieldOf(documented, name) != nil || string(value) == "null"
	})
	return members
}

// extraDifferences returns the fields of packs that were sent and differ from
// those of an existing object.
func extraDifferences(sent *rules.Node, documented *rules.Table, had string) []string {
	var kept map[string]json.RawMessage
	if had != "" && json.Unmarshal([]byte(had), &kept) != nil {
		return nil // it was read before, so this cannot be
	}
	var found []string
	for i := range sent.Table().Fields {
		name := sent.Table().Fields[i].Name
		if field := sent.Field(name); field.Present() && fieldOf(documented, name) == nil && !rules.SameJSON(field.Raw(), string(kept[name])) {
			found = append(found, name)
		}
	}
	return found
}
