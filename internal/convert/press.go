package convert

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"landfall/internal/book"
	"landfall/internal/contract"
)

// press writes the files of the book.
type press struct {
	*conversion
	supplier []byte
	files    map[string]*book.Writer

	text     []byte
	last     []byte // the key of the line before, or of the line at hand
	begun    bool
	accounts *run // the accounts of the book, in order
	known    *runReader
	ended    bool
	totals   bool // were written

	list  []byte // the items of the line at hand
	items int
}

func newPress(x *conversion, supplier string) *press {
	return &press{conversion: x, supplier: appendText(nil, []byte(supplier)), files: map[string]*book.Writer{}}
}

// stem presses everything that one file of the book is made of.
func (p *press) stem(stem string, s *sorter) error {
	p.begun, p.last = false, p.last[:0]
	stream, err := s.stream()
	if err != nil {
		return err
	}
	if err := p.meetAccounts(); err != nil {
		return err
	}
	var l load
	for e := stream.next(); e != nil; e = stream.next() {
		number, n := binary.Uvarint(e.load)
		t := p.tables[number]
		text := l.readCounts(e.load[n:], len(t.below))
		if err := p.line(stem, t, e.key, e.at, l.counts, text); err != nil {
			return err
		}
	}
	if err := errors.Join(stream.err(), p.flush(stem)); err != nil {
		return err
	}
	return s.release()
}

// line takes one row that has everything.
func (p *press) line(stem string, t *table, key []byte, at uint64, counts []int, text []byte) error {
	switch stem {
	case book.Accounts.Stem:
		return p.account(t, key, at, counts, text)
	case totalsStem:
		return p.total(t, at, counts, text)
	}
	if keep, err := p.inBook(key); err != nil || !keep && !p.keeps(t, stem) {
		if err != nil {
			return err
		}
		return p.reject(t, at, counts, Problem{
			Kind: Orphan, Column: p.accountColumn(t, stem), Value: shownKey(key),
			What: "this account is not in the book; say orphans: keep if it is on the platform already",
		})
	}
	if stem == book.Instructions.Stem {
		p.text = p.open(p.text[:0], key)
		if err := p.write(stem, closed(append(p.text, text...))); err != nil {
			return err
		}
		p.used(t, counts)
		return nil
	}
	return p.item(stem, t, key, counts, text)
}

// account writes an account, once.
func (p *press) account(t *table, key []byte, at uint64, counts []int, text []byte) error {
	if p.begun && bytes.Equal(key, p.last) {
		return p.reject(t, at, counts, Problem{
			Kind: Duplicate, Column: p.accountColumn(t, book.Accounts.Stem), Value: shownKey(key), What: "there is a row of this account already",
		})
	}
	p.begun, p.last = true, append(p.last[:0], key...)
	p.text = closed(append(p.open(p.text[:0], key), text...))
	if len(p.text) > longestLine {
		return p.reject(t, at, counts, Problem{
			Kind: Surplus, Column: p.accountColumn(t, book.Accounts.Stem), Value: shownKey(key), What: "the account is longer than can be sent",
		})
	}
	if p.accounts == nil {
		run, err := p.room.createRun()
		if err != nil {
			return err
		}
		p.accounts = run
	}
	if err := p.accounts.write(&entry{key: key}); err != nil {
		return err
	}
	p.used(t, counts)
	return p.write(book.Accounts.Stem, p.text)
}

// open begins a line with whose it is.
func (p *press) open(dst, account []byte) []byte {
	dst = append(append(dst, `{"import_supplier":`...), p.supplier...)
	return append(appendText(append(dst, `,"external_account_number":`...), account), ',')
}

// item adds to the line of an account; a line takes only so many.
func (p *press) item(stem string, t *table, key []byte, counts []int, text []byte) error {
	most := listOf(contract.BookTable(stem)).Max
	if !p.begun || !bytes.Equal(key, p.last) || p.items >= most || len(p.list)+len(text) > longestLine-4096 {
		if err := p.flush(stem); err != nil {
			return err
		}
		p.begun, p.last = true, append(p.last[:0], key...)
	}
	p.list = append(closed(append(append(p.list, '{'), text...)), ',')
	p.items++
	p.used(t, counts)
	return nil
}

// flush writes the line at hand.
func (p *press) flush(stem string) error {
	if p.items == 0 {
		return nil
	}
	p.text = append(p.open(p.text[:0], p.last), nameOf(stem)...)
	p.text = append(append(p.text, '['), p.list...)
	p.text[len(p.text)-1] = ']'
	p.list, p.items = p.list[:0], 0
	return p.write(stem, append(p.text, '}'))
}

// total writes the control totals, of which there is one row.
func (p *press) total(t *table, at uint64, counts []int, text []byte) error {
	if p.totals {
		return p.reject(t, at, counts, Problem{Kind: Surplus, What: "control totals are one row"})
	}
	body := closed(append([]byte{'{'}, text...))
	if _, err := contract.ReadControlTotals(p.context, body); err != nil {
		return p.reject(t, at, counts, Problem{Kind: Unconvertible, What: violations(err)})
	}
	p.totals = true
	p.used(t, counts)
	return p.writeTotals(append(body, '\n'))
}

func (p *press) writeTotals(body []byte) error {
	return os.WriteFile(filepath.Join(p.part, book.TotalsName), body, 0o600)
}

func (p *press) write(stem string, line []byte) error {
	file := p.files[stem]
	if file == nil {
		for _, kind := range book.Kinds() {
			if kind.Stem != stem {
				continue
			}
			var err error
			if file, err = book.Create(p.part, kind, ""); err != nil {
				return err
			}
			p.files[stem] = file
		}
	}
	_, err := file.Write(append(line, '\n'))
	return err
}

// meetAccounts goes back to the first account of the book.
func (p *press) meetAccounts() (err error) {
	if p.accounts == nil {
		return nil
	}
	if p.accounts.out != nil {
		if err := p.accounts.finish(); err != nil {
			return err
		}
	}
	if p.known != nil {
		_ = p.known.file.Close() // it was only read
	}
	p.known, err = p.accounts.open()
	p.ended = err == nil && !p.known.next()
	return err
}

// inBook reports whether an account is in the book. Keys come in order. A map
// that makes no accounts adds to accounts that exist.
func (p *press) inBook(key []byte) (bool, error) {
	if !p.makesAccounts {
		return true, nil
	}
	if p.known == nil {
		return false, nil
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

func (p *press) keeps(t *table, stem string) bool {
	for _, place := range t.places {
		if place.stem == stem {
			return place.orphans
		}
	}
	return false
}

func (p *press) accountColumn(t *table, stem string) string {
	for _, place := range t.places {
		if place.stem == stem && place.key[0].column >= 0 {
			return t.columns[place.key[0].column]
		}
	}
	return ""
}

// close makes the files durable and says how many lines they have.
func (p *press) close() (map[string]int, error) {
	lines := map[string]int{}
	for stem, file := range p.files {
		lines[stem] = file.Lines
		if err := file.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", stem, err)
		}
		delete(p.files, stem)
	}
	return lines, nil
}
