package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"landfall/internal/kit/book"
)

// fileWriter writes one file of the book.
type fileWriter struct {
	*conversion
	stem string
	file *backgroundWriter // or nil as long as there is less than a sheet

	text  []byte // lines that are not printed yet, each written where it stays
	last  []byte // the account of the line before, or of the line at hand
	begun bool
	name  []byte // of the list in a line, with quotes and colon
	list  int    // where the items of the line at hand begin
	items int
	known *runReader // the accounts of the book, in order
	ended bool

	used [][]int // rows in the book, by table: of itself and of those below it
}

// newFileWriter makes the lines of one file of the book.
func newFileWriter(x *conversion, stem string) *fileWriter {
	return &fileWriter{
		conversion: x, stem: stem, name: memberName(stem), used: make([][]int, len(x.tables)), text: make([]byte, 0, bufferSize),
	}
}

// writeFiles writes the files whose lines had to be sorted: accounts first,
// because the others have to know them, and then the others side by side.
func (x *conversion) writeFiles(ctx context.Context) error {
	if s := x.roots[book.Accounts.Stem]; s != nil {
		if err := newFileWriter(x, book.Accounts.Stem).writeAll(ctx, s); err != nil {
			return err
		}
	}
	// From here on the numbers are only read, and each press opens them for itself.
	if x.numbers != nil {
		if err := x.numbers.finish(); err != nil {
			return err
		}
	}
	var presses sync.WaitGroup
	wrong := make(chan error, len(x.roots)+1)
	for stem, s := range x.roots {
		if stem != book.Accounts.Stem {
			presses.Go(func() { wrong <- newFileWriter(x, stem).writeAll(ctx, s) })
		}
	}
	presses.Wait()
	close(wrong)
	for err := range wrong {
		if err != nil {
			return err
		}
	}
	if x.totals != nil {
		if err := x.writeTotals(x.totals); err != nil {
			return err
		}
	}
	// The files were closed beside the work. Whether the disk took them is known
	// only now, and a book that is not durable is none.
	x.closing.Wait()
	return x.closeErr
}

// writeAll presses everything that a sorter has.
func (p *fileWriter) writeAll(ctx context.Context, s *sorter) error {
	stream, err := s.stream()
	if err != nil {
		return err
	}
	if p.stem != book.Accounts.Stem && p.numbers != nil {
		if p.known, err = p.numbers.open(); err != nil {
			return err
		}
		p.ended = !p.known.next()
	}
	var l pendingRow
	count := 0
	for e := stream.next(); e != nil; e = stream.next() {
		if count++; count%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		number, n := binary.Uvarint(e.payload)
		t := p.tables[number]
		text := l.readCounts(e.payload[n:], len(t.below))
		if err := p.writeRow(t, e, l.counts, text); err != nil {
			return err
		}
	}
	if err := errors.Join(stream.err(), p.flush()); err != nil {
		return err
	}
	return s.release()
}

// writeRow takes one row that has everything.
func (p *fileWriter) writeRow(t *sourceTable, e *sortEntry, counts []int, text []byte) error {
	switch p.stem {
	case book.Accounts.Stem:
		return p.account(t, e.key, e.at, counts, func(dst []byte) []byte { return append(dst, text...) })
	case totalsStem:
		return p.total(t, e.at, counts, text)
	}
	known, err := p.inBook(e.key)
	switch {
	case err != nil:
		return err
	case !known && !p.placeOf(t).orphans:
		return p.reject(t, e.at, counts, Problem{
			Kind: Orphan, Column: p.column(t), Value: shortenKey(e.key),
			What: "this account is not in the book; say orphans: keep if it is on the platform already",
		})
	case p.stem == book.Instructions.Stem:
		// An instruction has no list: its members stand beside the account, and
		// each is a line.
		p.text = append(closeObject(append(p.open(p.text, e.key), text...)), '\n')
		p.countUsed(t, counts)
		return p.flushFull()
	}
	return p.item(t, e.key, counts, text)
}

// account writes an account, once.
func (p *fileWriter) account(t *sourceTable, key []byte, at uint64, counts []int, members func([]byte) []byte) error {
	// Keys come in order, so that a second row of an account follows directly on
	// the first.
	if p.begun && bytes.Equal(key, p.last) {
		return p.reject(t, at, counts, Problem{
			Kind: Duplicate, Column: p.column(t), Value: shortenKey(key), What: "there is a row of this account already",
		})
	}
	p.begun, p.last = true, append(p.last[:0], key...)
	begin := len(p.text)
	p.text = closeObject(members(p.open(p.text, key)))
	// Only here is the whole line known: each place was measured by itself.
	if len(p.text)-begin > maxLine {
		p.text = p.text[:begin]
		return p.reject(t, at, counts, Problem{
			Kind: Surplus, Column: p.column(t), Value: shortenKey(key), What: "the account is longer than can be sent",
		})
	}
	// The numbers go to disk: a set of them in memory would grow with the book.
	if p.numbers == nil {
		run, err := p.workspace.createRun()
		if err != nil {
			return err
		}
		p.numbers = run
	}
	if err := p.numbers.write(&sortEntry{key: key}); err != nil {
		return err
	}
	p.countUsed(t, counts)
	p.text = append(p.text, '\n')
	return p.flushFull()
}

// open begins a line with whose it is.
func (p *fileWriter) open(dst, account []byte) []byte {
	dst = append(append(dst, `{"import_supplier":`...), p.code...)
	return append(appendText(append(dst, `,"external_account_number":`...), account), ',')
}

// item adds to the line of an account; a line takes only so many.
func (p *fileWriter) item(t *sourceTable, key []byte, counts []int, text []byte) error {
	// What is measured are the items; the rest is left for whose line it is. An
	// account may have further lines, so that nothing is refused here.
	if !p.begun || !bytes.Equal(key, p.last) || p.items >= p.placeOf(t).most || len(p.text)-p.list+len(text) > maxLine-4096 {
		if err := p.flushLine(); err != nil {
			return err
		}
		p.begun, p.last = true, append(p.last[:0], key...)
		p.text = append(append(p.open(p.text, key), p.name...), '[')
		p.list = len(p.text)
	}
	p.text = append(closeObject(append(append(p.text, '{'), text...)), ',')
	p.items++
	p.countUsed(t, counts)
	return nil
}

// inBook reports whether an account is in the book. Keys come in order. A map
// that makes no accounts adds to accounts that exist.
func (p *fileWriter) inBook(key []byte) (bool, error) {
	// Where the map makes accounts and none came of it, nothing can belong to any.
	if !p.makesAccounts || p.known == nil {
		return !p.makesAccounts, nil
	}
	for !p.ended {
		switch order := compareKeys(p.known.entry().key, key); {
		case order == 0:
			return true, nil
		case order > 0:
			return false, nil
		}
		p.ended = !p.known.next()
	}
	return false, p.known.err()
}

// placeOf gives where the rows of a table go in this file.
func (p *fileWriter) placeOf(t *sourceTable) *place {
	for _, target := range t.places {
		if target.stem == p.stem {
			return target
		}
	}
	return nil
}

// column names the one with the account.
func (p *fileWriter) column(t *sourceTable) string {
	if column := p.placeOf(t).key[0].column; column >= 0 {
		return t.columns[column]
	}
	return ""
}
