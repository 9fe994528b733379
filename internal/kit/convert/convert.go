// Package convert converts the CSV tables of an old system, which are linked by columns, into a
// book. A map says which column fills which attr.
//
// Each table is read once, on all cores. A row becomes JSON as far as possible, with placeholders
// for the rows of other tables. The rows are sorted by their links and joined in one pass,
// innermost tables first, until they are lines of the book. What does not fit into memory is sorted
// on disk. Every row ends up in the book or in the report.
package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"landfall/internal/kit/book"
)

// Options says what to convert.
type Options struct {
	Map    string // path of the map
	Source string // folder of the tables
	Book   string // folder of the book, which must not exist yet
	Filter string // program that rewrites each file of a table, or ""
	Memory int64  // bytes of rows in memory before they are sorted on disk
	// Progress is called now and then with the bytes read and the total.
	Progress func(done, whole int64)
	// Reading, if set, is called with the path of each file before it is read.
	Reading func(path string)
}

// DefaultMemory is the default of Options.Memory.
const DefaultMemory = 256 << 20

// minMemory is the size of a few blocks of rows.
const minMemory = 64 << 10

// Result describes a conversion.
type Result struct {
	Tallies  []Tally        `json:"tables"`
	Lines    map[string]int `json:"lines"` // per file of the book
	Problems int            `json:"problems"`
	// Acknowledged counts the rows that are reported, but that the map says are not needed.
	Acknowledged int            `json:"acknowledged,omitempty"`
	Troubles     []ProblemCount `json:"troubles"`
	Spilled      int64          `json:"spilled_bytes"`
}

// Whole reports whether no row had a problem.
func (r *Result) Whole() bool { return r.Problems == 0 }

// conversion is the state of a conversion.
type conversion struct {
	*plan
	context    context.Context //nolint:containedctx // of the one call it serves
	options    Options
	partFolder string // temporary folder of the book

	code []byte // supplier code as JSON

	workspace *workspace
	stages    [][]*sorter   // by table and group
	tallies   []*tableTally // by table
	workers   sync.Pool
	cores     chan struct{} // a semaphore for the CPU cores

	makesAccounts bool
	roots         map[string]*sorter
	numbers       *sortedRun // the account numbers of the book, sorted
	mutex         sync.Mutex
	lines         map[string]int // per file of the book
	closing       sync.WaitGroup // files of the book being closed
	closeErr      error          // the first error while closing them
	read, whole   int64
	met           [][]byte     // by table and column: which readings of numbers and dates occurred
	codes         []otherCodes // by table
}

// Convert converts tables into a book. It returns a *MapError if the map is wrong. Rows with
// problems are not an error; the result describes them.
func Convert(ctx context.Context, order Options) (*Result, error) {
	result, mixed, err := convertOnce(ctx, order, nil)
	// Which columns are mixed is known only after reading them. This is rare, so the tables are read
	// again then, instead of twice always.
	if err == nil && mixed != nil {
		result, _, err = convertOnce(ctx, order, mixed)
	}
	return result, err
}

// mixedColumns are columns in which numbers or dates contradict each other, by table.
type mixedColumns map[string]map[int]mixture

// mixture is what contradicts each other in a column.
type mixture struct {
	ways  byte   // how doubtful values can be read: metNumber and so on
	codes string // codes of which the map does not say what they mean
}

