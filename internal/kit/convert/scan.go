package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"unicode"

	"landfall/internal/kit/book"
)

// scannedBlock is the result of scanning one block of a table.
type scannedBlock struct {
	batches  []*batch // one per target of the table
	problems []Problem
	read     int
	passed   int
	met      []byte // by column: which readings occurred
	codes    otherCodes
	size     int
	err      error
}

// scan reads a table on all cores, converts each row as far as possible, and passes the rows to the
// sorters.
func (x *conversion) scan(ctx context.Context, t *sourceTable) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := x.choose(ctx, t); err != nil {
		return err
	}
	// Each block has a channel of its own, in file order, so that rows and problems keep their
	// order.
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
		// The deferred stop ends the splitter. Running blocks can still store their result in the
		// buffered channel.
		if done.err != nil {
			return done.err
		}
		account.read(done.read, done.passed)
		x.addMet(t, done.met)
		x.addCodes(t, done.codes)
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

// targets returns the sorters that rows of a table go to first: those of their places, or the one
// of the first join.
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

// scanFile splits a file into blocks and scans them in parallel. Only a few blocks wait at a time.
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
	split, file, err := t.open(ctx, path)
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
			// Joins use cores as well. Waiting here lets the splitter read on.
			x.cores <- struct{}{}
			w, _ := x.workers.Get().(*worker)
			turn <- w.scan(x, t, b, number, first)
			x.workers.Put(w)
			<-x.cores
			// Nothing refers to the block any more: rows and problems were copied.
			split.spare.Put(&b.text)
		}()
	}
}

// worker is the state for scanning rows on one core.
type worker struct {
	row  currentRow
	rows records
	key  []byte
	ends []int // end offsets of the keys in key
	rank []byte

	parent pendingRow
}

// reserveAfterRows is how many rows are used to estimate the size of a block.
const reserveAfterRows = 256

