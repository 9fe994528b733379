package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
)

// scannedBlock is what came of one block of a table.
type scannedBlock struct {
	batches  []*batch // one for each target of the table
	problems []Problem
	read     int
	passed   int
	size     int
	err      error
}

// scan reads a table on all cores and hands its rows, as far as they can be
// made of it alone, to the sorters.
func (x *conversion) scan(ctx context.Context, t *sourceTable) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Each block has a turn of its own, in the order of the file: whichever core is
	// first, rows and problems come in the order in which they stand.
	turns := make(chan chan scannedBlock, runtime.GOMAXPROCS(0))
	go func() {
		defer close(turns)
		for number, path := range t.paths {
			if !x.scanFile(ctx, t, number, path, turns) {
				return
			}
		}
	}()
	account := x.tallies[t.number]
	for turn := range turns {
		done := <-turn
		// Stopping ends whoever still cuts blocks, and those at work can leave
		// their result in the turn although nobody takes it.
		if done.err != nil {
			return done.err
		}
		account.read(done.read, done.passed)
		for _, problem := range done.problems {
			if err := account.problem(problem); err != nil {
				return err
			}
		}
		for i, b := range done.batches {
			if err := x.targets(t)[i].add(b); err != nil {
				return err
			}
		}
		x.advance(done.size)
	}
	return ctx.Err()
}

// targets are the sorters that the rows of a table go to first: to those of
// their places, or to one where they wait for what belongs to them.
func (x *conversion) targets(t *sourceTable) []*sorter {
	if len(t.groups) > 0 {
		return x.stages[t.number][:1]
	}
	list := make([]*sorter, len(t.places))
	for i, p := range t.places {
		list[i] = p.sorter
	}
	return list
}

// scanFile cuts a file into blocks and has them read side by side. A few wait
// for their turn at most, whatever the size of the file.
func (x *conversion) scanFile(ctx context.Context, t *sourceTable, number int, path string, turns chan<- chan scannedBlock) bool {
	send := func(turn chan scannedBlock) bool {
		select {
		case turns <- turn:
			return true
		case <-ctx.Done():
			return false
		}
	}
	fail := func(err error) bool {
		turn := make(chan scannedBlock, 1)
		turn <- scannedBlock{err: fmt.Errorf("%s: %w", path, err)}
		send(turn)
		return false
	}
	split, file, err := t.open(path)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	split.spare = &x.workspace.blocks
	for first := t.headed; ; first = false {
		b, err := split.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return fail(err)
		}
		turn := make(chan scannedBlock, 1)
		if !send(turn) {
			return false
		}
		go func() {
			// Meetings take cores as well. The block waits for one here, so that
			// the splitter may read on.
			x.cores <- struct{}{}
			w, _ := x.workers.Get().(*worker)
			turn <- w.scan(x, t, b, number, first)
			x.workers.Put(w)
			<-x.cores
			// Nothing points into the block any more: rows were written into
			// batches, and problems have copies.
			split.spare.Put(&b.text)
		}()
	}
}

// worker is what one core needs to read rows.
type worker struct {
	row  currentRow
	rows records
	key  []byte
	ends []int // of the keys in key

	parent pendingRow
}

// reserveAfterRows is how many rows tell how long all of their block will be.
const reserveAfterRows = 256

// scan reads the rows of a block.
func (w *worker) scan(x *conversion, t *sourceTable, b block, file int, header bool) scannedBlock {
	out := scannedBlock{size: len(b.text)}
	name := filepath.Base(t.paths[file])
	report := func(line int, p Problem) {
		p.File, p.Line = name, line
		out.problems = append(out.problems, p)
	}
	if b.wrong != "" {
		// It counts as one row, so that the figures of the table add up.
		out.read = 1
		report(b.line, Problem{Kind: Malformed, Value: shorten(trimBlanks(b.text)), What: b.wrong})
		return out
	}
	for _, target := range x.targets(t) {
		out.batches = append(out.batches, target.batch())
	}
	w.row.table = t
	w.rows.delimiter, w.rows.quote = t.dialect.delimiter, t.dialect.quote
	w.rows.reset(b)
	simple := w.rows.simple()
	if header {
		w.rows.next()
	}
	next := w.rows.next
	if simple {
		next = w.rows.nextSimple
	}
	for next() {
		out.read++
		if wrong := w.checkShape(t); wrong != "" {
			report(w.rows.at, Problem{Kind: Malformed, Value: shorten(w.rows.fields[0]), What: wrong})
			continue
		}
		w.row.begin(w.rows.fields)
		w.row.simple = simple || w.rows.simpleRow()
		passed := w.convert(t, uint64(file)<<lineBits|uint64(w.rows.at), out.batches)
		if w.row.failed {
			report(w.rows.at, w.row.problem)
		} else if !passed {
			out.passed++
		}
		if out.read == reserveAfterRows {
			for _, into := range out.batches {
				into.reserve(w.rows.ended, len(b.text))
			}
		}
	}
	// Sorted on the core that has just written them; the sorters only merge.
	for _, b := range out.batches {
		b.sort()
	}
	return out
}

