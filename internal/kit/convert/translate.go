package convert

import (
	"slices"
	"strings"

	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// checkChoices reports translations that are not valid choices of the attr.
func (c *mapCompiler) checkChoices(node *yamltree.Node, typ *rules.Type, table map[string]string) {
	if typ == nil || typ.Choices == nil {
		return
	}
	for _, member := range node.Members {
		if to := table[member.Name]; to != "" && !slices.Contains(typ.Choices, to) {
			c.errorf(member.Line, "%s is translated into %s, which must be one of %s", member.Name, to, strings.Join(typ.Choices, ", "))
		}
	}
}

// allChoices reports whether all translations are valid choices of the attr.
func (v *expression) allChoices(table map[string]string, instead *string) bool {
	if v.typ == nil || v.typ.Choices == nil || instead != nil && !slices.Contains(v.typ.Choices, *instead) {
		return false
	}
	for _, to := range table {
		if !slices.Contains(v.typ.Choices, to) {
			return false
		}
	}
	return true
}

// values reads a table of translations, or the name of one.
func (c *mapCompiler) values(node *yamltree.Node) map[string]string {
	if node.Kind == yamltree.Scalar {
		named, known := c.named[node.Text]
		if !known {
			var names []string
			for name := range c.named {
				names = append(names, name)
			}
			slices.Sort(names)
			c.unknown(node.Line, "table of values", node.Text, "", names)
		}
		return named
	}
	table := map[string]string{}
	if node.Kind != yamltree.Mapping {
		c.errorf(node.Line, "values must be a table, such as {A: ACTIVE}, or the name of one")
		return table
	}
	for _, member := range node.Members {
		if member.Node.Kind == yamltree.Mapping || member.Node.Kind == yamltree.List {
			c.errorf(member.Line, "values translate a text into a text")
			continue
		}
		table[member.Name] = member.Node.Text
	}
	return table
}
