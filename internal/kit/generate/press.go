package generate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"landfall"
	"landfall/internal/kit/book"
)

// Written says what a book has become.
type Written struct {
	Lines  map[book.Kind]int
	Faults map[string]int
}

// WrittenTables says what tables have become.
type WrittenTables struct {
	Rows   map[string]int // by file
	Faults map[string]int
}

// drawFunc draws what is written of the account at a place, a text for each file,
// and says what is wrong with it and what the old system has of it.
type drawFunc func(index int) (texts [][]byte, fault string, figures landfall.Figures)

// output is what was made: the lines of each file, the mistakes, and what the old
// system has in all.
type output struct {
	lines  []int
	faults map[string]int
	source landfall.Figures
}

// batch is a part of the book: the lines of a few hundred accounts, by file.
type batch struct {
	lines  [][]byte
	faults map[string]int
	sum    landfall.Figures
}

// batchSize is how many accounts are drawn before they are written.
const batchSize = 256

// WriteBook writes a book into a folder, on all cores and in order, and beside it
// the control totals of the old system. Files that would be empty are left out.
// What fails leaves no file of a book behind.
func (o Options) WriteBook(ctx context.Context, folder, ending string, progress func(accounts int)) (Written, error) {
	totals := filepath.Join(folder, book.TotalsName)
	// The totals are written last. That they are there already should be told
	// before the work, and not after it.
	if _, err := os.Lstat(totals); err == nil {
		return Written{}, fmt.Errorf("%s is there already; remove it or name another folder", totals)
	}
	var paths []string
	for _, kind := range book.Kinds() {
		paths = append(paths, filepath.Join(folder, kind.Stem+".ndjson"+ending))
	}
	made, err := o.write(ctx, folder, paths, nil, o.drawLines, progress)
	if err != nil {
		return Written{}, err
	}
	printed := Written{Lines: map[book.Kind]int{}, Faults: made.faults}
	for i, kind := range book.Kinds() {
		if made.lines[i] > 0 {
			printed.Lines[kind] = made.lines[i]
		}
	}
	return printed, book.WriteNamed(totals, formatTotals(made.source))
}

// WriteTables writes the same book as the tables of the old system, and the map
// that makes the book of them.
func (o Options) WriteTables(ctx context.Context, folder string, progress func(accounts int)) (WrittenTables, error) {
	if err := o.CheckTables(); err != nil {
		return WrittenTables{}, err
	}
	var paths []string
	var headers [][]byte
	for _, table := range oldTables {
		paths = append(paths, filepath.Join(folder, table.name+".CSV"))
		headers = append(headers, []byte(strings.ReplaceAll(table.columns, " ", ";")+"\r\n"))
	}
	made, err := o.write(ctx, folder, paths, headers, o.DrawTables, progress)
	if err != nil {
		return WrittenTables{}, err
	}
	printed := WrittenTables{Rows: map[string]int{}, Faults: made.faults}
	for i, path := range paths {
		// The header is a line of the file and no row of the table.
		printed.Rows[filepath.Base(path)] = made.lines[i] - 1
	}
	// JSON is YAML as well, if it stands far enough to the right.
	totals := strings.ReplaceAll(strings.TrimSpace(string(formatTotals(made.source))), "\n", "\n  ")
	return printed, book.WriteNamed(filepath.Join(folder, MapName), []byte(o.Map()+"\n# What the old system says it has.\ncontrol_totals:\n  "+totals+"\n"))
}

// drawLines gives the lines of one account, one for each file, nil where it
// has nothing there.
func (o Options) drawLines(index int) (lines [][]byte, fault string, figures landfall.Figures) {
	entry := o.Draw(index)
	for _, line := range [][]byte{entry.Account, entry.Notes, entry.Transactions, entry.Statements, entry.Instruction} {
		if line != nil {
			line = append(line, '\n')
		}
		lines = append(lines, line)
	}
	return lines, entry.Fault, entry.Figures
}

// write writes files that grow side by side and gives the lines of each.
// Headers, if any, are their first lines.
func (o Options) write(
	ctx context.Context, folder string, paths []string, headers [][]byte, draw drawFunc, progress func(int),
) (made output, err error) {
	if err := o.Check(); err != nil {
		return output{}, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return output{}, err
	}
	made = output{lines: make([]int, len(paths)), faults: map[string]int{}}
	files := make([]*book.Writer, len(paths))
	defer func() {
		for _, file := range files {
			if file != nil && err != nil {
				err = errors.Join(err, file.Abandon())
			}
		}
	}()
	write := func(i int, text []byte) (err error) {
		if len(text) == 0 {
			return nil
		}
		if files[i] == nil {
			if files[i], err = book.CreateNamed(paths[i]); err != nil {
				return err
			}
		}
		_, err = files[i].Write(text)
		return err
	}
	for i, header := range headers {
		if err = write(i, header); err != nil {
			return output{}, err
		}
	}
	done := 0
	for sheet := range o.batches(ctx, len(paths), draw) {
		for i, text := range sheet.lines {
			if err = write(i, text); err != nil {
				return output{}, err
			}
		}
		for kind, count := range sheet.faults {
			made.faults[kind] += count
		}
		made.source.Currency = sheet.sum.Currency
		made.source.Add(sheet.sum) // no book is so long that its sums have no room
		done = min(done+batchSize, o.Accounts)
		progress(done)
	}
	if err = ctx.Err(); err != nil {
		return output{}, err
	}
	for i, whole := range files {
		if whole == nil {
			continue
		}
		made.lines[i] = whole.Lines
		// Closing ends it either way, so that the one who abandons must not meet it
		// again.
		files[i] = nil
		if err = whole.Close(); err != nil {
			return output{}, err
		}
	}
	return made, nil
}

// batches draws the book in parallel and gives it in order. A few sheets wait
// for their turn at most, whatever the size of the book.
func (o Options) batches(ctx context.Context, files int, draw drawFunc) func(func(batch) bool) {
	return func(yield func(batch) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		turns := make(chan chan batch, runtime.GOMAXPROCS(0))
		go func() {
			defer close(turns)
			for first := 0; first < o.Accounts && ctx.Err() == nil; first += batchSize {
				// There is room for one, so that a sheet nobody takes any more does
				// not keep its goroutine.
				turn := make(chan batch, 1)
				select {
				case turns <- turn:
				case <-ctx.Done():
					return
				}
				go func() { turn <- drawBatch(first, min(first+batchSize, o.Accounts), files, draw) }()
			}
		}()
		for turn := range turns {
			if !yield(<-turn) {
				return
			}
		}
	}
}

// drawBatch draws some accounts in a row, on a core of its own.
func drawBatch(from, to, files int, draw drawFunc) batch {
	s := batch{lines: make([][]byte, files), faults: map[string]int{}}
	for index := from; index < to; index++ {
		lines, fault, figures := draw(index)
		for i, line := range lines {
			s.lines[i] = append(s.lines[i], line...)
		}
		if fault != "" {
			s.faults[fault]++
		}
		s.sum.Currency = figures.Currency
		s.sum.Add(figures)
	}
	return s
}
