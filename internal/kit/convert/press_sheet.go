package convert

import (
	"errors"
	"os"
	"path/filepath"

	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// flushLine ends the line at hand.
func (p *press) flushLine() error {
	if p.items == 0 {
		return nil
	}
	p.items = 0
	p.text[len(p.text)-1] = ']' // instead of the last comma
	p.text = append(p.text, '}', '\n')
	return p.turn()
}

// total writes the control totals, of which there is one row.
func (p *press) total(t *table, at uint64, counts []int, text []byte) error {
	if p.begun {
		return p.reject(t, at, counts, Problem{Kind: Surplus, What: "control totals are one row"})
	}
	body := closed(append([]byte{'{'}, text...))
	if _, err := contract.ReadControlTotals(p.context, body); err != nil {
		return p.reject(t, at, counts, Problem{Kind: Unconvertible, What: violations(err)})
	}
	p.begun = true
	p.use(t, counts)
	return p.writeTotals(append(body, '\n'))
}

// writeTotals writes what the old system says it has, for comparing.
func (x *conversion) writeTotals(body []byte) error {
	return os.WriteFile(filepath.Join(x.part, book.TotalsName), body, 0o600)
}

// turn has a full sheet of whole lines printed and begins another.
func (p *press) turn() error {
	if len(p.text) < blockSize {
		return nil
	}
	err := p.begin()
	if err == nil {
		p.text = p.file.turn(p.text)
	}
	return err
}

// begin makes the file with the first line: a book has no empty files.
func (p *press) begin() (err error) {
	if p.file == nil {
		p.file, err = newPrinter(filepath.Join(p.part, p.stem+".ndjson"))
	}
	return err
}

// use counts a row that is in the book with all that is inside it.
func (p *press) use(t *table, counts []int) {
	sums := p.used[t.number]
	if sums == nil {
		sums = make([]int, 1+len(counts))
		p.used[t.number] = sums
	}
	sums[0]++
	for i, count := range counts {
		sums[i+1] += count
	}
}

// flush tells what is in the file and has it made durable, which nobody waits
// for while there is more to do.
func (p *press) flush() error {
	if err := p.flushLine(); err != nil {
		return err
	}
	// Told once at the end, because telling each row would take a lock for it.
	for number, sums := range p.used {
		if sums == nil {
			continue
		}
		t := p.tables[number]
		p.accounts[t.number].use(sums[0])
		for i, sum := range sums[1:] {
			p.accounts[t.below[i].number].use(sum)
		}
	}
	if p.known != nil {
		_ = p.known.file.Close() // it was only read
	}
	if p.file == nil && len(p.text) == 0 {
		return nil
	}
	if err := p.begin(); err != nil {
		return err
	}
	p.closing.Go(func() {
		lines, err := p.file.close(p.text)
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.lines[p.stem] = lines
		p.unkept = errors.Join(p.unkept, err)
	})
	return nil
}