// scan reads the rows of a block.
func (w *worker) scan(x *conversion, t *sourceTable, b block, file int, header bool) scannedBlock {
	out := scannedBlock{size: len(b.text)}
	name := filepath.Base(t.paths[file])
	report := func(line int, p Problem) {
		p.File, p.Line = name, line
		out.problems = append(out.problems, p)
	}
	for _, target := range x.targets(t) {
		out.batches = append(out.batches, target.batch())
	}
	out.met = make([]byte, len(t.columns))
	w.row.table, w.row.met, w.row.codes = t, out.met, nil
	t.format(&w.rows)
	if b.wrong != "" {
		// It counts as one row, so that the figures add up.
		out.read = 1
		w.rows.readBroken(b)
		report(b.line, w.malformed(t, uint64(file)<<lineBits|uint64(b.line), out.batches, Problem{Kind: Malformed, Value: shorten(trimBlanks(b.text)), What: b.wrong}))
		return out
	}
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
		if t.skips(w.rows.fields) {
			out.passed++
			continue
		}
		if t.dropped.has(file, w.rows.at) {
			continue // counted when it was dropped
		}
		if wrong, value := w.checkShape(t); wrong != "" {
			at := uint64(file)<<lineBits | uint64(w.rows.at)
			report(w.rows.at, w.malformed(t, at, out.batches, Problem{Kind: Malformed, Value: shorten(value), What: wrong}))
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
	out.codes = w.row.codes
	// Sorted here in parallel; the sorters only merge.
	for _, b := range out.batches {
		b.sort()
	}
	return out
}

// checkShape returns what is wrong with a row as such, and what to show of it.
func (w *worker) checkShape(t *sourceTable) (wrong string, value []byte) {
	fields := w.rows.fields
	have, want := len(fields), len(t.columns)
	switch {
	case w.rows.wrong != "":
		return w.rows.wrong, fields[0]
	case have == want:
		return "", nil
	case t.isMisplaced(fields):
		return string(fields[0][1:]), fields[1]
	case have < want:
		return fmt.Sprintf("the row has %d fields, but the table has %d columns; if it is not a row, such as a last line with totals, leave it out with skip; otherwise quote texts that contain a line end", have, want), fields[0]
	}
	return fmt.Sprintf("the row has %d fields, but the table has %d columns; quote texts that contain a delimiter", have, want), fields[0]
}

// convert converts a row as far as possible. It returns false if no place wants the row.
func (w *worker) convert(t *sourceTable, at uint64, batches []*batch) bool {
	r := &w.row
	for _, p := range t.places {
		// The first place whose condition holds gets the row, even if it cannot be converted for
		// it.
		// A condition that cannot be read fails the row here, so that what it belongs to is not
		// written without it.
		if len(p.when) > 0 && !r.passes(p.when) && !r.failed {
			continue
		}
		if p.several.by != nil {
			w.rank = p.several.rank(w.rank[:0], r) // reports a value that cannot be read
		}
		if t.tied.has(int(at>>lineBits), int(at&(1<<lineBits-1))) {
			r.fail(Surplus, p.key[0].column, r.key(nil, p.key), tiedRows)
		}
		if len(t.groups) > 0 {
			w.convertParent(t, p, at, batches[0])
			return true
		}
		w.key = r.key(w.key[:0], p.key)
		w.checkKey(p, w.key)
		r.checkSum(p)
		b := batches[p.index]
		b.open(at, w.key)
		b.text, _ = r.write(p.begin(b.text), p.members)
		switch {
		case !r.failed:
			b.close()
		case p.stem == book.Accounts.Stem || p.withholds() && len(w.key) > 0:
			b.text = append(p.begin(b.text[:b.payload]), badMark...)
			b.close()
		default:
			b.drop()
		}
		return true
	}
	if len(t.groups) > 0 {
		w.convertParent(t, nil, at, batches[0])
	} else if p := t.accountsPlace(); p != nil {
		if w.key = r.key(w.key[:0], p.key); len(w.key) > 0 {
			b := batches[p.index]
			b.open(at, w.key)
			b.text = append(p.begin(b.text), passedMark...)
			b.close()
		}
	}
	r.failed = false // the row is not used
	return false
}

// convertParent converts a row that others belong to. A bad row is passed on too, and one that no place
// wants, so that its child rows are not taken for orphans.
func (w *worker) convertParent(t *sourceTable, p *place, at uint64, into *batch) {
	r := &w.row
	w.key, w.ends = w.key[:0], w.ends[:0]
	for _, g := range t.groups {
		w.key = r.key(w.key, g.key)
		w.ends = append(w.ends, len(w.key))
	}
	l := &w.parent
	l.place, l.bad, l.passed, l.keys, l.text = 0, p == nil, p == nil, l.keys[:0], nil
	var members []objectMember
	if p != nil {
		w.key = r.key(w.key, p.key)
		w.checkKey(p, w.key[w.ends[len(w.ends)-1]:])
		r.checkSum(p)
		l.place, members = p.index, p.members
	} else if p := t.accountsPlace(); p != nil {
		w.key = r.key(w.key, p.key)
		l.place = p.index
	}
	w.ends = append(w.ends, len(w.key))
	l.counts = append(l.counts[:0], make([]int, len(t.below))...)
	for i := 1; i < len(w.ends); i++ {
		l.keys = append(l.keys, w.key[w.ends[i-1]:w.ends[i]])
	}
	into.open(at, w.key[:w.ends[0]])
	begin := len(into.text)
	into.text = l.append(into.text)
	from := len(into.text)
	if into.text, _ = r.write(into.text, members); r.failed {
		// The row was encoded as a good one. It is encoded again with the same length.
		l.bad = true
		into.text = l.append(into.text[:begin])[:from]
	}
	into.close()
}

// checkKey requires a row to name its account or parent.
func (w *worker) checkKey(p *place, key []byte) {
	if p.stem == totalsStem || w.row.failed {
		return
	}
	if len(key) > 0 {
		// A list may have * where the number of its totals would be.
		if p.stem == book.Accounts.Stem && p.mode == asRoot && !bytes.ContainsFunc(key, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			w.row.fail(Unconvertible, p.key[0].column, key, "an account number has a letter or a digit; if this is not a row, leave it out with skip")
		}
		return
	}
	if p.mode == asRoot {
		w.row.fail(Unconvertible, p.key[0].column, nil, "there is no account number")
		return
	}
	w.row.fail(Orphan, p.key[0].column, nil, "it does not say which row of "+p.parent.name+" it belongs to")
}

// noBreakSpace is a blank that people cannot tell from another.
var noBreakSpace = []byte("\u00a0")

// key appends the key of a row, or nothing if a part of it is missing.
func (r *currentRow) key(dst []byte, parts []*expression) []byte {
	from := len(dst)
	for i, part := range parts {
		text := part.get(r)
		if len(text) == 0 {
			return dst[:from]
		}
		if i > 0 {
			dst = append(dst, 0) // no text contains it
		}
		if bytes.Contains(text, noBreakSpace) {
			text = bytes.ReplaceAll(text, noBreakSpace, []byte{' '}) // it looks the same
		}
		dst = append(dst, text...)
	}
	return dst
}
