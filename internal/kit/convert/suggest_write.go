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
	tables  []*suggestedTable
	kinds   []*tableKind
	learned *learnedAttrs
	packs   []string // that the map uses
	skipped []SkippedFile
	text    strings.Builder
	usual   *suggestedTable // how most tables are written
	open    int
}

// line writes a line with an optional comment.
func (w *mapWriter) line(depth int, text, remark string) {
	text = strings.Repeat("  ", depth) + text
	if remark != "" {
		text = fmt.Sprintf("%-50s # %s", text, strings.Map(oneLine, remark))
	}
	w.text.WriteString(strings.TrimRight(text, " ") + "\n")
}

// choose writes something that a person has to decide.
func (w *mapWriter) choose(depth int, name, remark string) {
	w.open++
	w.line(depth, name+": "+chooseMark, remark)
}

// write starts with the settings of most tables, so that a table lists only what differs.
func (w *mapWriter) write() *Suggestion {
	w.usual = w.usualTable()
	w.line(0, "# A first map, guessed from column names and values. Please correct it:", "")
	w.line(0, "# replace every "+chooseMark+", and check all other lines.", "")
	w.line(0, "# See docs/converting.md. Instead of a column, an attr can also be", "")
	w.line(0, "# =constant or {column: …, values: {A: B}, default: …, minor_units: 2, dates: …}.", "")
	w.line(0, "map: 1", "")
	if w.learned.code != "" {
		w.line(0, "supplier: "+quoted(w.learned.code), "as in the other map")
	} else {
		w.choose(0, "supplier", "the code of the import supplier, as the operator of the service created it")
	}
	if len(w.packs) > 0 {
		w.line(0, "packs: ["+strings.Join(w.packs, ", ")+"]", "")
	}
	for _, text := range w.learned.head {
		w.line(0, text, "")
	}
	w.line(0, "", "")
	w.line(0, "source:", "how the tables are written")
	if w.learned.source != nil {
		w.otherSource()
	} else {
		w.ownSource()
	}
	w.line(0, "", "")
	w.line(0, "tables:", "")
	for i, t := range w.tables {
		if i > 0 {
			w.line(0, "", "")
		}
		if !t.copied {
			w.table(t)
		}
		for i, lines := range t.copies {
			if i > 0 || !t.copied {
				w.line(0, "", "")
			}
			for _, text := range lines {
				w.line(1, text, "")
			}
		}
		for _, one := range t.lost {
			w.choose(1, one.name, "in the other map it is another table of "+t.file+", which has no column "+one.column+"; copy it from there and correct it, or remove this line")
		}
	}
	for i, file := range w.skipped {
		if i == 0 {
			w.line(0, "", "")
			w.line(0, "# Files that were not read:", "")
		}
		w.line(0, "# "+strings.Map(oneLine, file.Name)+": "+file.Why, "")
	}
	files := map[string]bool{} // a flat one is two tables
	for _, t := range w.tables {
		files[t.file] = true
	}
	return &Suggestion{Text: w.text.String(), Tables: len(files), Open: w.open, Skipped: w.skipped}
}

// ownSource writes how the tables seem to be written.
func (w *mapWriter) ownSource() {
	for _, setting := range w.usual.settings() {
		if doubt := w.usual.guess.doubt; doubt != "" && strings.HasPrefix(setting, "encoding:") {
			w.choose(1, "encoding", doubt)
			continue
		}
		w.line(1, setting, "")
	}
	if w.usual.days == "" {
		w.line(1, "# dates: DD.MM.YYYY", "no dates were found")
	}
	if shortYears(w.usual.days) || shortYears(w.usual.instants) {
		w.line(1, "century: 50", "two-digit years: 50 to 99 are 1950 to 1999, the others 2000 to 2049; past if no date is in the future")
	}
	if w.hasLocalTimes() {
		w.choose(1, "zone", "the time zone of the times, such as Europe/London, or UTC")
	}
	if words := w.emptyWords(); len(words) > 0 {
		w.line(1, "empty: ["+strings.Join(words, ", ")+"]", "these mean that there is no value")
	}
}

// shortYears reports whether a date format has two-digit years.
func shortYears(text string) bool {
	pattern, err := newPattern(text)
	return err == nil && pattern.shortYear()
}

