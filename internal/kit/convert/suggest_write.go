package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/api/rules"
)

// mapWriter writes a suggested map with a comment wherever something was guessed.
type mapWriter struct {
	tables []*suggestedTable
	text   strings.Builder
	usual  *suggestedTable // how most tables are written
	open   int
}

// line writes a line with an optional comment.
func (w *mapWriter) line(depth int, text, remark string) {
	text = strings.Repeat("  ", depth) + text
	if remark != "" {
		text = fmt.Sprintf("%-50s # %s", text, remark)
	}
	w.text.WriteString(strings.TrimRight(text, " ") + "\n")
}

// write starts with the settings of most tables, so that a table lists only what differs. The
// supplier is always left open.
func (w *mapWriter) write() *Suggestion {
	w.usual = w.usualTable()
	w.line(0, "# A first map, guessed from column names and values. Please correct it:", "")
	w.line(0, "# replace every "+chooseMark+", and check all other lines.", "")
	w.line(0, "# See docs/converting.md. Instead of a column, an attr can also be", "")
	w.line(0, "# =constant or {column: …, values: {A: B}, default: …, minor_units: 2, dates: …}.", "")
	w.line(0, "map: 1", "")
	w.open++
	w.line(0, "supplier: "+chooseMark, "the code of the import supplier, as the operator of the service created it")
	w.line(0, "", "")
	w.line(0, "source:", "how the tables are written")
	for _, setting := range w.usual.settings() {
		w.line(1, setting, "")
	}
	if w.usual.days == "" {
		w.line(1, "# dates: DD.MM.YYYY", "no dates were found")
	}
	w.line(0, "", "")
	w.line(0, "tables:", "")
	for i, t := range w.tables {
		if i > 0 {
			w.line(0, "", "")
		}
		w.table(t)
	}
	return &Suggestion{Text: w.text.String(), Tables: len(w.tables), Open: w.open}
}

// usualTable has the settings that most tables share.
func (w *mapWriter) usualTable() *suggestedTable {
	count := map[string]int{}
	for _, t := range w.tables {
		for _, setting := range t.settings() {
			count[setting]++
		}
	}
	best, score := w.tables[0], -1
	for _, t := range w.tables {
		sum := 0
		for _, setting := range t.settings() {
			sum += count[setting]
		}
		if sum > score {
			best, score = t, sum
		}
	}
	all := *best
	for _, t := range w.tables { // fill in what the best one lacks
		if all.days == "" {
			all.days = t.days
		}
		if all.instants == "" {
			all.instants = t.instants
		}
		// The other tables say where they differ.
		if !all.numbers && t.numbers {
			all.comma, all.grouped, all.numbers = t.comma, t.grouped, true
		}
		if all.charset == utf8Charset && t.charset == windows1252 {
			all.charset = t.charset // ASCII is valid in both
		}
	}
	return &all
}

// settings returns the dialect settings of a table.
func (t *suggestedTable) settings() []string {
	list := []string{"encoding: " + string(t.charset), "delimiter: " + strconv.Quote(string(t.delimiter)), `decimal: "."`}
	if t.comma {
		list[2] = `decimal: ","`
	}
	if t.grouped {
		list = append(list, map[bool]string{true: `grouping: "."`, false: `grouping: ","`}[t.comma])
	}
	if t.days != "" {
		list = append(list, "dates: "+t.days)
	}
	if t.instants != "" {
		list = append(list, "datetimes: "+t.instants)
	}
	return list
}

// table writes one table.
func (w *mapWriter) table(t *suggestedTable) {
	if t.unclear() {
		w.line(1, t.name+":", "unknown content; remove it if you do not need it")
	} else {
		w.line(1, t.name+":", "probably "+t.thing.name)
	}
	w.line(2, "file: "+quoted(t.file), "")
	if isWorkbook(t.file) {
		// A workbook has its own way to write numbers, for the whole table.
		if t.numbers && t.comma != w.usual.comma {
			w.line(2, fmt.Sprintf("decimal: %q", map[bool]string{true: ",", false: "."}[t.comma]), "")
			w.line(2, fmt.Sprintf("grouping: %q", map[bool]string{true: ".", false: ","}[t.comma]), "")
		}
	} else if t.delimiter != w.usual.delimiter {
		w.line(2, "delimiter: "+strconv.Quote(string(t.delimiter)), "")
	}
	// A table detected as UTF-8 may be plain ASCII, which needs no setting.
	if t.charset != w.usual.charset && t.charset != utf8Charset {
		w.line(2, "encoding: "+string(t.charset), "")
	}
	switch {
	case t.parent != nil:
		w.line(2, "into: "+t.parent.name+"."+t.thing.path, "")
		link := t.link()
		w.countOpen(link)
		w.line(2, "link: "+quoted(link), "the column that is also in "+t.parent.name+"; {own: theirs} if the names differ")
	case t.thing.stem != "":
		w.line(2, "into: "+t.thing.stem, w.intoRemark(t))
		account := chooseMark
		if t.account >= 0 {
			account = t.columns[t.account]
			t.taken[t.account] = true
		}
		w.countOpen(account)
		w.line(2, "account: "+quoted(account), "the column with the number of the account")
	case t.unclear():
		w.open++
		w.line(2, "into: "+chooseMark, "accounts, notes, transactions, statements, payment-instructions, or TABLE.attr with a link")
	default:
		w.open++
		w.line(2, "into: "+chooseMark, "no table of "+t.thing.parent+" was found that it could belong to")
	}
	w.line(2, "fill:", "")
	w.fill(t)
}

