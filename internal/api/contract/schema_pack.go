package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
	"landfall/internal/lib/spelling"
)

// Schema is what the requests of a supplier are read with: the documented tables
// and the fields of the supplier's packs.
type Schema struct {
	packs        []*pack.Pack
	account      *rules.Table
	notes        *rules.Table
	transactions *rules.Table
	statements   *rules.Table

	checks map[*rules.Table]*packChecks     // tables with rules of a pack
	leads  map[*rules.Table]bool            // tables with such a table at or below them
	fields map[*rules.Table]map[string]bool // fields of packs, by table
	holds  map[*rules.Table]bool            // tables with such a field at or below them
}

// plainSchema has no packs.
var plainSchema = &Schema{
	account: accountTable, notes: notesTable, transactions: transactionsTable, statements: statementsTable,
}

// PlainSchema is the schema of suppliers without packs.
func PlainSchema() *Schema { return plainSchema }

// packChecks are the checks of a pack on one object.
type packChecks struct {
	rules          []*pack.Rule
	phones, emails []string // fields of packs
}

// NewSchema adds the fields of packs to the documented tables. The error lists
// everything in which a pack does not fit, as pack.Problems.
func NewSchema(packs ...*pack.Pack) (*Schema, error) {
	if len(packs) == 0 {
		return plainSchema, nil
	}
	m := &merger{
		schema: &Schema{packs: packs, checks: map[*rules.Table]*packChecks{}, leads: map[*rules.Table]bool{},
			fields: map[*rules.Table]map[string]bool{}, holds: map[*rules.Table]bool{}},
		added: map[string][]*addedField{}, merged: map[*rules.Table]*rules.Table{}, origin: map[*rules.Table]*rules.Table{},
	}
	m.collect(packs)
	s := m.schema
	s.account = m.merge(accountTable)
	s.notes, s.transactions, s.statements = m.merge(notesTable), m.merge(transactionsTable), m.merge(statementsTable)
	m.attachRules(packs)
	if len(m.problems) > 0 {
		return nil, m.problems
	}
	for _, table := range []*rules.Table{s.account, s.notes, s.transactions, s.statements} {
		find(table, s.leads, func(table *rules.Table) bool { return s.checks[table] != nil })
		find(table, s.holds, func(table *rules.Table) bool { return s.fields[table] != nil })
	}
	return s, nil
}

// OpenSchema adds packs by their names. Built-in packs come with the program; text
// returns the text of any other.
func OpenSchema(names []string, text func(name string) ([]byte, error)) (*Schema, error) {
	packs := make([]*pack.Pack, 0, len(names))
	for _, name := range names {
		file, found := pack.Builtin(name)
		if !found {
			var err error
			if file, err = text(name); err != nil {
				return nil, err
			}
		}
		read, err := pack.Read(file)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		packs = append(packs, read)
	}
	return NewSchema(packs...)
}

