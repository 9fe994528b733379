package export

import (
	"slices"
	"strings"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// tableLayout is a table of the export.
type tableLayout struct {
	name    string
	doc     string
	columns []columnLayout
	keys    int // columns that say which row of which account it is
}

// columnLayout is a column of a table, with the type and description of its field.
type columnLayout struct {
	name string
	doc  string
	typ  rules.Type
}

// add adds a column. Its name is changed if there is one of that name.
func (t *tableLayout) add(name, doc string, typ *rules.Type) {
	for slices.ContainsFunc(t.columns, func(c columnLayout) bool { return c.name == name }) {
		name += "_2"
	}
	of := *typ
	if typ.Or != nil {
		of = rules.AnyJSON() // a word or an object
	}
	t.columns = append(t.columns, columnLayout{name, doc, of})
}

// layout says which field of a whole account is in which column of which table.
type layout struct {
	tables []*tableLayout // accounts first
	head   *objectTarget  // of a whole account
	lists  map[string]*listTarget
	others *tableLayout // what fits no column
}

// objectTarget says where the members of an object are written.
type objectTarget struct {
	fields map[string]*fieldTarget
}

// fieldTarget says where a value is written: one of the three.
type fieldTarget struct {
	column int           // in the table of the object
	object *objectTarget // in the same table
	list   *listTarget   // in another table
	skip   bool          // it is written elsewhere
}

// listTarget says where the items of a list are written.
type listTarget struct {
	table  *tableLayout
	item   *objectTarget // nil if the items are no objects: then they are in the last column
	parent *listTarget   // the list that the list is in, or nil
	depth  int           // how many lists it is in, with itself
}

// sentAmount is the amount of a statement as it was sent.
const sentAmount = "gross_amount_sent"

// listTables returns what the items of the lists of a whole account consist of.
func listTables(schema *contract.Schema) map[string]*rules.Table {
	itemOf := func(file, list string) *rules.Table { return findField(schema.BookTable(file), list).Type.Item.Table }
	transaction := itemOf("transactions", "transactions")
	booked := rules.NewTable(transaction.Name, transaction.Doc, append(slices.Clone(transaction.Fields),
		rules.Optional("original_transaction_date", rules.Date(), "Date of the transaction before it was moved into the open statement period."))...)
	statement := itemOf("statements", "statements")
	return map[string]*rules.Table{
		"notes": itemOf("notes", "notes"),
		"statements": rules.NewTable(statement.Name, statement.Doc, append(slices.Clone(statement.Fields),
			rules.Optional(sentAmount, rules.Amount(), "The amount as it was sent, if that was in minor units."))...),
		"ledger": rules.NewTable("LedgerEntry", "One change of the balance of an account.",
			rules.Required("sequence", rules.Integer(1, 1<<53), "Position in the ledger, starting at 1."),
			rules.Required("kind", rules.Choice("OPENING", "TRANSACTION"), "OPENING is the part of the opening balance that no transaction explains."),
			rules.Required("closed", rules.Boolean(), "Whether the entry is on the closed opening statement."),
			rules.Required("date", rules.Date(), "Date of the entry."),
			rules.Required("amount", rules.Amount(), "Change of the balance; positive in the customer's favour."),
			rules.Required("balance", rules.Amount(), "Balance after this entry."),
			rules.Optional("transaction", rules.Object(booked), "The transaction."),
			rules.Optional("sent", rules.Object(transaction), "The transaction as it was sent, if its date was moved."),
		),
		"payment_instructions": rules.NewTable("AccountInstruction", "A payment instruction of an account, with what its vendor reported.",
			append(instructionFields(schema),
				rules.Optional("status", rules.Line(64), "Status, as the vendor reported it."),
				rules.Optional("scheme", rules.Line(64), "Scheme, as the vendor reported it."),
				rules.Optional("last_digits", rules.Line(16), "Last digits of the card or bank account."),
				rules.Optional("expiry", rules.Line(16), "When the card expires."))...),
	}
}

// instructionFields are the fields of a payment instruction without those that name its account.
func instructionFields(schema *contract.Schema) []rules.Field {
	return slices.Clone(findField(schema.BookTable("accounts"), "payment_instructions").Type.Item.Table.Fields)
}

// headFields are the members of a whole account before its lists.
func headFields(schema *contract.Schema) []rules.Field {
	return []rules.Field{
		rules.Required("import_supplier", rules.Line(0), "Code of the import supplier."),
		rules.Required("external_account_number", rules.Line(0), "Account number in the source system."),
		rules.Required("platform_account_number", rules.Line(0), "Number of the account on the platform."),
		rules.Required("created_at", rules.Datetime(), "When the account was created."),
		rules.Required("revision", rules.Integer(1, 1<<53), "Revision of the staged data that the account was created from."),
		rules.Optional("fingerprint", rules.Line(64), "SHA-256 of the canonical form of the record."),
		rules.Optional("erased_at", rules.Datetime(), "When the personal data was erased."),
		rules.Required("balance", rules.Amount(), "Balance of the account. Positive means the customer is in credit."),
		rules.Required("currency", rules.Line(3), "ISO 4217 code."),
		rules.Optional("open_period", rules.Object(rules.NewTable("OpenPeriod", "",
			rules.Required("from_date", rules.Date(), "First day of the open statement period."))), ""),
		rules.Optional("delivery", rules.Line(64), "Whether the account was delivered to a target system."),
		rules.Optional("data", rules.Object(schema.BookTable("accounts")), ""),
	}
}

// inLists are the fields of the record that are in the lists of a whole account too, with what was
// added since, or that the account itself has.
var inLists = map[string]bool{
	"import_supplier": true, "external_account_number": true, "currency": true,
	"historical_statement_transactions": true, "current_statement_transactions": true, "notes": true, "statements": true,
	"payment_instructions": true,
}

// newLayout makes the tables from the fields of the account object.
func newLayout(schema *contract.Schema) *layout {
	accounts := &tableLayout{name: "accounts", doc: "The created accounts.", keys: 2}
	l := &layout{tables: []*tableLayout{accounts}, lists: map[string]*listTarget{}}
	b := &builder{layout: l}
	l.head = b.object(accounts, nil, "", headFields(schema))
	lists := listTables(schema)
	for _, name := range []string{"ledger", "notes", "statements", "payment_instructions"} {
		items := rules.List(0, 0, rules.Object(lists[name]))
		l.lists[name] = b.list(nil, name, lists[name].Doc, &items)
	}
	b.build()
	l.others = &tableLayout{name: "other_values", doc: "Values for which no other table has a column, such as fields of packs that were not named.", columns: append(keyColumns(nil),
		columnLayout{"attr", "Where the value is in the whole account.", rules.Line(0)}, columnLayout{"value", "The value.", rules.AnyJSON()})}
	l.others.keys = len(l.others.columns) - 2
	l.tables = append(l.tables, l.others)
	return l
}

// builder makes tables level by level, so that the lists of an account get the short names.
type builder struct {
	layout *layout
	todo   []func()
}

// build makes the tables of all lists.
func (b *builder) build() {
	for len(b.todo) > 0 {
		next := b.todo[0]
		b.todo = b.todo[1:]
		next()
	}
}

func (b *builder) object(in *tableLayout, parent *listTarget, prefix string, fields []rules.Field) *objectTarget {
	o := &objectTarget{fields: map[string]*fieldTarget{}}
	for i := range fields {
		name, typ := fields[i].Name, &fields[i].Type
		whole := columnName(prefix, name)
		switch {
		case in.name == "accounts" && prefix == "" && name == "data":
			o.fields[name] = &fieldTarget{object: b.record(in, typ.Table)}
		case name == "sent": // much the same as the transaction beside it
			o.fields[name] = &fieldTarget{column: len(in.columns)}
			whole := rules.AnyJSON()
			in.add(name, fields[i].Doc, &whole)
		case typ.Shape == rules.ShapeObject:
			o.fields[name] = &fieldTarget{object: b.object(in, parent, whole, typ.Table.Fields)}
		case typ.Shape == rules.ShapeList:
			o.fields[name] = &fieldTarget{list: b.list(parent, name, fields[i].Doc, typ)}
		default:
			o.fields[name] = &fieldTarget{column: len(in.columns)}
			in.add(whole, fields[i].Doc, typ)
		}
	}
	return o
}

// record adds the fields of the account object to the table of accounts.
func (b *builder) record(in *tableLayout, record *rules.Table) *objectTarget {
	fields := slices.DeleteFunc(slices.Clone(record.Fields), func(f rules.Field) bool { return inLists[f.Name] })
	o := b.object(in, nil, "", fields)
	for name := range inLists {
		o.fields[name] = &fieldTarget{skip: true}
	}
	return o
}

// columnName is the name of a field with the names of the objects it is in.
func columnName(prefix, name string) string {
	if prefix == "" || strings.HasPrefix(name, prefix+"_") {
		return name
	}
	return prefix + "_" + name
}

// list makes a table for the items of a list.
func (b *builder) list(parent *listTarget, name, doc string, typ *rules.Type) *listTarget {
	of := &listTarget{parent: parent, depth: 1}
	if parent != nil {
		of.depth = parent.depth + 1
	}
	b.todo = append(b.todo, func() {
		of.table = &tableLayout{name: b.tableName(parent, name), doc: doc, columns: keyColumns(parent)}
		of.table.columns = append(of.table.columns, columnLayout{"position", "Position in the list, starting at 1.", rules.Integer(1, 1<<53)})
		of.table.keys = len(of.table.columns)
		b.layout.tables = append(b.layout.tables, of.table)
		if typ.Item.Shape == rules.ShapeObject {
			of.item = b.object(of.table, of, "", typ.Item.Table.Fields)
			return
		}
		of.table.columns = append(of.table.columns, columnLayout{"value", doc, *typ.Item})
	})
	return of
}

// keyColumns identify the account and the item that a list is in.
func keyColumns(parent *listTarget) []columnLayout {
	columns := []columnLayout{
		{"import_supplier", "Code of the import supplier.", rules.Line(0)},
		{"external_account_number", "Account number in the source system.", rules.Line(0)},
	}
	for in := parent; in != nil; in = in.parent {
		columns = slices.Insert(columns, 2, columnLayout{
			in.table.name + "_position", "Position of the item of " + in.table.name + " that the row belongs to.", rules.Integer(1, 1<<53),
		})
	}
	return columns
}

// tableName is the name of a list, with that of the list it is in if another table has it.
func (b *builder) tableName(parent *listTarget, name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(b.layout.tables, func(t *tableLayout) bool { return t.name == name })
	}
	if parent != nil && taken(name) {
		name = parent.table.name + "_" + name
	}
	for taken(name) {
		name += "_2"
	}
	return name
}
