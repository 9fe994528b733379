package convert

import (
	"bytes"
	"fmt"

	"landfall/internal/kit/book"
)

// A malformed row is not used. What it may be a part of is not used either, or a sum would lack it in
// silence. So its keys are read as far as possible.

// likeRow is the problem of a quoted value that seems to have swallowed rows.
const likeRow = "a quoted value contains a line that looks like a row of its own, so a quote is perhaps not closed; double the quotes within a text, or set multiline: true if texts contain such lines"

// format sets how the rows of a table are written.
func (t *sourceTable) format(r *records) {
	r.delimiter, r.quote, r.between, r.width = t.dialect.delimiter, t.dialect.quote, t.layout.delimiter, 0
	if !t.dialect.multiline {
		r.width = len(t.columns)
	}
}

// swallows reports whether a quoted value at from contains what seems to be rows: a line with all the
// delimiters of a row, or a first and a last line that both have them.
func (r *records) swallows(from, to int) bool {
	value := r.text[from:to]
	first, last := bytes.IndexByte(value, '\n'), bytes.LastIndexByte(value, '\n')
	if r.width < 2 || first < 0 {
		return false
	}
	delimiter := []byte{r.between}
	for rest := value[first+1 : max(first+1, last)]; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, newline)
		if rest = after; bytes.Count(line, delimiter) == r.width-1 {
			return true
		}
	}
	if bytes.Count(value[:first], delimiter) == 0 || bytes.Count(value[last:], delimiter) == 0 {
		return false
	}
	begin := bytes.LastIndexByte(r.text[:from], '\n') + 1
	end, _, _ := bytes.Cut(r.text[from+last+1:], newline)
	return bytes.Count(r.text[begin:from+first], delimiter) == r.width-1 && bytes.Count(end, delimiter) == r.width-1
}

// meanings calls use with the fields of a malformed row in each way in which they can be meant, and with
// how many of them are surely at their place. Missing fields are empty.
func (t *sourceTable) meanings(r *records, use func(fields [][]byte, sure int)) {
	want := len(t.columns)
	padded := make([][]byte, want)
	try := func(fields [][]byte) {
		clear(padded)
		sure := copy(padded, fields)
		if len(fields) > want {
			sure = 0
		}
		use(padded, sure)
		// An unquoted delimiter in a text moves the fields behind it, but never the first one.
		if sure == 0 && len(fields) > want {
			copy(padded[1:], fields[len(fields)-want+1:])
			use(padded, 0)
		}
	}
	if fields := r.fields; t.isMisplaced(fields) {
		copy(padded, fields[2:])
		use(padded, 0)
		return
	}
	try(r.fields)
	if r.inner == 0 {
		return
	}
	// Lines within a quoted value may be rows.
	one := records{delimiter: r.delimiter, quote: r.quote}
	_, rest, _ := bytes.Cut(r.text[r.began:r.ended], newline)
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, newline)
		if one.reset(block{text: line}); one.next() {
			try(one.fields)
		}
	}
}

// readBroken reads what can be read of a line that is not a row: the fields before the last one.
func (r *records) readBroken(b block) {
	r.reset(b)
	if r.next() {
		r.fields = r.fields[:len(r.fields)-1]
	} else {
		r.fields = r.fields[:0]
	}
	r.inner = 0
}

// mayTake reports whether a malformed row may belong to a place.
func (r *currentRow) mayTake(p *place, sure int) bool {
	for i := range p.when {
		if p.when[i].column >= sure {
			return true
		}
	}
	return len(p.when) == 0 || r.passes(p.when) || r.failed
}

// malformed returns the problem of the current row, and keeps what it may be a part of from being written.
func (w *worker) malformed(t *sourceTable, at uint64, batches []*batch, found Problem) Problem {
	known, needed := false, false
	t.meanings(&w.rows, func(fields [][]byte, sure int) {
		for _, p := range t.places {
			w.row.begin(fields)
			w.row.simple = false
			if !w.row.mayTake(p, sure) {
				continue
			}
			w.row.failed = false
			w.key = w.row.key(w.key[:0], p.key)
			needed = needed || p.withholds()
			known = known || len(w.key) > 0
			w.row.failed = true // the row is reported as malformed
			switch {
			case len(t.groups) > 0:
				w.convertParent(t, p, at, batches[0])
			case len(w.key) > 0 && (p.stem == book.Accounts.Stem || p.withholds()):
				b := batches[p.index]
				b.open(at, w.key)
				b.text = append(p.begin(b.text), badMark...)
				b.close()
			}
		}
	})
	if w.rows.inner > 0 {
		found.where = fmt.Sprintf("lines %d to %d were read as one row: ", w.rows.at, w.rows.at+w.rows.inner)
	}
	if needed && !known {
		found.What += "; what it belongs to cannot be read, so rows of other tables may be written without it"
	}
	return found
}

// doubt keeps a malformed row from being ignored where one of several rows is chosen.
func (c *chooser) doubt(t *sourceTable, at uint64) (err error) {
	t.meanings(&c.rows, func(fields [][]byte, sure int) {
		for _, p := range t.places {
			c.row.begin(fields)
			if !p.chooses() || !c.row.mayTake(p, sure) {
				continue
			}
			if c.key = c.row.key(append(c.key[:0], p.index, 0), p.key); len(c.key) == 2 || err != nil {
				continue
			}
			b := c.ranks.open(at, c.key)
			b.text = append(b.text, unranked...)
			err = c.ranks.close()
		}
	})
	return err
}