// intoRemark mentions an alternative that no column shows: transactions can be part of their
// account.
func (w *mapWriter) intoRemark(t *suggestedTable) string {
	if t.thing.name == "transactions" {
		return "or ACCOUNT.historical_statement_transactions and current_…, with conditions"
	}
	return ""
}

// countOpen counts what is left open.
func (w *mapWriter) countOpen(text string) {
	if text == chooseMark {
		w.open++
	}
}

// fill writes the attrs with a column, the required ones, and unused columns.
func (w *mapWriter) fill(t *suggestedTable) {
	for _, field := range t.fields() {
		// The first two come from account and supplier; objects have tables of their own.
		if field.Name == "import_supplier" || field.Name == "external_account_number" || field.Type.Shape >= rules.ShapeObject {
			continue
		}
		column := columnFor(field.Name, t.columns, t.taken)
		switch {
		case column >= 0:
			t.taken[column] = true
			w.attr(3, t, field, column)
		case needed(field):
			w.open++
			w.line(3, field.Name+": "+chooseMark, "required: "+field.Doc)
		}
	}
	if t.thing.name == "accounts" {
		w.supplyAddress(t)
	}
	for i, column := range t.columns {
		if !t.taken[i] && column != "" && (t.parent == nil || column != t.link()) {
			remark := ""
			if codes := t.codes(i); codes != nil && len(codes) < 8 {
				remark = " (" + strings.Join(codes, ", ") + ")"
			}
			w.line(3, "# not used: "+strings.Map(oneLine, column+remark), "")
		}
	}
}

// fields returns the attrs that the table could fill.
func (t *suggestedTable) fields() []rules.Field {
	if t.unclear() {
		return nil
	}
	return t.thing.object.Fields
}

// supplyAddress writes the address of an account whose supply points have none.
func (w *mapWriter) supplyAddress(t *suggestedTable) {
	customers := false
	for _, child := range t.children {
		customers = customers || child.thing.name == "customers"
		if child.thing.path != "supply_addresses.supply_points" {
			continue
		}
		w.line(3, "supply_addresses:", "the address of the account, if it is the supply address")
		first := "- "
		for _, attr := range []string{"supply_address1", "supply_address2", "supply_postcode"} {
			if column := columnFor(attr, t.columns, nil); column >= 0 {
				w.line(4, first+attr+": "+quoted(t.columns[column]), "")
				first = "  "
			}
		}
		w.line(4, first+"supply_points: {rows: "+child.name+"}", "")
	}
	if !customers {
		w.open++
		w.line(3, "customers: "+chooseMark, "required: no table of customers was found; fill them here as - family_name: …")
	}
}

// attr writes one attr.
func (w *mapWriter) attr(depth int, t *suggestedTable, field rules.Field, column int) {
	name := t.columns[column]
	var settings []string
	remark := ""
	typ := field.Type
	switch {
	case typ.Choices != nil:
		if codes := t.codes(column); codes != nil && !chosen(codes, typ.Choices) {
			var pairs []string
			for _, code := range codes {
				to := chooseMark
				for _, allowed := range typ.Choices {
					if allowed == code {
						to = allowed
					}
				}
				w.countOpen(to)
				pairs = append(pairs, quoted(code)+": "+to)
			}
			settings = append(settings, "values: {"+strings.Join(pairs, ", ")+"}")
			remark = "one of " + strings.Join(typ.Choices, ", ")
		}
	case typ.Shape == rules.ShapeAmount || typ.Shape == rules.ShapeDecimal:
		if t.wholeNumbers(column) && (typ.Shape == rules.ShapeAmount || strings.Contains(field.Name, "amount")) {
			settings = append(settings, "minor_units: 2")
			remark = "integers: cents? Is a debit negative? Otherwise sign: reversed"
		} else {
			usual := w.usual
			if isWorkbook(t.file) {
				usual = t
			}
			settings, remark = w.numberSettings(t.values(column), usual)
		}
	case typ.Shape == rules.ShapeDate:
		settings, remark = w.dateSettings(t.values(column), slices.Concat(dayPatterns, compactPatterns), w.usual.days)
	case typ.Shape == rules.ShapeDatetime:
		settings, remark = w.dateSettings(t.values(column), instantPatterns(), w.usual.instants)
	}
	if len(settings) == 0 {
		w.line(depth, field.Name+": "+quoted(name), remark)
		return
	}
	w.line(depth, field.Name+": {column: "+quoted(name)+", "+strings.Join(settings, ", ")+"}", remark)
}

// quoted quotes a text if YAML would not read it as that text.
func quoted(text string) string {
	plain := text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.") == ""
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		plain = false
	}
	// YAML would read digits as a number.
	if plain && strings.Trim(text, "0123456789.") != "" {
		return text
	}
	return strconv.Quote(text)
}

// oneLine keeps a comment on its line.
func oneLine(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}