// hasLocalTimes reports whether the map reads times that do not say their time zone.
func (w *mapWriter) hasLocalTimes() bool {
	for _, t := range w.tables {
		if t.placement == nil || t.copied {
			continue
		}
		for s, m := range t.placement.placed {
			if style := t.styles[m.column]; s.field.Type.Shape == rules.ShapeDatetime && m.text == "" && style.filled > 0 && !strings.HasSuffix(style.instants, "Z") {
				return true
			}
		}
	}
	return false
}

// emptyWords lists the words of the tables that mean an empty value. A date of zeros is not among them:
// elsewhere it may be a balance of zero.
func (w *mapWriter) emptyWords() (list []string) {
	for _, word := range nullWords {
		if slices.ContainsFunc(w.tables, func(t *suggestedTable) bool { return t.empty[word] }) {
			list = append(list, strconv.Quote(word))
		}
	}
	return list
}

// usualTable has the settings that most tables share.
func (w *mapWriter) usualTable() *suggestedTable {
	count := map[string]int{}
	for _, t := range w.tables {
		for _, setting := range t.settings() {
			count[setting]++
		}
	}
	if w.learned.source != nil {
		return w.learned.usual()
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
	all, looked := *best, *best.inspection
	all.inspection = &looked
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
		if all.ascii && !t.ascii && t.charset != utf16WithBO { // ASCII is valid in both
			all.charset, all.guess, all.ascii = t.charset, t.guess, false
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
	if t.placement == nil {
		w.line(1, t.name+":", "unknown content; remove it if you do not need it")
	} else {
		w.line(1, t.name+":", "probably "+t.placement.kind.name)
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
	switch {
	case isWorkbook(t.file) || t.readsAs(w.usual.charset):
	case t.guess.doubt != "":
		w.choose(2, "encoding", t.guess.doubt)
	default:
		w.line(2, "encoding: "+string(t.charset), "")
	}
	if t.header > 0 {
		w.line(2, fmt.Sprintf("header: %d", t.header), "the lines above it are not read")
	}
	if t.escaped {
		w.choose(2, "escape", `backslash if \" and \n are written as MySQL does, none if a backslash is a character like others`)
	}
	if list := t.skips(); t.other != nil && t.other.Find("skip") != nil {
		w.line(2, "skip: "+w.learned.render(t, t.other.Find("skip"), "skip"), "as in the other map")
	} else if len(list) == 1 {
		w.line(2, "skip: "+list[0], "this line is not a row")
	} else if len(list) > 1 {
		w.line(2, "skip: ["+strings.Join(list, ", ")+"]", "these lines are not rows")
	}
	if len(t.columns) == 1 {
		w.line(2, "# fixed: {COLUMN: 1-8, …}", "if its lines have fixed columns")
	}
	switch {
	case t.placement == nil:
		w.choose(2, "into", "accounts, notes, transactions, statements, payment-instructions, or TABLE.attr with a link")
	case t.parent != nil:
		remark := ""
		if t.placement.kind.name == "transactions" {
			remark = "or historical_statement_transactions, with conditions"
		}
		w.line(2, "into: "+t.parent.name+"."+t.path(), remark)
		w.link(t)
	case t.placement.kind.stem != "":
		w.line(2, "into: "+t.placement.kind.stem, w.intoRemark(t))
		w.accountLine(t)
		w.severalLine(t)
	default:
		w.choose(2, "into", "no table of "+t.placement.kind.parent.name+" was found that it could belong to")
	}
	w.otherRows(t)
	w.line(2, "fill:", "")
	if t.placement != nil {
		w.object(t, t.placement.kind, 3, "")
	}
	w.unused(t)
}

// link writes how rows belong to those of another table.
func (w *mapWriter) link(t *suggestedTable) {
	if t.link == nil {
		w.choose(2, "link", "no column has the values of one column of "+t.parent.name+" that are different in each row of one of them; {own: theirs} if the names differ, [A, B] for two columns")
		return
	}
	own, theirs := t.columns[t.link.own], t.parent.columns[t.link.theirs]
	text := quoted(own)
	if own != theirs {
		text = "{" + quoted(own) + ": " + quoted(theirs) + "}"
	}
	remark := "its values are in " + t.parent.name
	if t.link.missing > 0 {
		remark = fmt.Sprintf("%d of %d values are not in %s", t.link.missing, t.link.compared, t.parent.name)
	}
	w.line(2, "link: "+text, remark)
}

// accountLine writes the column with the account number.
func (w *mapWriter) accountLine(t *suggestedTable) {
	if t.account < 0 {
		w.choose(2, "account", "the column with the number of the account")
		return
	}
	remark := "the column with the number of the account"
	if repeated := t.sketches[t.account].repeated(); repeated > 0 && t.placement.kind.name == "accounts" && t.inside == nil {
		remark = fmt.Sprintf("%s more than once: %s:%d; such accounts are reported", counted(repeated, "number occurs", "numbers occur"), t.file, t.again[t.account])
	}
	w.line(2, "account: "+quoted(t.columns[t.account]), remark)
}

// intoRemark mentions an alternative that no column shows: transactions can be part of their
// account.
func (w *mapWriter) intoRemark(t *suggestedTable) string {
	if t.placement.kind.name == "transactions" {
		return "or ACCOUNT.historical_statement_transactions and current_…, with conditions"
	}
	return ""
}

// object writes the attrs of one kind, then the parts inside it. first starts its first line: "- " in
// a list.
func (w *mapWriter) object(t *suggestedTable, kind *tableKind, depth int, first string) {
	p := t.placement
	start := func() string {
		text := first
		if first != "" {
			first = "  "
		}
		return text
	}
	for _, field := range kind.object.Fields {
		s := p.slotOf(kind, field.Name)
		switch {
		case s != nil && len(p.open[s]) > 0:
			w.choose(depth, start()+field.Name, w.either(t, s))
		case s != nil:
			w.attr(depth, start(), t, p.placed[s])
		case w.learned.missing(t, kind, field.Name) != "":
			w.choose(depth, start()+field.Name, "the other map fills it from "+w.learned.missing(t, kind, field.Name)+", which "+t.file+" does not have")
		case w.learned.constant(t, kind, field.Name) != "":
			w.line(depth, start()+field.Name+": "+w.learned.constant(t, kind, field.Name), "as in the other map")
		case field.Required && field.Type.Shape < rules.ShapeObject && field.Name != "import_supplier" && field.Name != "external_account_number":
			w.choose(depth, start()+field.Name, w.required(t, kind, field))
		}
	}
	for _, inner := range w.kinds {
		if inner.parent != kind {
			continue
		}
		child := w.childThrough(t, inner)
		if text := w.learned.part(t, inner); text != "" {
			w.line(depth, start()+inner.attr+": "+text, "as in the other map")
			continue
		}
		switch {
		case child != nil && child.placement.kind == inner && kind == p.kind: // added by default
		case child != nil && child.placement.kind == inner:
			w.line(depth, start()+inner.attr+": {rows: "+child.name+"}", "")
		case child != nil || p.has(inner) || w.learned.missingIn(t, inner):
			w.line(depth, start()+inner.attr+":", "")
			pad := depth + 1
			if first != "" {
				pad++
			}
			if address := p.slotOf(p.kind, "billing_address1"); inner.name == "addresses" && !p.has(inner) && address != nil {
				w.choose(pad, "- supply_address1", t.columns[p.placed[address].column]+", if the billing address is the supply address")
				w.object(t, inner, pad, "  ")
				continue
			}
			if inner.single {
				w.object(t, inner, pad, "")
			} else {
				w.object(t, inner, pad, "- ")
			}
		case inner.name == "customers" && kind == p.kind:
			w.choose(depth, start()+"customers", "required: no table of customers was found; fill them here as - family_name: …")
		}
	}
}

// childThrough returns the table whose rows go into a kind or something inside it.
func (w *mapWriter) childThrough(t *suggestedTable, kind *tableKind) *suggestedTable {
	for _, child := range t.children {
		if child.placement.kind == kind || child.placement.kind.isInside(kind) {
			return child
		}
	}
	return nil
}

// slotOf returns the slot of a placed attr, or nil.
func (p *placement) slotOf(kind *tableKind, attr string) *attrSlot {
	for s := range p.placed {
		if s.kind == kind && s.field.Name == attr {
			return s
		}
	}
	return nil
}

// either names the columns that fit an attr equally well.
func (w *mapWriter) either(t *suggestedTable, s *attrSlot) string {
	names := []string{t.columns[t.placement.placed[s].column]}
	for _, m := range t.placement.open[s] {
		names = append(names, t.columns[m.column])
	}
	return "one of the columns " + strings.Join(names, ", ")
}

// required describes an attr that must be filled, and what may fill it.
func (w *mapWriter) required(t *suggestedTable, kind *tableKind, field rules.Field) string {
	remark := "required: " + field.Doc
	for column, m := range t.placement.hints {
		if m.slot.kind == kind && m.slot.field.Name == field.Name {
			return remark + " Perhaps " + t.columns[column] + "."
		}
	}
	return remark
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
