package convert

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

// Suggestion is a first map, to be corrected by someone who knows the tables.
type Suggestion struct {
	Text   string
	Tables int
	Open   int // values marked CHOOSE
}

// chooseMark marks what a person has to decide. No column or choice has this name, so a map that
// contains it is refused.
const chooseMark = "CHOOSE"

// suggestedTable is a table and what was guessed about it.
type suggestedTable struct {
	*inspection
	file, name string
	thing      tableKind
	account    int // index of the account column, or -1
	parent     *suggestedTable
	children   []*suggestedTable
	taken      map[int]bool
	days       string
	comma      bool
	grouped    bool // numbers have thousands separators
	numbers    bool // there are numbers with a decimal mark
	instants   string
}

// Suggest inspects the tables of a folder and writes a first map for them.
func Suggest(folder string) (*Suggestion, error) {
	var tables []*suggestedTable
	for _, name := range fileNames(folder) {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".csv", ".txt", ".tsv", ".xlsx", ".xlsm":
		default:
			continue
		}
		looked, err := inspectFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		t := &suggestedTable{inspection: looked, file: name, thing: guessKind(name, looked.columns), taken: map[int]bool{}}
		// A point in the name would make it look like a place.
		t.name = strings.Map(func(r rune) rune {
			if r == '.' || r == ' ' {
				return '_'
			}
			return r
		}, strings.ToUpper(strings.TrimSuffix(name, filepath.Ext(name))))
		t.account = columnFor("account", looked.columns, nil)
		t.inspectFormats()
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("%s has no tables: files that end with .csv, .tsv, .txt or .xlsx", folder)
	}
	if len(tables) > 500 {
		return nil, fmt.Errorf("%s has more than 500 tables; put those that matter into a folder of their own", folder)
	}
	relate(tables)
	w := &mapWriter{tables: tables}
	return w.write(), nil
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

// relate finds the parents of the tables. Of several tables of the same kind, the one with the most
// columns is used.
func relate(tables []*suggestedTable) {
	find := func(name string) *suggestedTable {
		var best *suggestedTable
		for _, t := range tables {
			if t.thing.name == name && (best == nil || len(t.columns) > len(best.columns)) {
				best = t
			}
		}
		return best
	}
	for _, t := range tables {
		if t.thing.parent == "" {
			continue
		}
		if t.parent = find(t.thing.parent); t.parent == nil && t.thing.parent == "addresses" {
			t.parent = find("accounts") // the rows contain the address
			t.thing.path = "supply_addresses.supply_points"
		}
		if t.parent == t {
			t.parent = nil
		}
		if t.parent != nil {
			t.parent.children = append(t.parent.children, t)
		}
	}
	slices.SortStableFunc(tables, func(a, b *suggestedTable) int { return cmp.Compare(a.rank(), b.rank()) })
}

// rank puts outer tables before inner ones.
func (t *suggestedTable) rank() int {
	order := []string{"accounts", "customers", "addresses", "supply points", "agreements", "meters", "schedules", "transactions", "line items", "notes", "statements", "instructions"}
	if t.unclear() {
		return len(order)
	}
	return slices.Index(order, t.thing.name)
}

// unclear reports whether the kind of the table is unknown.
func (t *suggestedTable) unclear() bool { return t.thing.object == nil }

// link finds the column shared with the parent, preferring one that is not the account number.
func (t *suggestedTable) link() string {
	var shared []string
	for i, column := range t.columns {
		if slices.Contains(t.parent.columns, column) {
			if i != t.account && strings.ContainsAny(strings.ToLower(column), "_#") || t.parent.thing.name == "accounts" && i == t.account {
				return column
			}
			shared = append(shared, column)
		}
	}
	if t.account >= 0 && slices.Contains(shared, t.columns[t.account]) {
		return t.columns[t.account]
	}
	if len(shared) > 0 {
		return shared[0]
	}
	return chooseMark
}

// codes returns the values of a column that seems to contain codes.
func (s *inspection) codes(column int) []string {
	seen, values := map[string]bool{}, s.values(column)
	for _, value := range values {
		seen[value] = true
	}
	if len(seen) == 0 || len(seen) > 12 || len(seen) > 2 && len(seen) > len(values)/2 { // names and numbers must not appear in the map
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

// chosen reports whether codes are already valid choices of an attr.
func chosen(codes, choices []string) bool {
	for _, code := range codes {
		if !slices.Contains(choices, code) {
			return false
		}
	}
	return true
}

// wholeNumbers reports whether a column has only integers, so that amounts in it are probably
// cents.
func (s *inspection) wholeNumbers(column int) bool {
	values := s.values(column)
	for _, value := range values {
		if strings.Trim(value, "-+0123456789") != "" {
			return false
		}
	}
	return len(values) > 0
}

// needed reports whether an attr must be filled.
func needed(field rules.Field) bool { return field.Required && field.Type.Shape < rules.ShapeObject }

// WriteSuggestion writes the map next to the tables, unless there is one.
func WriteSuggestion(folder, name string) (*Suggestion, error) {
	path := filepath.Join(folder, name)
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s already exists; rename it to get a new suggestion", path)
	}
	s, err := Suggest(folder)
	if err != nil {
		return nil, err
	}
	return s, book.WriteNamed(path, []byte(s.Text))
}
