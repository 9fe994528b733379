package convert

import (
	"bytes"
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
	"landfall/internal/lib/yamltree"
)

// Suggestion is a first map, to be corrected by someone who knows the tables.
type Suggestion struct {
	Text   string
	Tables int
	Open   int // values marked CHOOSE
	// Skipped are the files that are not in the map, with the reason.
	Skipped []SkippedFile
}

// SkippedFile is a file that was not read as a table.
type SkippedFile struct {
	Name string `json:"file"`
	Why  string `json:"why"`
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
	keys      map[int]bool    // columns that say where rows belong
	varying   []int           // by column: accounts whose rows differ in it; nil if the table is not flat
	inside    *suggestedTable // the rows of a flat table of accounts
	above     *suggestedTable // the accounts of the rows of a flat table
	whole     []string        // all columns of a flat table
	trailers  []string        // first fields of the last lines, which are not rows
	totals    []string        // regular expressions for rows with totals
	copied    bool            // a similar map says everything about it
	copies    [][]string      // lines of a similar map
	lost      []lostTable     // further tables of a similar map that could not be taken over
	other     *yamltree.Node  // the table in a similar map
	minus     []lineCount     // by column: values with a minus
	again     []int           // by column: the line of the first value that was there before
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
	var skipped []SkippedFile
	words, err := sharedWords(order.Folder, fileNames(order.Folder))
	if err != nil {
		return nil, err
	}
	for _, name := range fileNames(order.Folder) {
		if why := notTable(ctx, order.Folder, name); why != "" {
			skipped = append(skipped, SkippedFile{name, why})
		}
		if !isTable(name) || isBlankFile(filepath.Join(order.Folder, name)) {
			continue
		}
		for _, sheet := range unreadSheets(filepath.Join(order.Folder, name), []string{""}) {
			skipped = append(skipped, SkippedFile{name + ", sheet " + sheet, "only the first sheet is read; add a table for it with sheet: " + quoted(sheet)})
		}
		if len(tables) == maxSuggestedTables {
			return nil, fmt.Errorf("%s has more than %d tables; put those that matter into a folder of their own", order.Folder, maxSuggestedTables)
		}
		t, err := readSuggested(ctx, order.Folder, name, suggestBytes, words, nil)
		if errors.Is(err, errEmpty) {
			skipped = append(skipped, SkippedFile{name, "it is empty"})
			continue
		}
		if err != nil {
			return nil, err
		}
		t.name = freeName(tables, t.name, name)
		if t.account = t.accountColumn(); t.flat() {
			if err := t.findVarying(ctx, order.Folder); err != nil {
				return nil, err
			}
		}
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
	w := &mapWriter{tables: g.tables, kinds: g.kinds, learned: learned, packs: packs, skipped: skipped}
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

// notTable says why a file that may be a table is not read as one, and what to do, or returns "".
func notTable(ctx context.Context, folder, name string) string {
	path := filepath.Join(folder, name)
	info, err := os.Stat(path)
	switch ending := strings.ToLower(filepath.Ext(name)); {
	case err != nil || info.IsDir() || strings.HasPrefix(name, "."):
		return ""
	case isBlankFile(path):
		return "it is empty"
	case isTable(name) || slices.Contains([]string{".yaml", ".yml", ".ndjson"}, ending):
		return ""
	case ending == ".xls":
		return "save it as .xlsx"
	case slices.Contains([]string{".pdf", ".zip", ".gz", ".doc", ".docx", ".json", ".xml", ".md"}, ending):
		return "it is not a table"
	}
	looked, err := inspectFile(ctx, path, nil)
	switch {
	case err != nil || slices.ContainsFunc(looked.columns, func(column string) bool { return strings.ContainsRune(column, 0) }):
		return "it is not text"
	case len(looked.columns) > 1:
		return fmt.Sprintf("it has columns between %q; rename it to .csv and suggest again, or add a table for it", looked.delimiter)
	}
	return "its lines have no delimiter; add a table for it with fixed: {COLUMN: 1-8, …}"
}

// readSuggested inspects one table, and reads up to a number of bytes of it. row may be nil.
func readSuggested(ctx context.Context, folder, name string, most int64, words map[string]int, row func(t *suggestedTable, line int, fields [][]byte)) (*suggestedTable, error) {
	looked, err := inspectFile(ctx, filepath.Join(folder, name), words)
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
	t.sketches, t.minus, t.again = make([]sketch, len(t.columns)), make([]lineCount, len(t.columns)), make([]int, len(t.columns))
	return t, t.eachRow(ctx, filepath.Join(folder, name), most, func(line int, fields [][]byte) {
		if total := t.total(fields); total != "" {
			if !slices.Contains(t.totals, total) {
				t.totals = append(t.totals, total)
			}
		} else if len(fields) == len(t.columns) {
			t.trailers = nil
			for i, field := range fields {
				text := trimBlanks(field)
				if len(text) == 0 || isNullWord(string(text)) {
					continue
				}
				if t.sketches[i].add(text) == 2 && t.again[i] == 0 {
					t.again[i] = line
				}
				if hasMinus(text) {
					t.minus[i].add(line)
				}
			}
		} else if len(fields) > 0 && len(fields) < len(t.columns) && len(t.trailers) <= maxTrailers {
			t.trailers = append(t.trailers, string(trimBlanks(fields[0])))
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
	table.layout.header = s.header
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
		grouped[style.decimal] = grouped[style.decimal] || style.grouping == ',' || style.grouping == '.'
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