// checkShape says what is wrong with a row as such.
func (w *worker) checkShape(t *sourceTable) string {
	if w.rows.wrong != "" {
		return w.rows.wrong
	}
	if have := len(w.rows.fields); have != len(t.columns) {
		return fmt.Sprintf("it has %d fields and its table %d columns; a text with a delimiter or a line end in it needs quotes", have, len(t.columns))
	}
	return ""
}

// convert makes of a row what can be made of it alone. It is false when no
// place wants the row.
func (w *worker) convert(t *sourceTable, at uint64, batches []*batch) bool {
	r := &w.row
	for _, p := range t.places {
		// The first place whose condition holds has the row, even if it cannot be
		// converted for it: a problem must not make it something else.
		if len(p.when) > 0 && !r.passes(p.when) {
			continue
		}
		if len(t.groups) > 0 {
			w.convertParent(t, p, at, batches[0])
			return true
		}
		w.key = r.key(w.key[:0], p.key)
		w.checkKey(p, w.key)
		b := batches[p.index]
		b.open(at, w.key)
		b.text, _ = r.write(p.begin(b.text), p.members)
		if r.failed {
			b.drop()
		} else {
			b.close()
		}
		return true
	}
	return false
}

// convertParent makes a row that rows of other tables belong to. Even when it cannot be
// converted it goes on, so that they are not taken for orphans.
func (w *worker) convertParent(t *sourceTable, p *place, at uint64, into *batch) {
	r := &w.row
	w.key, w.ends = w.key[:0], w.ends[:0]
	for _, g := range t.groups {
		w.key = r.key(w.key, g.key)
		w.ends = append(w.ends, len(w.key))
	}
	w.key = r.key(w.key, p.key)
	w.checkKey(p, w.key[w.ends[len(w.ends)-1]:])
	w.ends = append(w.ends, len(w.key))
	l := &w.parent
	l.place, l.bad, l.keys, l.text = p.index, false, l.keys[:0], nil
	l.counts = append(l.counts[:0], make([]int, len(t.below))...)
	for i := 1; i < len(w.ends); i++ {
		l.keys = append(l.keys, w.key[w.ends[i-1]:w.ends[i]])
	}
	into.open(at, w.key[:w.ends[0]])
	begin := len(into.text)
	into.text = l.append(into.text)
	members := len(into.text)
	if into.text, _ = r.write(into.text, p.members); r.failed {
		// The load was written as that of a good row. It is written again in the
		// same length, and nothing follows it.
		l.bad = true
		into.text = l.append(into.text[:begin])[:members]
	}
	into.close()
}

// checkKey wants a row to say whose it is.
func (w *worker) checkKey(p *place, key []byte) {
	if len(key) > 0 || p.stem == totalsStem || w.row.failed {
		return
	}
	if p.mode == asRoot {
		w.row.fail(Unconvertible, p.key[0].column, nil, "there is no account number")
		return
	}
	w.row.fail(Orphan, p.key[0].column, nil, "it does not say which row of "+p.parent.name+" it belongs to")
}

// key appends what links a row, or nothing if a part of it is missing.
func (r *currentRow) key(dst []byte, parts []*expression) []byte {
	from := len(dst)
	for i, part := range parts {
		text := part.get(r)
		if len(text) == 0 {
			return dst[:from]
		}
		if i > 0 {
			dst = append(dst, 0) // which no text has
		}
		dst = append(dst, text...)
	}
	return dst
}
