package specimen

import (
	"context"
	"errors"
	"os"
	"runtime"

	"landfall/internal/book"
)

// Printed says what a book has become.
type Printed struct {
	Lines  map[book.Kind]int
	Faults map[string]int
}

// sheet is a part of the book: the lines of a few hundred accounts, by file.
type sheet struct {
	lines  [][]byte // in the order of book.Kinds
	faults map[string]int
}

// sheetSize is how many accounts are drawn before they are written.
const sheetSize = 256

// Print writes a book into a folder, on all cores and in order. Files that
// would be empty are left out. What fails leaves no file of a book behind.
func (o Order) Print(ctx context.Context, folder, ending string, progress func(accounts int)) (printed Printed, err error) {
	if err := o.Check(); err != nil {
		return Printed{}, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Printed{}, err
	}
	printed = Printed{Lines: map[book.Kind]int{}, Faults: map[string]int{}}
	files := make([]*book.Writer, len(book.Kinds()))
	defer func() {
		for _, file := range files {
			if file != nil && err != nil {
				err = errors.Join(err, file.Abandon())
			}
		}
	}()
	done := 0
	for sheet := range o.sheets(ctx) {
		for i, kind := range book.Kinds() {
			if len(sheet.lines[i]) == 0 {
				continue
			}
			if files[i] == nil {
				if files[i], err = book.Create(folder, kind, ending); err != nil {
					return Printed{}, err
				}
			}
			if _, err = files[i].Write(sheet.lines[i]); err != nil {
				return Printed{}, err
			}
		}
		for kind, count := range sheet.faults {
			printed.Faults[kind] += count
		}
		done = min(done+sheetSize, o.Accounts)
		progress(done)
	}
	if err = ctx.Err(); err != nil {
		return Printed{}, err
	}
	for i, kind := range book.Kinds() {
		if files[i] == nil {
			continue
		}
		printed.Lines[kind] = files[i].Lines
		whole := files[i]
		files[i] = nil
		if err = whole.Close(); err != nil {
			return Printed{}, err
		}
	}
	return printed, nil
}

// sheets draws the book in parallel and gives it in order. A few sheets wait
// for their turn at most, whatever the size of the book.
func (o Order) sheets(ctx context.Context) func(func(sheet) bool) {
	return func(yield func(sheet) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		turns := make(chan chan sheet, runtime.GOMAXPROCS(0))
		go func() {
			defer close(turns)
			for first := 0; first < o.Accounts && ctx.Err() == nil; first += sheetSize {
				turn := make(chan sheet, 1)
				select {
				case turns <- turn:
				case <-ctx.Done():
					return
				}
				go func() { turn <- o.sheet(first, min(first+sheetSize, o.Accounts)) }()
			}
		}()
		for turn := range turns {
			if !yield(<-turn) {
				return
			}
		}
	}
}

func (o Order) sheet(from, to int) sheet {
	s := sheet{lines: make([][]byte, len(book.Kinds())), faults: map[string]int{}}
	for place := from; place < to; place++ {
		entry := o.Draw(place)
		for i, line := range [][]byte{entry.Account, entry.Notes, entry.Transactions, entry.Statements, entry.Instruction} {
			if line != nil {
				s.lines[i] = append(append(s.lines[i], line...), '\n')
			}
		}
		if entry.Fault != "" {
			s.faults[entry.Fault]++
		}
	}
	return s
}
