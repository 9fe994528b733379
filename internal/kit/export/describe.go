package export

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"landfall/internal/api/rules"
)

// descriptionName describes the tables as a Data Package (datapackage.org), which many tools read.
const descriptionName = "datapackage.json"

type packageDescription struct {
	Name      string             `json:"name"`
	Profile   string             `json:"profile"`
	Resources []tableDescription `json:"resources"`
}

type tableDescription struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Path        []string `json:"path"`
	Format      string   `json:"format"`
	Schema      struct {
		Fields     []columnDescription `json:"fields"`
		PrimaryKey []string            `json:"primaryKey,omitempty"`
	} `json:"schema"`
}

type columnDescription struct {
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Constraints map[string]any `json:"constraints,omitempty"`
}

func describe(j *journal, l *layout, ending string) error {
	whole := packageDescription{Name: "landfall-export", Profile: "data-package"}
	for _, t := range l.tables {
		one := tableDescription{Name: t.name, Description: t.doc, Format: ending[1:], Path: []string{}}
		for _, name := range slices.Sorted(maps.Keys(j.state.Files)) {
			if stem, _ := strings.CutSuffix(name, ending); stem == t.name || strings.HasPrefix(stem, t.name+"-") {
				one.Path = append(one.Path, name)
			}
		}
		if len(one.Path) == 0 {
			one.Path = append(one.Path, t.name+ending)
		}
		for i := range t.columns {
			c := &t.columns[i]
			one.Schema.Fields = append(one.Schema.Fields, columnDescription{c.name, columnType(&c.typ), c.doc, constraints(&c.typ)})
			if i < t.keys && t != l.others {
				one.Schema.PrimaryKey = append(one.Schema.PrimaryKey, c.name)
			}
		}
		whole.Resources = append(whole.Resources, one)
	}
	text, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		return err
	}
	return writeDurably(j.path, descriptionName, append(text, '\n'))
}

// columnType is a type of Table Schema.
func columnType(typ *rules.Type) string {
	switch typ.Shape {
	case rules.ShapeBoolean:
		return "boolean"
	case rules.ShapeInteger:
		return "integer"
	case rules.ShapeAmount, rules.ShapeDecimal:
		return "number"
	case rules.ShapeDate:
		return "date"
	case rules.ShapeDatetime:
		return "datetime"
	case rules.ShapeAny:
		return "any"
	}
	return "string"
}

func constraints(typ *rules.Type) map[string]any {
	all := map[string]any{}
	if typ.Shape == rules.ShapeText && typ.Max > 0 {
		all["maxLength"] = typ.Max
	}
	if typ.Choices != nil {
		all["enum"] = typ.Choices
	}
	return all
}
