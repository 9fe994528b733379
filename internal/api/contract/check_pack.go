package contract

import (
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
	"landfall/internal/lib/spelling"
)

// attachRules finds the object of each rule and checks the fields it names.
func (m *merger) attachRules(packs []*pack.Pack) {
	for _, each := range packs {
		for i := range each.Rules {
			rule := &each.Rules[i]
			table := m.ruleTable(each, rule)
			if table == nil || !m.fieldsOf(each, rule, table) {
				continue
			}
			if _, known := ruleIndex[rule.Code]; !known && rule.Description == "" {
				m.wrongf(each, rule.Line, "%s: description is missing. It is the message of a violation", rule.Code)
			}
			checks := m.schema.checks[table]
			if checks == nil {
				checks = new(packChecks)
				m.schema.checks[table] = checks
			}
			checks.rules = append(checks.rules, rule)
		}
	}
}

// ruleTable returns the table of a rule, or nil if the rule is wrong or its
// object is used nowhere.
func (m *merger) ruleTable(in *pack.Pack, rule *pack.Rule) *rules.Table {
	if own := m.own[in][rule.Object]; own != nil {
		if own.table == nil {
			m.wrongf(in, own.declared.Line, "%s is not used by any field", rule.Object)
		}
		return own.table
	}
	if table := packTables[rule.Object]; table != nil {
		if wider := m.merge(table); wider != table {
			return wider
		}
		m.wrongf(in, rule.Line, "%s: the pack adds nothing to %s", rule.Code, rule.Object)
		return nil
	}
	m.wrongf(in, rule.Line, "%s: there is no object %s. %s", rule.Code, rule.Object, spelling.Hint(rule.Object, packTableNames()))
	return nil
}

// fieldsOf checks that the fields of a rule exist and have a suitable type.
func (m *merger) fieldsOf(in *pack.Pack, rule *pack.Rule, table *rules.Table) bool {
	holder := table
	if rule.Kind == pack.Unique {
		list := fieldOf(table, rule.List)
		if list == nil || list.Type.Shape != rules.ShapeList || list.Type.Item.Shape != rules.ShapeObject {
			m.wrongf(in, rule.Line, "%s: %s of %s is not a list of objects", rule.Code, rule.List, rule.Object)
			return false
		}
		holder = list.Type.Item.Table
	}
	names := rule.Fields
	if rule.When != "" {
		names = append([]string{rule.When}, names...)
	}
	for _, name := range names {
		field := fieldOf(holder, name)
		switch {
		case field == nil:
			m.wrongf(in, rule.Line, "%s: there is no field %s. %s", rule.Code, name, spelling.Hint(name, namesOf(holder)))
			return false
		case rule.Kind == pack.FromTo && field.Type.Shape != rules.ShapeDate && field.Type.Shape != rules.ShapeDatetime:
			m.wrongf(in, rule.Line, "%s: %s is neither a date nor a datetime", rule.Code, name)
			return false
		}
	}
	return true
}

func fieldOf(table *rules.Table, name string) *rules.Field {
	for i := range table.Fields {
		if table.Fields[i].Name == name {
			return &table.Fields[i]
		}
	}
	return nil
}

func namesOf(table *rules.Table) []string {
	names := make([]string, len(table.Fields))
	for i, field := range table.Fields {
		names[i] = field.Name
	}
	return names
}

// packs applies the rules of the supplier's packs to a value and everything
// below it.
func (c *checker) packs(schema *Schema, node *rules.Node) {
	table := node.Table()
	if table == nil || !schema.leads[table] {
		return
	}
	if checks := schema.checks[table]; checks != nil && node.Valid() {
		for _, name := range checks.phones {
			c.phone(node.Field(name))
		}
		for _, name := range checks.emails {
			c.email(node.Field(name))
		}
		for _, rule := range checks.rules {
			c.packRule(rule, node)
		}
	}
	for _, member := range node.Members() { // not all fields of the table: most objects have few
		c.packs(schema, member)
		for _, item := range member.Items() {
			c.packs(schema, item)
		}
	}
}

func (c *checker) packRule(rule *pack.Rule, node *rules.Node) {
	switch rule.Kind {
	case pack.FromTo:
		from, to := node.Field(rule.Fields[0]), node.Field(rule.Fields[1])
		if from.Valid() && to.Valid() && from.Compare(to) > 0 {
			c.violatePack(rule, node, rule.Fields[0])
		}
	case pack.Unique:
		c.packUnique(rule, node.Field(rule.List))
	case pack.Together:
		missing := slices.IndexFunc(rule.Fields, func(name string) bool { return !isGiven(node.Field(name)) })
		if missing >= 0 && slices.ContainsFunc(rule.Fields, func(name string) bool { return isGiven(node.Field(name)) }) {
			c.violatePack(rule, node, rule.Fields[missing])
		}
	case pack.OneOf:
		if !slices.ContainsFunc(rule.Fields, func(name string) bool { return isGiven(node.Field(name)) }) {
			c.violatePack(rule, node, rule.Fields[0])
		}
	case pack.Exclusive:
		count := 0
		for _, name := range rule.Fields {
			if !isGiven(node.Field(name)) {
				continue
			}
			if count++; count > 1 {
				c.violatePack(rule, node, name)
			}
		}
	case pack.RequiredWhen:
		if when := node.Field(rule.When); !isGiven(when) || rule.Is != "" && when.Text() != rule.Is {
			return
		}
		for _, name := range rule.Fields {
			if !isGiven(node.Field(name)) {
				c.violatePack(rule, node, name)
			}
		}
	}
}

// isGiven reports whether a value says something: an empty text or list does not.
func isGiven(node *rules.Node) bool {
	if !node.Present() {
		return false
	}
	raw := node.Raw()
	return raw != `""` && raw != "[]"
}

// packUnique compares the items of a list by the fields of a rule. An item
// without any of them is not compared.
func (c *checker) packUnique(rule *pack.Rule, list *rules.Node) {
	var known seenSet[string]
	for _, item := range list.Items() {
		var key strings.Builder
		some := false
		for _, name := range rule.Fields {
			field := item.Field(name)
			some = some || isGiven(field)
			key.WriteString(field.Text())
			key.WriteByte(0)
		}
		if some && !known.add(key.String()) {
			c.violatePack(rule, item, rule.Fields[0])
		}
	}
}

// violatePack reports a violation of a pack's rule. The supplier's severity comes
// first, then that of the rule book, then that of the pack.
func (c *checker) violatePack(rule *pack.Rule, node *rules.Node, field string) {
	severity, detail := landfall.Severity(rule.Severity), rule.Description
	if known, ours := ruleIndex[rule.Code]; ours {
		severity = known.Severity
		if detail == "" {
			detail = known.Meaning
		}
	}
	if override, set := c.supplier.Severities[rule.Code]; set {
		severity = override
	}
	switch severity {
	case landfall.SeverityError:
		c.report.AddField(node, field, rule.Code, detail)
	case landfall.SeverityWarning:
		c.report.WarnField(node, field, rule.Code, detail)
	}
}
