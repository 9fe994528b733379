package convert

import "landfall/internal/kit/book"

// batcher collects entries for a sorter until there are enough for a batch.
type batcher struct {
	sorter *sorter
	batch  *batch
}

// open begins an entry and returns the batch.
func (o *batcher) open(at uint64, key []byte) *batch {
	if o.batch == nil {
		o.batch = o.sorter.batch()
	}
	o.batch.open(at, key)
	return o.batch
}

// close ends the entry.
func (o *batcher) close() error {
	o.batch.close()
	// A reused batch may have more space.
	if len(o.batch.text) < max(blockSize, cap(o.batch.text)-blockSize/8) {
		return nil
	}
	return o.flush()
}

// flush hands the batch to the sorter.
func (o *batcher) flush() error {
	if o.batch == nil {
		return nil
	}
	full := o.batch
	o.batch = nil
	full.sort()
	return o.sorter.add(full)
}

// begin determines where rows go next.
func (a *joiner) begin() {
	if a.stage < len(a.table.groups)-1 {
		a.batchers = []batcher{{sorter: a.stages[a.table.number][a.stage+1]}}
		return
	}
	for _, p := range a.table.places {
		a.batchers = append(a.batchers, batcher{sorter: p.sorter})
	}
}

// send sends a row to the next join or to its place.
func (a *joiner) send(e *sortEntry, l *pendingRow) error {
	// The keys are those of the remaining joins, then that of its place.
	key := l.keys[0]
	if a.stage < len(a.table.groups)-1 {
		l.keys = l.keys[1:]
		b := a.batchers[0].open(e.at, key)
		// The text is not part of the encoded row: fill writes it with the joined rows inserted.
		text := l.text
		l.text = nil
		b.text = l.append(b.text)
		// A bad row is never written; only its keys are needed.
		if !l.bad {
			b.text = a.fill(b.text, text, false)
		}
		return a.batchers[0].close()
	}
	p := a.table.places[l.place]
	if p.sorter == nil { // the rows are sorted like the book already
		return a.direct.account(a.table, key, e.at, l.counts, func(dst []byte) []byte { return a.fill(dst, l.text, true) })
	}
	b := a.batchers[l.place].open(e.at, key)
	b.text = a.fill(appendCounts(p.begin(b.text), l.counts), l.text, true)
	return a.batchers[l.place].close()
}

// sendBad sends the key of a row that was reported, if an account or another row is not written
// because of it. Other bad rows end here.
func (a *joiner) sendBad(e *sortEntry, l *pendingRow) error {
	p, key, mark := a.table.places[l.place], l.keys[0], badMark
	if l.passed {
		mark = passedMark
	}
	switch {
	case p.stem != book.Accounts.Stem && (l.passed || !p.withholds() || len(key) == 0):
		return nil
	case p.sorter == nil:
		return a.direct.unusedAccount(a.table, key, e.at, mark)
	}
	b := a.batchers[l.place].open(e.at, key)
	clear(l.counts)
	b.text = append(appendCounts(p.begin(b.text), l.counts), mark...)
	return a.batchers[l.place].close()
}
