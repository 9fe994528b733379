package convert

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/kit/book"
)

// Suggestion is a first map, to be corrected by someone who knows the tables.
type Suggestion struct {
	Text   string
	Tables int
	Open   int // values marked CHOOSE
}

// SuggestOptions says what a suggestion is made from.
type SuggestOptions struct {
	Folder   string   // of the tables
	Like     string   // path of a map for similar tables, or ""
	Examples string   // path of a file with finished accounts, one per line, or ""
	Packs    []string // names of built-in packs, or paths of files, whose fields columns may fill
}

// packNames are the packs as a map in the folder names them: files are relative to it.
func (o SuggestOptions) packNames() (names []string, err error) {
	for _, name := range o.Packs {
		if _, builtin := pack.Builtin(name); !builtin {
			folder, err := filepath.Abs(o.Folder)
			if err != nil {
				return nil, err
			}
			if name, err = filepath.Abs(name); err != nil {
				return nil, err
			}
			if name, err = filepath.Rel(folder, name); err != nil {
				return nil, err
			}
		}
		names = append(names, filepath.ToSlash(name))
	}
	return names, nil
}

// chooseMark marks what a person has to decide. No column or choice has this name, so a map that
// contains it is refused.
const chooseMark = "CHOOSE"

// suggestedTable is a table and what was guessed about it.
type suggestedTable struct {
	*inspection
	file, name string
	names      [][][]string // by column: its words, and those without the prefix of the table
	styles     []columnStyle
	sketches   []sketch
	learned    *learnedAttrs

	placement *placement // nil if nothing is known about the table
	account   int        // index of the account column, or -1
	numbered  int        // index of the column with the numbers of example accounts, or -1
	parent    *suggestedTable
	link      *tableLink
	children  []*suggestedTable
	keys      map[int]bool // columns that say where rows belong
	copied    bool         // a similar map says everything about it
	copies    [][]string   // lines of a similar map
	days      string
	comma     bool
	grouped   bool // numbers have thousands separators
	numbers   bool // there are numbers with a decimal mark
	instants  string
}

// suggestBytes is how much of each table is read to find its keys.
const suggestBytes = 64 << 20

// Suggest inspects the tables of a folder and writes a first map for them.
func Suggest(ctx context.Context, order SuggestOptions) (*Suggestion, error) {
	var tables []*suggestedTable
	for _, name := range fileNames(order.Folder) {
		if !isTable(name) {
			continue
		}
		if len(tables) == maxSuggestedTables {
			return nil, fmt.Errorf("%s has more than %d tables; put those that matter into a folder of their own", order.Folder, maxSuggestedTables)
		}
		t, err := readSuggested(ctx, order.Folder, name, suggestBytes, nil)
		if err != nil {
			return nil, err
		}
		t.name = freeName(tables, t.name, name)
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("%s has no tables: files that end with .csv, .tsv, .txt or .xlsx", order.Folder)
	}
	schema, err := contract.OpenSchema(order.Packs, os.ReadFile)
	if err != nil {
		return nil, fmt.Errorf("--pack: %w", err)
	}
	packs, err := order.packNames()
	if err != nil {
		return nil, err
	}
	learned := &learnedAttrs{kinds: tableKinds(schema)}
	if order.Like != "" {
		if err := learned.readMap(order.Like); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		t.learned = learned
	}
	g := &guesser{kinds: learned.kinds, tables: tables}
	if order.Examples != "" {
		if err := learned.readExamples(ctx, order.Examples, g, order.Folder); err != nil {
			return nil, err
		}
	}
	g.guess()
	w := &mapWriter{tables: tables, kinds: g.kinds, learned: learned, packs: packs}
	return w.write(), nil
}

// freeName returns a name for a table that no other table has: ACCOUNTS.csv and ACCOUNTS.txt are
// ACCOUNTS and ACCOUNTS_TXT.
func freeName(tables []*suggestedTable, name, file string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(tables, func(t *suggestedTable) bool { return t.name == name })
	}
	if taken(name) {
		name += "_" + strings.ToUpper(strings.TrimPrefix(filepath.Ext(file), "."))
	}
	for free, number := name, 2; ; number++ {
		if !taken(free) {
			return free
		}
		free = fmt.Sprintf("%s_%d", name, number)
	}
}

// maxSuggestedTables is more than any export has that one person can map.
const maxSuggestedTables = 500

// isTable reports whether a file name is that of a table.
func isTable(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv", ".txt", ".tsv", ".xlsx", ".xlsm":
		return true
	}
	return false
}