// RuleCodes lists the codes of the packs' own rules.
func (s *Schema) RuleCodes() []string {
	var codes []string
	for _, each := range s.packs {
		for i := range each.Rules {
			codes = append(codes, each.Rules[i].Code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Packs lists the names of the packs.
func (s *Schema) Packs() []string {
	names := make([]string, len(s.packs))
	for i, each := range s.packs {
		names[i] = each.Name()
	}
	return names
}

// find records for a table and each one below it whether it, or one below it, is
// what is sought.
func find(table *rules.Table, result map[*rules.Table]bool, sought func(*rules.Table) bool) bool {
	if known, seen := result[table]; seen {
		return known
	}
	found := sought(table)
	for i := range table.Fields {
		if inner := tableOf(&table.Fields[i].Type); inner != nil && find(inner, result, sought) {
			found = true
		}
	}
	result[table] = found
	return found
}

// tableOf returns the table of an object or of a list of objects, or nil.
func tableOf(typ *rules.Type) *rules.Table {
	for typ.Shape == rules.ShapeList {
		typ = typ.Item
	}
	return typ.Table
}

// addedField is a field that a pack adds to a documented object.
type addedField struct {
	pack  *pack.Pack
	field *pack.Field
}

// merger builds a schema.
type merger struct {
	schema   *Schema
	added    map[string][]*addedField      // by the name of the documented object
	own      map[*pack.Pack]ownObjects     // the objects of each pack
	merged   map[*rules.Table]*rules.Table // documented table → with added fields; nil while it is being built
	origin   map[*rules.Table]*rules.Table
	problems pack.Problems
}

// ownObjects are the objects of a pack, by name.
type ownObjects map[string]*ownObject

type ownObject struct {
	declared *pack.Object
	table    *rules.Table
	building bool
}

func (m *merger) wrongf(in *pack.Pack, line int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(m.schema.packs) > 1 {
		text = in.Name() + ": " + text
	}
	if len(m.problems) < maxViolations {
		m.problems = append(m.problems, pack.Problem{Line: line, Text: text})
	}
}

// packTables are the documented objects that a pack may add to, by name.
var packTables = func() map[string]*rules.Table {
	tables := map[string]*rules.Table{}
	for _, root := range []*rules.Table{accountTable, transactionsTable} {
		for _, table := range reachable(root) {
			if !strings.HasSuffix(table.Name, "Request") {
				tables[table.Name] = table
			}
		}
	}
	return tables
}()

func packTableNames() []string {
	names := make([]string, 0, len(packTables))
	for name := range packTables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// collect sorts the declarations of the packs by object.
func (m *merger) collect(packs []*pack.Pack) {
	m.own = map[*pack.Pack]ownObjects{}
	for _, each := range packs {
		objects := ownObjects{}
		m.own[each] = objects
		for i := range each.Objects {
			object := &each.Objects[i]
			if packTables[object.Name] != nil {
				m.wrongf(each, object.Line, "%s is an object of Landfall. Choose another name, or add fields to it under add", object.Name)
			}
			objects[object.Name] = &ownObject{declared: object}
		}
		for i := range each.Added {
			object := &each.Added[i]
			if packTables[object.Name] == nil {
				known := packTableNames()
				m.wrongf(each, object.Line, "there is no object %s to add fields to. %s", object.Name, spelling.Hint(object.Name, known))
			}
			for j := range object.Fields {
				m.added[object.Name] = append(m.added[object.Name], &addedField{each, &object.Fields[j]})
			}
		}
	}
}

// merge returns a documented table with the fields that packs add to it and to
// the objects below it.
func (m *merger) merge(table *rules.Table) *rules.Table {
	if done, seen := m.merged[table]; seen {
		return done // nil while it is being built; the caller reports that
	}
	m.merged[table] = nil
	fields := slices.Clone(table.Fields)
	changed := false
	for i := range fields {
		changed = m.mergeType(&fields[i].Type) || changed
	}
	var phones, emails []string
	for _, added := range m.added[table.Name] {
		changed = true
		at := slices.IndexFunc(fields, func(f rules.Field) bool { return f.Name == added.field.Name })
		if at >= 0 {
			m.widen(added, &fields[at], table.Name)
			continue
		}
		field, ok := m.compile(added.pack, added.field)
		if !ok {
			continue
		}
		fields = append(fields, field)
		phones, emails = appendContacts(phones, emails, &field)
	}
	if !changed {
		m.merged[table] = table
		return table
	}
	if len(fields) > rules.MaxFields {
		last := m.added[table.Name][len(m.added[table.Name])-1]
		m.wrongf(last.pack, last.field.Line, "%s would have %d fields; at most %d are possible", table.Name, len(fields), rules.MaxFields)
		fields = fields[:rules.MaxFields]
	}
	wider := rules.NewTable(table.Name, table.Doc, fields...)
	for _, added := range m.added[table.Name] {
		if fieldOf(table, added.field.Name) == nil || added.field.Type.Kind == pack.Choice {
			m.addOwn(wider, added.field.Name)
		}
	}
	if phones != nil || emails != nil {
		m.schema.checks[wider] = &packChecks{phones: phones, emails: emails}
	}
	m.merged[table], m.origin[wider] = wider, table
	return wider
}

// addOwn records that a field belongs to a pack.
func (m *merger) addOwn(table *rules.Table, field string) {
	if m.schema.fields[table] == nil {
		m.schema.fields[table] = map[string]bool{}
	}
	m.schema.fields[table][field] = true
}

// mergeType replaces the table inside a type and reports whether it changed.
func (m *merger) mergeType(typ *rules.Type) bool {
	switch typ.Shape {
	case rules.ShapeList:
		item := *typ.Item
		if !m.mergeType(&item) {
			return false
		}
		typ.Item = &item
		return true
	case rules.ShapeObject:
		wider := m.merge(typ.Table)
		if wider == nil || wider == typ.Table {
			return false
		}
		typ.Table = wider
		return true
	}
	return false
}

func appendContacts(phones, emails []string, field *rules.Field) (ofPhones, ofEmails []string) {
	switch field.Type.Format {
	case phoneText.Format:
		phones = append(phones, field.Name)
	case emailText.Format:
		emails = append(emails, field.Name)
	}
	return phones, emails
}

// compile turns a declared field into one that can be read.
func (m *merger) compile(in *pack.Pack, declared *pack.Field) (rules.Field, bool) {
	if declared.Type.Kind == "" {
		m.wrongf(in, declared.Line, "%s has no type", declared.Name)
		return rules.Field{}, false
	}
	typ, ok := m.typ(in, declared, &declared.Type)
	return rules.Field{Name: declared.Name, Type: typ, Required: declared.Required, Old: declared.Deprecated != "", Doc: declared.Doc()}, ok
}

func (m *merger) typ(in *pack.Pack, field *pack.Field, typ *pack.Type) (rules.Type, bool) {
	switch typ.Kind {
	case pack.Text, pack.Line:
		text := packText(typ)
		if typ.Kind == pack.Line && field.Required {
			text.Min = 1
		}
		return text, true
	case pack.Code:
		return codeText, true
	case pack.Choice:
		return rules.Choice(typ.Choices...), true
	case pack.Boolean:
		return rules.Boolean(), true
	case pack.Integer:
		return rules.Integer(typ.Min, typ.Max), true
	case pack.Decimal:
		if typ.Digits > 0 {
			return rules.DecimalOf(typ.Digits, typ.Places), true
		}
		return rules.Decimal(), true
	case pack.Money:
		return rules.Amount(), true
	case pack.Date:
		return rules.Date(), true
	case pack.Datetime:
		return rules.Datetime(), true
	case pack.Time:
		return timeText, true
	case pack.Email:
		if field.Required || field.Type.Kind == pack.List {
			return emailText, true
		}
		return optionalEmailText, true
	case pack.Phone:
		return phoneText, true
	case pack.AnyMap:
		return rules.AnyObject(), true
	case pack.Decimals:
		return rules.Decimals(), true
	case pack.List:
		item, ok := m.typ(in, field, typ.Item)
		return rules.List(int(typ.Min), int(typ.Max), item), ok
	case pack.Named:
		return m.named(in, field, typ.Object)
	}
	return rules.AnyJSON(), true
}

// packText is a string with an optional pattern. It may be empty.
func packText(typ *pack.Type) rules.Type {
	text := rules.Line(typ.Size)
	text.Multiline = typ.Kind == pack.Text
	if typ.Pattern != "" {
		pattern := regexp.MustCompile(typ.Pattern) // it was compiled once already
		text.Format = &rules.Format{
			Name: "pattern", Code: rules.CodeInvalidCharacters, Detail: "Must match the pattern " + typ.Pattern + ".",
			Pattern: typ.Pattern, Check: pattern.MatchString,
		}
	}
	return text
}

var timeText = rules.Formatted(8, &rules.Format{
	Name: "time", Code: rules.CodeInvalidDatetime, Detail: "Must be a time of day in the format HH:MM or HH:MM:SS.",
	Pattern: `^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$`, Check: regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$`).MatchString,
})

// named returns an object of the pack or a documented one.
func (m *merger) named(in *pack.Pack, field *pack.Field, name string) (rules.Type, bool) {
	objects := m.own[in]
	if own := objects[name]; own != nil {
		switch {
		case own.building: // pack.Read refuses this inside one pack; a documented object may close the circle
			m.wrongf(in, field.Line, "%s contains itself through %s", name, field.Name)
			return rules.Type{}, false
		case own.table == nil:
			own.building = true
			own.table = m.compileObject(in, own.declared)
			own.building = false
		}
		return rules.Object(own.table), true
	}
	if table := packTables[name]; table != nil {
		wider := m.merge(table)
		if wider == nil {
			m.wrongf(in, field.Line, "%s contains itself through %s", name, field.Name)
			return rules.Type{}, false
		}
		return rules.Object(wider), true
	}
	known := packTableNames()
	for each := range objects {
		known = append(known, each)
	}
	m.wrongf(in, field.Line, "%s: there is no object %s. %s", field.Name, name, spelling.Hint(name, known))
	return rules.Type{}, false
}

func (m *merger) compileObject(in *pack.Pack, object *pack.Object) *rules.Table {
	fields := make([]rules.Field, 0, len(object.Fields))
	var phones, emails []string
	for i := range object.Fields {
		if field, ok := m.compile(in, &object.Fields[i]); ok && len(fields) < rules.MaxFields {
			fields = append(fields, field)
			phones, emails = appendContacts(phones, emails, &field)
		}
	}
	table := rules.NewTable(schemaName(in, object.Name), object.Description, fields...)
	table.Open = object.Open
	for _, field := range fields {
		m.addOwn(table, field.Name)
	}
	if phones != nil || emails != nil {
		m.schema.checks[table] = &packChecks{phones: phones, emails: emails}
	}
	return table
}

// schemaName names the object of a pack in OpenAPI, apart from all others:
// MeterPoint of gb-energy is GbEnergyMeterPoint.
func schemaName(in *pack.Pack, object string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(in.Code, "-") {
		if word != "" {
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String() + object
}

// widen lets a documented field accept more. A pack cannot make the service
// misunderstand a field that it computes with.
func (m *merger) widen(added *addedField, field *rules.Field, object string) {
	declared, typ := &added.field.Type, &field.Type
	if added.field.Requiring {
		field.Required = added.field.Required
	}
	if note := added.field.Doc(); note != "" {
		field.Old = field.Old || added.field.Deprecated != ""
		field.Doc = strings.TrimSpace(field.Doc + " " + note)
	}
	free := typ.Format == nil || typ.Format == codeText.Format || typ.Format == identifierText.Format
	switch {
	case declared.Kind == "":
	case declared.Kind == pack.Choice && typ.Choices != nil:
		choices := slices.Clone(typ.Choices)
		for _, choice := range declared.Choices {
			if !slices.Contains(choices, choice) {
				choices = append(choices, choice)
			}
		}
		typ.Choices = choices
	case (declared.Kind == pack.Line || declared.Kind == pack.Text) && typ.Shape == rules.ShapeText && typ.Choices == nil && free && declared.Size >= typ.Max:
		typ.Max, typ.Format = declared.Size, nil
	case declared.Kind == pack.Integer && typ.Shape == rules.ShapeInteger && declared.Min <= typ.Low && declared.Max >= typ.High:
		typ.Low, typ.High = declared.Min, declared.Max
	default:
		m.wrongf(added.pack, added.field.Line, "%s has a field %s already. A pack can add choices to it, make it longer or give it a wider range, but not change it otherwise", object, field.Name)
	}
}
