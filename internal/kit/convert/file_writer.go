package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"landfall/internal/kit/book"
)

// fileWriter builds the lines of one file of the book.
type fileWriter struct {
	*conversion
	stem string
	file *backgroundWriter // nil until the first buffer is full

	text  []byte // lines that were not written yet
	last  []byte // the account of the current or previous line
	begun bool
	name  []byte // of the list in a line, with quotes and colon
	list  int    // where the items of the current line begin
	items int
	known *runReader // the accounts of the book, sorted
	ended bool

	used [][]int // rows in the book, by table, of itself and of those below it
}

// newFileWriter creates the writer of one file.
func newFileWriter(x *conversion, stem string) *fileWriter {
	return &fileWriter{
		conversion: x, stem: stem, name: memberName(stem), used: make([][]int, len(x.tables)), text: make([]byte, 0, bufferSize),
	}
}

// writeFiles writes the files whose lines had to be sorted: accounts first, because the others
// depend on them, then the others in parallel.
func (x *conversion) writeFiles(ctx context.Context) error {
	if s := x.roots[book.Accounts.Stem]; s != nil {
		if err := newFileWriter(x, book.Accounts.Stem).writeAll(ctx, s); err != nil {
			return err
		}
	}
	// From here on the account numbers are only read.
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
	// Files are closed in the background. Only now is it known whether all are durable.
	x.closing.Wait()
	return x.closeErr
}

// writeAll writes all rows of a sorter.
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

// writeRow writes one complete row.
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
			What: "this account is not in the book; set orphans: keep if it already exists on the platform",
		})
	case p.stem == book.Instructions.Stem:
		// Each instruction is a line of its own.
		p.text = append(closeObject(append(p.open(p.text, e.key), text...)), '\n')
		p.countUsed(t, counts)
		return p.flushFull()
	}
	return p.item(t, e.key, counts, text)
}

// account writes an account, once.
func (p *fileWriter) account(t *sourceTable, key []byte, at uint64, counts []int, members func([]byte) []byte) error {
	// Rows are sorted, so duplicates follow each other.
	if p.begun && bytes.Equal(key, p.last) {
		return p.reject(t, at, counts, Problem{
			Kind: Duplicate, Column: p.column(t), Value: shortenKey(key), What: "there is already a row of this account",
		})
	}
	p.begun, p.last = true, append(p.last[:0], key...)
	begin := len(p.text)
	p.text = closeObject(members(p.open(p.text, key)))
	// Only here is the length of the whole line known.
	if len(p.text)-begin > maxLine {
		p.text = p.text[:begin]
		return p.reject(t, at, counts, Problem{
			Kind: Surplus, Column: p.column(t), Value: shortenKey(key), What: "the account is too long to be sent",
		})
	}
	// The numbers are written to disk, because a set in memory would grow with the book.
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

// open begins a line with the supplier and the account.
func (p *fileWriter) open(dst, account []byte) []byte {
	dst = append(append(dst, `{"import_supplier":`...), p.code...)
	return append(appendText(append(dst, `,"external_account_number":`...), account), ',')
}

// item adds an item to the line of an account and starts a new line if necessary.
func (p *fileWriter) item(t *sourceTable, key []byte, counts []int, text []byte) error {
	// An account may have several lines, so nothing is refused here. Some space is left for the
	// start of the line.
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

// inBook reports whether an account is in the book. Keys come sorted. A map without accounts adds
// to existing ones.
func (p *fileWriter) inBook(key []byte) (bool, error) {
	// If the map creates accounts but none was created, nothing can belong to one.
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

// placeOf returns the place of a table in this file.
func (p *fileWriter) placeOf(t *sourceTable) *place {
	for _, target := range t.places {
		if target.stem == p.stem {
			return target
		}
	}
	return nil
}

// column returns the name of the account column.
func (p *fileWriter) column(t *sourceTable) string {
	if column := p.placeOf(t).key[0].column; column >= 0 {
		return t.columns[column]
	}
	return ""
}