// readSuggested inspects one table, and reads up to a number of bytes of it. row may be nil.
func readSuggested(ctx context.Context, folder, name string, most int64, row func(t *suggestedTable, line int, fields [][]byte)) (*suggestedTable, error) {
	looked, err := inspectFile(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	t := &suggestedTable{inspection: looked, file: name, account: -1, numbered: -1, keys: map[int]bool{}}
	// A point in the name would make it look like a place.
	t.name = strings.Map(func(r rune) rune {
		if r == '.' || r == ' ' {
			return '_'
		}
		return r
	}, strings.ToUpper(strings.TrimSuffix(name, filepath.Ext(name))))
	for i := range t.columns {
		t.styles = append(t.styles, t.style(i))
	}
	t.readNames()
	t.inspectFormats()
	t.sketches = make([]sketch, len(t.columns))
	return t, t.eachRow(ctx, filepath.Join(folder, name), most, func(line int, fields [][]byte) {
		if len(fields) == len(t.columns) {
			for i, field := range fields {
				if text := trimBlanks(field); len(text) > 0 && !isNullWord(string(text)) {
					t.sketches[i].add(text)
				}
			}
		}
		if row != nil {
			row(t, line, fields)
		}
	})
}

// eachRow reads the rows of a table up to a number of bytes. Rows that cannot be read have no fields.
func (s *inspection) eachRow(ctx context.Context, path string, most int64, row func(line int, fields [][]byte)) error {
	table := &sourceTable{headed: true, dialect: defaultDialect(), layout: layout{workbook: isWorkbook(path)}}
	table.dialect.charset, table.dialect.delimiter, table.dialect.quote = s.charset, s.delimiter, s.quote
	split, file, err := table.open(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = file.Close() }() // only read
	rows := &records{delimiter: s.delimiter, quote: s.quote}
	for first := true; ; {
		part, err := split.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if most -= int64(len(part.text)); most < 0 {
			return nil
		}
		if part.wrong != "" {
			row(part.line, nil)
			continue
		}
		rows.reset(part)
		for rows.next() {
			if !first {
				row(rows.at, rows.fields)
			}
			first = false
		}
	}
}

// nullWords mean an empty value in many exports.
var nullWords = []string{"NULL", "null", "Null", `\N`, "n/a", "N/A", "#N/A", "(null)", "<null>", "nil", "NaN"}

// zeroDates mean that there is no date.
var zeroDates = []string{"00000000", "0000-00-00", "00/00/0000", "00.00.0000", "00/00/00"}

// isNullWord reports whether a value means an empty one.
func isNullWord(text string) bool {
	return len(text) <= 10 && (slices.Contains(nullWords, text) || slices.Contains(zeroDates, text))
}

// readNames finds the words of the column names. Some systems begin every name with a prefix of the
// table.
func (t *suggestedTable) readNames() {
	prefixes := map[string]int{}
	for _, column := range t.columns {
		if words := nameWords(column); len(words) > 1 {
			prefixes[words[0]]++
		}
	}
	for _, column := range t.columns {
		words := nameWords(column)
		names := [][]string{words}
		if len(words) > 1 && prefixes[words[0]] >= 3 && prefixes[words[0]]*3 >= len(t.columns)*2 {
			names = append(names, words[1:])
		}
		t.names = append(t.names, names)
	}
}

// inspectFormats guesses how the table writes dates and numbers.
func (t *suggestedTable) inspectFormats() {
	days, instants, commas, points := map[string]int{}, map[string]int{}, 0, 0
	grouped := map[byte]bool{}
	for i := range t.columns {
		values := t.values(i)
		if day := findDayPattern(values); day != "" {
			if len(confusable(dayPatterns, day, values)) == 0 {
				days[day]++
			}
			continue
		}
		if instant := findInstantPattern(values); instant != "" {
			if len(confusable(instantPatterns(), instant, values)) == 0 {
				instants[instant]++
			}
			continue
		}
		style := numberStyleOf(values)
		switch style.decimal {
		case ',':
			commas++
		case '.':
			points++
		}
		grouped[style.decimal] = grouped[style.decimal] || style.grouping != 0
	}
	t.days, t.instants, t.comma, t.numbers = mostFrequent(days), mostFrequent(instants), commas > points, commas+points > 0
	t.grouped = t.comma && grouped[','] || !t.comma && grouped['.']
}

// mostFrequent returns the most frequent non-empty text.
func mostFrequent(counts map[string]int) string {
	best := ""
	for text, count := range counts {
		if text != "" && (best == "" || count > counts[best] || count == counts[best] && text < best) {
			best = text
		}
	}
	return best
}

// codesAmong returns the different values of a column if they seem to be codes.
func codesAmong(values []string) []string {
	seen := map[string]bool{}
	for _, value := range values {
		seen[value] = true
	}
	if len(seen) == 0 || len(seen) > 12 || len(seen) > 3 && len(seen) > len(values)/2 { // names and numbers must not appear in the map
		return nil
	}
	var list []string
	for value := range seen {
		if len(value) > 20 {
			return nil
		}
		list = append(list, value)
	}
	slices.Sort(list)
	return list
}

// guesser decides what tables contain and how they belong together.
type guesser struct {
	kinds  []*tableKind
	tables []*suggestedTable
}

// kind returns a kind by its name.
func (g *guesser) kind(name string) *tableKind {
	at := slices.IndexFunc(g.kinds, func(kind *tableKind) bool { return kind.name == name })
	return g.kinds[at]
}

// guess decides what each table contains, then where it belongs.
func (g *guesser) guess() {
	accounts := g.kind("accounts")
	fits := map[*suggestedTable]float64{}
	for _, t := range g.tables {
		t.account = t.accountColumn()
		if t.account >= 0 {
			t.keys[t.account] = true
		}
		t.placement, fits[t] = g.bestKind(t, nil)
	}
	// There is one table of accounts.
	var main *suggestedTable
	for _, t := range g.tables {
		if t.is(accounts) && (main == nil || fits[t] > fits[main]) {
			main = t
		}
	}
	for _, t := range g.tables {
		if t.is(accounts) && t != main {
			t.placement, _ = g.bestKind(t, accounts)
		}
	}
	for _, t := range g.tables {
		g.lift(t)
	}
	for _, t := range g.tables {
		if t.is(accounts) && t.account < 0 {
			g.findAccountColumn(t)
		}
	}
	for _, t := range g.tables {
		g.relate(t)
	}
	for _, t := range g.tables {
		if t.placement != nil {
			t.placement = t.place(g.kinds, t.placement.kind, g.coveredFor(t))
		}
	}
	slices.SortStableFunc(g.tables, func(a, b *suggestedTable) int { return cmp.Compare(g.rank(a), g.rank(b)) })
}

// is reports whether a table is of a kind.
func (t *suggestedTable) is(kind *tableKind) bool {
	return t.placement != nil && t.placement.kind == kind
}

// coveredFor tells which kinds have a table of their own.
func (g *guesser) coveredFor(t *suggestedTable) func(*tableKind) bool {
	return func(kind *tableKind) bool {
		return slices.ContainsFunc(g.tables, func(other *suggestedTable) bool {
			return other != t && other.placement != nil && (other.is(kind) || other.placement.has(kind) && kind.isInside(other.placement.kind))
		})
	}
}

// bestKind finds the most likely kind of a table, by its name and its columns.
func (g *guesser) bestKind(t *suggestedTable, but *tableKind) (best *placement, most float64) {
	nothing := func(*tableKind) bool { return false }
	if kind := t.learned.kindOf(t); kind != nil && kind != but {
		return t.place(g.kinds, kind, nothing), 10
	}
	words := fileWords(t.file)
	for _, kind := range g.kinds {
		if kind == but || kind.words == "" {
			continue
		}
		p := t.place(g.kinds, kind, nothing)
		named := false
		for phrase := range strings.FieldsSeq(kind.words) {
			parts := strings.Split(phrase, "_")
			named = named || !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(words, part) })
		}
		own := 0.0
		for s, m := range p.placed {
			if s.kind == kind {
				own += m.score
			} else {
				own += 0.5 * m.score
			}
		}
		anchored := p.anchored(kind)
		if !anchored {
			own *= 0.4
		}
		fit := own / float64(max(1, len(t.columns)-len(t.keys)))
		if named {
			fit += 0.5
		}
		if (anchored || named && len(p.placed) > 0) && fit > most && fit >= 0.35 {
			best, most = p, fit
		}
	}
	return best, most
}