// convertOnce converts. If there are mixed columns that it was not given, it returns them and no
// result, because values that it took there may be wrong.
func convertOnce(ctx context.Context, order Options, known mixedColumns) (result *Result, mixed mixedColumns, err error) {
	// The map is read first, so that a mistake in it leaves nothing behind.
	p, err := readPlan(ctx, order.Map, order.Source, order.Filter)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range p.tables {
		t.mixed = known[t.name]
	}
	x := &conversion{
		plan: p, context: ctx, options: order, roots: map[string]*sorter{}, lines: map[string]int{},
		workers: sync.Pool{New: func() any { return &worker{} }}, cores: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	lock, err := claimFolder(order.Book)
	if err != nil {
		return nil, nil, err
	}
	x.partFolder = lock.Name()
	defer func() {
		// Wait for files that are still being closed, then remove the temporary folder. A complete
		// book has been renamed by then.
		x.closing.Wait()
		err = errors.Join(err, os.RemoveAll(x.partFolder), lock.Close())
	}()
	aside := filepath.Join(x.partFolder, "conversion")
	spill := filepath.Join(x.partFolder, "spill")
	if err := errors.Join(os.Mkdir(aside, 0o700), os.Mkdir(spill, 0o700)); err != nil {
		return nil, nil, err
	}
	x.workspace = &workspace{budget: max(order.Memory, minMemory), folder: spill}
	// Unused batches do not count as held, so the pool is kept small.
	x.workspace.pool.most = x.workspace.budget / 4
	x.code = appendText(nil, []byte(p.supplier))
	if err := x.prepare(); err != nil {
		return nil, nil, err
	}
	if err := x.convert(ctx, aside); err != nil {
		return nil, nil, err
	}
	if mixed := x.mixedColumns(); known == nil && mixed != nil {
		return nil, mixed, nil
	}
	if result, err = x.finish(filepath.Join(aside, "problems.csv")); err != nil {
		return nil, nil, err
	}
	// This folder also holds the problems of each table, so it is removed last.
	if err := os.RemoveAll(spill); err != nil {
		return nil, nil, err
	}
	if err := writeReport(filepath.Join(aside, "report.json"), result); err != nil {
		return nil, nil, err
	}
	return result, nil, publishBook(x.partFolder, order.Book)
}

// addMet adds which readings occurred in a block of a table. Only the one goroutine that collects the
// blocks of the table calls it.
func (x *conversion) addMet(t *sourceTable, met []byte) {
	for column, what := range met {
		x.met[t.number][column] |= what
	}
}

// mixedColumns returns the columns with a doubtful value and one that contradicts the map, or nil.
// Tables with the same file share their columns.
func (x *conversion) mixedColumns() (mixed mixedColumns) {
	for _, t := range x.tables {
		for column := range t.columns {
			met := byte(0)
			for _, other := range x.tables {
				if t.sharesColumns(other) {
					met |= x.met[other.number][column]
				}
			}
			what := mixture{ways: met & (met >> metOther)}
			if len(x.codes[t.number][column]) > 1 {
				what.codes = x.codes[t.number].names(column)
			}
			if what != (mixture{}) {
				if mixed == nil {
					mixed = mixedColumns{}
				}
				if mixed[t.name] == nil {
					mixed[t.name] = map[int]mixture{}
				}
				mixed[t.name][column] = what
			}
		}
	}
	return mixed
}

// prepare creates the sorters and tallies.
func (x *conversion) prepare() error {
	x.stages = make([][]*sorter, len(x.tables))
	x.met, x.codes = make([][]byte, len(x.tables)), make([]otherCodes, len(x.tables))
	// From here on tables are looked up by number. The plan had them in dependency order.
	slices.SortFunc(x.tables, func(a, b *sourceTable) int { return a.number - b.number })
	rooted := map[string]int{}
	for _, t := range x.tables {
		for _, p := range t.places {
			rooted[p.stem]++
		}
	}
	x.makesAccounts = rooted[book.Accounts.Stem] > 0
	for _, t := range x.tables {
		account := newTableTally(t, x.workspace.folder)
		account.tally.Unused, account.tally.Blank = x.unused(t), t.blank
		for _, path := range t.paths {
			account.tally.Files = append(account.tally.Files, filepath.Base(path))
			account.tally.Paths = append(account.tally.Paths, path)
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			t.bytes += info.Size()
			if x.options.Reading != nil {
				x.options.Reading(path)
			}
		}
		account.tally.Sheets = x.unreadSheets(t)
		x.met[t.number] = make([]byte, len(t.columns))
		x.whole += t.bytes
		x.tallies = append(x.tallies, account)
		t.orderGroups()
		for range t.groups {
			x.stages[t.number] = append(x.stages[t.number], x.workspace.newSorter())
		}
		for _, p := range t.places {
			switch {
			case p.mode != asRoot:
				p.sorter = x.workspace.newSorter()
			// Only this place creates accounts, and its rows leave their last join sorted. Without
			// a sorter they are written as they come.
			case p.stem == book.Accounts.Stem && rooted[p.stem] == 1 && t.inOrder(p):
			default:
				// Several tables may become one file. They share a sorter, and each row names its
				// table.
				if x.roots[p.stem] == nil {
					x.roots[p.stem] = x.workspace.newSorter()
				}
				p.sorter = x.roots[p.stem]
			}
		}
	}
	return nil
}

// unreadSheets lists the sheets of the workbooks of a table that no table reads. The first table of a workbook
// has them.
func (x *conversion) unreadSheets(t *sourceTable) (names []string) {
	for _, path := range t.paths {
		var read []string
		first := -1
		for _, other := range x.tables {
			if slices.Contains(other.paths, path) {
				read = append(read, other.layout.sheet)
				if first < 0 {
					first = other.number
				}
			}
		}
		if first != t.number {
			continue
		}
		for _, name := range unreadSheets(path, read) {
			names = append(names, filepath.Base(path)+" "+name)
		}
	}
	return names
}

// orderGroups moves the group that is linked by the place's own key to the end, so that rows leave
// the last join in the order of their place.
func (t *sourceTable) orderGroups() {
	slices.SortStableFunc(t.groups, func(a, b *linkGroup) int {
		rank := func(g *linkGroup) int {
			if len(t.places) == 1 && g.id == strings.Join(t.places[0].linked, "\x00") {
				return 1
			}
			return 0
		}
		return rank(a) - rank(b)
	})
}

// inOrder reports whether the rows of a table leave their last join in the order of a place, so
// that they need not be sorted.
func (t *sourceTable) inOrder(p *place) bool {
	last := len(t.groups) - 1
	return last >= 0 && t.groups[last].id == strings.Join(p.linked, "\x00")
}

// makesAccounts reports whether the rows of a table become accounts without another sort.
func (t *sourceTable) makesAccounts() bool {
	for _, p := range t.places {
		if p.mode == asRoot && p.sorter == nil {
			return true
		}
	}
	return false
}

// finish checks that every row is accounted for and returns the result.
func (x *conversion) finish(problems string) (*Result, error) {
	if err := writeProblems(problems, x.tallies); err != nil {
		return nil, err
	}
	result := &Result{Lines: x.lines, Troubles: rankProblems(x.tallies), Spilled: x.workspace.spilled.Load()}
	for _, a := range x.tallies {
		// Losing a row silently is worse than failing.
		if !a.tally.adds() {
			return nil, fmt.Errorf("internal error: the rows of %s do not add up: %+v", a.tally.Table, a.tally)
		}
		result.Problems += a.tally.Reported()
		result.Acknowledged += a.tally.Acknowledged
		result.Tallies = append(result.Tallies, a.tally)
	}
	return result, nil
}

// reject reports a row that cannot be in the book. The rows inside it are left out with it.
func (x *conversion) reject(t *sourceTable, at uint64, counts []int, p Problem) error {
	x.countLeftOut(t, counts)
	p.File, p.Line = t.file(at)
	return x.tallies[t.number].problem(p)
}

// countLeftOut counts rows that were left out with their parent, each for its own table.
func (x *conversion) countLeftOut(t *sourceTable, counts []int) {
	for i, count := range counts {
		if count > 0 {
			x.tallies[t.below[i].number].leaveOut(count)
		}
	}
}

// advance reports progress. The lock keeps the reported values increasing.
func (x *conversion) advance(bytes int) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.read += int64(bytes)
	if x.options.Progress != nil {
		x.options.Progress(min(x.read, x.whole), x.whole) // a workbook is longer when it is unpacked
	}
}
