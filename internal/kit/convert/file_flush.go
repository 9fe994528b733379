package convert

import (
	"errors"
	"os"
	"path/filepath"

	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// flushLine ends the current line.
func (p *fileWriter) flushLine() error {
	if p.items == 0 {
		return nil
	}
	p.items = 0
	p.text[len(p.text)-1] = ']' // replaces the last comma
	p.text = append(p.text, '}', '\n')
	return p.flushFull()
}

// total writes the control totals, which are one row.
func (p *fileWriter) total(t *sourceTable, at uint64, counts []int, text []byte) error {
	if p.begun {
		return p.reject(t, at, counts, Problem{Kind: Surplus, What: "control totals must be one row"})
	}
	body := closeObject(append([]byte{'{'}, text...))
	if _, err := contract.ReadControlTotals(p.context, body); err != nil {
		return p.reject(t, at, counts, Problem{Kind: Unconvertible, What: violations(err)})
	}
	p.begun = true
	p.countUsed(t, counts)
	return p.writeTotals(append(body, '\n'))
}

// writeTotals writes control-totals.json.
func (x *conversion) writeTotals(body []byte) error {
	return os.WriteFile(filepath.Join(x.partFolder, book.TotalsName), body, 0o600)
}

// flushFull writes a full buffer.
func (p *fileWriter) flushFull() error {
	if len(p.text) < blockSize {
		return nil
	}
	err := p.openFile()
	if err == nil {
		p.text = p.file.swap(p.text)
	}
	return err
}

// openFile creates the file with the first line: a book has no empty files.
func (p *fileWriter) openFile() (err error) {
	if p.file == nil {
		p.file, err = newBackgroundWriter(filepath.Join(p.partFolder, p.stem+".ndjson"))
	}
	return err
}

// countUsed counts a row in the book and the rows inside it.
func (p *fileWriter) countUsed(t *sourceTable, counts []int) {
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

// flush reports the counts and closes the file in the background.
func (p *fileWriter) flush() error {
	if err := errors.Join(p.release(), p.flushLine()); err != nil {
		return err
	}
	// Reported once at the end, to avoid a lock per row.
	for number, sums := range p.used {
		if sums == nil {
			continue
		}
		t := p.tables[number]
		p.tallies[t.number].use(sums[0])
		for i, sum := range sums[1:] {
			p.tallies[t.below[i].number].use(sum)
		}
	}
	if p.known != nil {
		_ = p.known.file.Close() // only read
	}
	if p.file == nil && len(p.text) == 0 {
		return nil
	}
	if err := p.openFile(); err != nil {
		return err
	}
	p.closing.Go(func() {
		lines, err := p.file.close(p.text)
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.lines[p.stem] = lines
		p.closeErr = errors.Join(p.closeErr, err)
	})
	return nil
}
