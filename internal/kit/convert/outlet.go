package convert

// batcher gathers entries for a sorter until they are worth a batch.
type batcher struct {
	sorter *sorter
	batch  *batch
}

// open gives the batch with an entry begun.
func (o *batcher) open(at uint64, key []byte) *batch {
	if o.batch == nil {
		o.batch = o.sorter.batch()
	}
	o.batch.open(at, key)
	return o.batch
}

// close ends it.
func (o *batcher) close() error {
	o.batch.close()
	// One that was used before may have room for more.
	if len(o.batch.text) < max(blockSize, cap(o.batch.text)-blockSize/8) {
		return nil
	}
	return o.flush()
}

// flush hands a batch on.
func (o *batcher) flush() error {
	if o.batch == nil {
		return nil
	}
	full := o.batch
	o.batch = nil
	full.sort()
	return o.sorter.add(full)
}

// begin finds out where rows go from here.
func (a *joiner) begin() {
	if a.stage < len(a.table.groups)-1 {
		a.batchers = []batcher{{sorter: a.stages[a.table.number][a.stage+1]}}
		return
	}
	for _, p := range a.table.places {
		a.batchers = append(a.batchers, batcher{sorter: p.sorter})
	}
}

// send lets a row go to meet the next group of tables, or to its place, with
// what it has met here.
func (a *joiner) send(e *sortEntry, l *pendingRow) error {
	// The keys are what is still to come: that of the next group first, that of its
	// place last.
	key := l.keys[0]
	if a.stage < len(a.table.groups)-1 {
		l.keys = l.keys[1:]
		b := a.batchers[0].open(e.at, key)
		// The text is not written with the load: fill writes it behind, with what
		// was met here put in.
		text := l.text
		l.text = nil
		b.text = l.append(b.text)
		// Nothing of a bad row is ever printed. Only its keys have to go on.
		if !l.bad {
			b.text = a.fill(b.text, text, false)
		}
		return a.batchers[0].close()
	}
	p := a.table.places[l.place]
	if p.sorter == nil { // the rows are in the order of the book already
		return a.direct.account(a.table, key, e.at, l.counts, func(dst []byte) []byte { return a.fill(dst, l.text, true) })
	}
	b := a.batchers[l.place].open(e.at, key)
	b.text = a.fill(appendCounts(p.begin(b.text), l.counts), l.text, true)
	return a.batchers[l.place].close()
}