// fileWords returns the words of a file name. Some systems begin all names with their own.
func fileWords(file string) []string {
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	words := nameWords(stem)
	for _, part := range nameParts(stem) {
		for _, short := range []string{strings.TrimSuffix(part, "s"), strings.TrimSuffix(part, "e"), strings.TrimSuffix(part, "en"), part[min(2, len(part)):], part[min(3, len(part)):], part[min(4, len(part)):]} {
			if len(short) >= 3 {
				words = append(words, dictionaryWords()[short]...)
			}
		}
	}
	return words
}

// lift takes the rows of a table for something larger if they contain it and no other table does: a
// flat table of customers has the accounts in it.
func (g *guesser) lift(t *suggestedTable) {
	if t.placement == nil {
		return
	}
	for outer := t.placement.kind.parent; outer != nil; outer = outer.parent {
		if g.coveredFor(t)(outer) {
			return
		}
		// Rows of one account must not become several accounts.
		if outer.parent == nil && outer.stem == "accounts" && (t.account < 0 || g.repeats(t)) {
			return
		}
		p := t.place(g.kinds, outer, g.coveredFor(t))
		if outer.stem == "accounts" || p.anchored(outer) && p.total > t.placement.total+0.5 {
			t.placement = p
		}
	}
}

// repeats reports whether the account number of a table occurs more than once.
func (g *guesser) repeats(t *suggestedTable) bool {
	return t.sketches[t.account].repeated() > 0
}

// rank puts outer tables before inner ones.
func (g *guesser) rank(t *suggestedTable) int {
	order := []string{"accounts", "customers", "addresses", "supply points", "agreements", "meters", "registers", "readings", "schedules", "transactions"}
	if t.placement == nil {
		return 100
	}
	if at := slices.Index(order, t.placement.kind.name); at >= 0 {
		return at
	}
	return len(order)
}

// WriteSuggestion writes the map next to the tables, unless there is one.
func WriteSuggestion(ctx context.Context, name string, order SuggestOptions) (*Suggestion, error) {
	path := filepath.Join(order.Folder, name)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s already exists; rename it to get a new suggestion", path)
	}
	s, err := Suggest(ctx, order)
	if err != nil {
		return nil, err
	}
	return s, book.WriteNamed(path, bytes.TrimLeft([]byte(s.Text), "\n"))
}
