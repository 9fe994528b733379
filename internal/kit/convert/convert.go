// Package convert makes a book of what an old system can export: CSV tables,
// one for each kind of thing, linked by columns of its own choosing. A map says
// which column fills which attr.
//
// A table is read once, on all cores. Its rows become JSON as far as they can be
// made of the row alone, with marks where rows of other tables come in. Then
// they are sorted by what links them and meet the others in one pass, from the
// innermost tables outwards, until they are lines of the book. What does not fit
// into memory is sorted on disk. Every row ends up in the book or in the report.
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

// Options says what is to be converted.
type Options struct {
	Map    string // path of the map
	Source string // folder of the tables
	Book   string // folder of the book, which must not be there yet
	Memory int64  // bytes that rows may take in memory before they go to disk
	// Progress hears now and then how many bytes of how many were read.
	Progress func(done, whole int64)
}

// DefaultMemory is how much rows may take unless somebody says otherwise.
const DefaultMemory = 256 << 20

// minMemory is what a few blocks of rows take.
const minMemory = 64 << 10

// Result is what came of a conversion.
type Result struct {
	Tallies  []Tally        `json:"tables"`
	Lines    map[string]int `json:"lines"` // of the files of the book
	Problems int            `json:"problems"`
	Troubles []Trouble      `json:"troubles"`
	Spilled  int64          `json:"spilled_bytes"`
}

// Whole reports whether every row that was meant to be is in the book.
func (r *Result) Whole() bool { return r.Problems == 0 }

// conversion is one at work.
type conversion struct {
	*plan
	context context.Context //nolint:containedctx // of the one call it serves
	options   Options
	partFolder    string // where the book grows until it is whole

	code []byte // of the supplier, as it stands in every line

	workspace     *workspace
	stages   [][]*sorter // by table and group
	tallies []*tableTally  // by table
	workers  sync.Pool
	cores    chan struct{} // has something in it for each one that is taken

	makesAccounts bool
	roots         map[string]*sorter
	numbers       *sortedRun // of the accounts in the book, in order
	mutex         sync.Mutex
	lines         map[string]int // of the files of the book
	closing       sync.WaitGroup // files of the book that are being made durable
	closeErr        error          // why some are not
	read, whole   int64
}

// Convert does what an order says. A *MapError says what is wrong with the map.
// Rows with problems are no error: the result tells of them.
func Convert(ctx context.Context, order Options) (result *Result, err error) {
	// The map is read before anything is claimed: a mistake in it leaves nothing
	// behind.
	p, err := readPlan(ctx, order.Map, order.Source)
	if err != nil {
		return nil, err
	}
	x := &conversion{
		plan: p, context: ctx, options: order, roots: map[string]*sorter{}, lines: map[string]int{},
		workers: sync.Pool{New: func() any { return &worker{} }}, cores: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	lock, err := claimFolder(order.Book)
	if err != nil {
		return nil, err
	}
	x.partFolder = lock.Name()
	defer func() {
		// Files of the book may still be on their way to the disk when something
		// else fails; the folder goes after them. A whole book has its name by
		// then, and there is nothing left to remove.
		x.closing.Wait()
		err = errors.Join(err, os.RemoveAll(x.partFolder), lock.Close())
	}()
	aside := filepath.Join(x.partFolder, "conversion")
	spill := filepath.Join(x.partFolder, "spill")
	if err := errors.Join(os.Mkdir(aside, 0o700), os.Mkdir(spill, 0o700)); err != nil {
		return nil, err
	}
	x.workspace = &workspace{budget: max(order.Memory, minMemory), folder: spill}
	// Batches that wait to be used again are not counted as held, so they are kept
	// few beside what is.
	x.workspace.pool.most = x.workspace.budget / 4
	x.code = appendText(nil, []byte(p.supplier))
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if err := x.convert(ctx); err != nil {
		return nil, err
	}
	if result, err = x.finish(filepath.Join(aside, "problems.csv")); err != nil {
		return nil, err
	}
	// The problems of each table were gathered in this folder, so that it can go
	// only now that they are put together.
	if err := os.RemoveAll(spill); err != nil {
		return nil, err
	}
	if err := writeReport(filepath.Join(aside, "report.json"), result); err != nil {
		return nil, err
	}
	return result, publishBook(x.partFolder, order.Book)
}

// prepare gives every place its sorter and every table its tally.
func (x *conversion) prepare() error {
	x.stages = make([][]*sorter, len(x.tables))
	// From here on tables are found by their number; the plan had them in the order
	// in which they wait for each other.
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
		account.tally.Unused = x.unused(t)
		for _, path := range t.paths {
			account.tally.Files = append(account.tally.Files, filepath.Base(path))
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			t.bytes += info.Size()
		}
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
			// One place alone makes the accounts, and its rows leave their last
			// meeting in order. That there is no sorter says that they are printed
			// as they come.
			case p.stem == book.Accounts.Stem && rooted[p.stem] == 1 && t.inOrder(p):
			default:
				// Several tables may become one file. They share a sorter, and each
				// row says which table it is of.
				if x.roots[p.stem] == nil {
					x.roots[p.stem] = x.workspace.newSorter()
				}
				p.sorter = x.roots[p.stem]
			}
		}
	}
	return nil
}

// orderGroups lets the group that is linked by what the rows are called in their
// place come last: then they are in the order of their place when they leave it.
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

// inOrder reports whether the rows of a table come in the order in which a
// place wants them, which saves sorting them.
func (t *sourceTable) inOrder(p *place) bool {
	last := len(t.groups) - 1
	return last >= 0 && t.groups[last].id == strings.Join(p.linked, "\x00")
}

// makesAccounts reports whether the rows of a table become accounts without
// being sorted once more.
func (t *sourceTable) makesAccounts() bool {
	for _, p := range t.places {
		if p.mode == asRoot && p.sorter == nil {
			return true
		}
	}
	return false
}

// finish accounts for every row.
func (x *conversion) finish(problems string) (*Result, error) {
	if err := writeProblems(problems, x.tallies); err != nil {
		return nil, err
	}
	result := &Result{Lines: x.lines, Troubles: rankTroubles(x.tallies), Spilled: x.workspace.spilled.Load()}
	for _, a := range x.tallies {
		// A conversion that loses a row in silence is worse than one that fails.
		if !a.tally.adds() {
			return nil, fmt.Errorf("the rows of %s do not add up, which is a mistake of ours: %+v", a.tally.Table, a.tally)
		}
		result.Problems += a.tally.Reported()
		result.Tallies = append(result.Tallies, a.tally)
	}
	return result, nil
}

// reject reports a row that cannot be in the book. What is inside it is left out
// with it.
func (x *conversion) reject(t *sourceTable, at uint64, counts []int, p Problem) error {
	x.countLeftOut(t, counts)
	p.File, p.Line = t.file(at)
	return x.tallies[t.number].problem(p)
}

// countLeftOut counts rows that were left out with what they belonged to, each
// with its own table: the sums at the end must come to all that was read.
func (x *conversion) countLeftOut(t *sourceTable, counts []int) {
	for i, count := range counts {
		if count > 0 {
			x.tallies[t.below[i].number].leaveOut(count)
		}
	}
}

// advance tells how far the reading is. Several cores read at once, so what
// is told never goes back.
func (x *conversion) advance(bytes int) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.read += int64(bytes)
	// Told under the lock, so that the core that had read less cannot speak last.
	if x.options.Progress != nil {
		x.options.Progress(x.read, x.whole)
	}
}
