package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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
	held  heldAccount // the last account, until the next number shows that it has one row

	used [][]int // rows in the book, by table, of itself and of those below it
}

// heldAccount is an account whose line is at the end of the text, but not counted yet.
type heldAccount struct {
	table  *sourceTable
	at     uint64
	counts []int
	begin  int  // where its line begins
	bad    bool // its row was already reported
	passed bool // its row was passed over
	reused bool // another row has its number
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
		if bytes.Equal(text, badMark) || bytes.Equal(text, passedMark) {
			return p.unusedAccount(t, e.key, e.at, text)
		}
		return p.account(t, e.key, e.at, counts, func(dst []byte) []byte { return append(dst, text...) })
	case totalsStem:
		return p.total(t, e.at, counts, text)
	}
	known, unused, err := p.inBook(e.key)
	switch {
	case err != nil:
		return err
	case bytes.Equal(unused, badMark):
		// The account was reported. Its postings must not be sent to another one with its number.
		p.tallies[t.number].leaveOut(1)
		p.countLeftOut(t, counts)
		return nil
	case bytes.Equal(unused, passedMark) && !p.placeOf(t).orphans:
		p.tallies[t.number].read(0, 1)
		for i, count := range counts {
			p.tallies[t.below[i].number].read(0, count)
		}
		return nil
	case !known && !p.placeOf(t).orphans:
		return p.reject(t, e.at, counts, p.placeOf(t).orphan(Problem{
			Kind: Orphan, Column: p.column(t), Value: shortenKey(e.key),
			What: "this account is not in the book; set orphans: keep if it already exists on the platform",
		}))
	case p.stem == book.Instructions.Stem:
		// Each instruction is a line of its own.
		p.text = append(closeObject(append(p.open(p.text, e.key), text...)), '\n')
		p.countUsed(t, counts)
		return p.flushFull()
	}
	return p.item(t, e.key, counts, text)
}

// account writes an account. Of several rows with the same number none is written: they can be
// different households, and nobody knows which rows of other tables belong to which.
func (p *fileWriter) account(t *sourceTable, key []byte, at uint64, counts []int, members func([]byte) []byte) error {
	// Rows are sorted, so those of one number follow each other.
	again, err := p.hold(t, key, at, counts)
	switch {
	case err != nil:
		return err
	case again:
		return p.rejectReused(t, at, counts, p.held.table, p.held.at)
	}
	p.text = closeObject(members(p.open(p.text, key)))
	return nil
}

// unusedAccount takes note of a row that was reported or passed over. Another row with the number of one
// that was reported is not written either, or it would get the customers of both.
func (p *fileWriter) unusedAccount(t *sourceTable, key []byte, at uint64, mark []byte) error {
	passed := bytes.Equal(mark, passedMark)
	if len(key) == 0 || passed && p.begun && bytes.Equal(key, p.last) {
		return nil
	}
	again, err := p.hold(t, key, at, nil)
	p.held.passed = passed
	p.held.bad = p.held.bad || !again && !passed
	return err
}

// hold begins with another row. If it has the number of the held account, that one is reported, and
// hold returns true.
func (p *fileWriter) hold(t *sourceTable, key []byte, at uint64, counts []int) (again bool, err error) {
	same := p.begun && bytes.Equal(key, p.last)
	if same && !p.held.passed {
		if h := &p.held; !h.reused {
			h.reused = true
			p.text = p.text[:h.begin]
			if !h.bad {
				return true, p.rejectReused(h.table, h.at, h.counts, t, at)
			}
		}
		return true, nil
	}
	if !same {
		if err := p.release(); err != nil {
			return false, err
		}
	}
	p.begun, p.last = true, append(p.last[:0], key...)
	p.held = heldAccount{table: t, at: at, counts: append(p.held.counts[:0], counts...), begin: len(p.text)}
	return false, nil
}

// rejectReused reports a row whose account number another row has too.
func (p *fileWriter) rejectReused(t *sourceTable, at uint64, counts []int, other *sourceTable, otherAt uint64) error {
	file, line := other.file(otherAt)
	return p.reject(t, at, counts, Problem{
		Kind: Duplicate, Column: p.column(t), Value: shortenKey(p.last),
		where: fmt.Sprintf("%s:%d ", file, line),
		What:  "has the same account number, so neither is in the book; if the number was reused, join it with another column, or if rows are repeated, see distinct and several",
	})
}

// release ends the account that is held: no other row has its number.
func (p *fileWriter) release() error {
	h := &p.held
	if h.table == nil {
		return nil
	}
	entry := sortEntry{key: p.last}
	switch {
	case h.passed:
		entry.payload = passedMark
	case h.reused, h.bad:
		entry.payload = badMark
	// Only here is the length of the whole line known.
	case len(p.text)-h.begin > maxLine:
		p.text = p.text[:h.begin]
		if err := p.reject(h.table, h.at, h.counts, Problem{
			Kind: Surplus, Column: p.column(h.table), Value: shortenKey(p.last), What: "the account is too long to be sent",
		}); err != nil {
			return err
		}
		entry.payload = badMark
	default:
		p.countUsed(h.table, h.counts)
		p.text = append(p.text, '\n')
	}
	h.table = nil
	// The numbers are written to disk, because a set in memory would grow with the book.
	if p.numbers == nil {
		run, err := p.workspace.createRun()
		if err != nil {
			return err
		}
		p.numbers = run
	}
	if err := p.numbers.write(&entry); err != nil {
		return err
	}
	return p.flushFull()
}

// badMark and passedMark are the texts of an account whose row was reported or passed over. No members
// begin with these bytes. They also follow the number of an account that is not in the book.
var badMark, passedMark = []byte{1}, []byte{2}

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

// inBook reports whether an account is in the book, or with a mark why its rows are not. Keys come sorted. A map without accounts adds to existing ones.
func (p *fileWriter) inBook(key []byte) (known bool, unused []byte, err error) {
	// If the map creates accounts but none was created, nothing can belong to one.
	if !p.makesAccounts || p.known == nil {
		return !p.makesAccounts, nil, nil
	}
	for !p.ended {
		switch order := compareKeys(p.known.entry().key, key); {
		case order == 0:
			unused = p.known.entry().payload
			return len(unused) == 0, unused, nil
		case order > 0:
			return false, nil, nil
		}
		p.ended = !p.known.next()
	}
	return false, nil, p.known.err()
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
