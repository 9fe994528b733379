package convert

// outlet gathers entries for a sorter until they are worth a batch.
type outlet struct {
	sorter *sorter
	batch  *batch
}

func (o *outlet) add(key []byte, at uint64, load []byte) error {
	if o.batch == nil {
		o.batch = &batch{}
	}
	o.batch.add(key, at, load)
	if len(o.batch.text) < blockSize {
		return nil
	}
	return o.flush()
}

func (o *outlet) flush() error {
	if o.batch == nil {
		return nil
	}
	full := o.batch
	o.batch = nil
	full.sort()
	return o.sorter.add(full)
}

// begin finds out where rows go from here.
func (a *attacher) begin() {
	if a.stage < len(a.table.groups)-1 {
		a.outlets = []outlet{{sorter: a.stages[a.table.number][a.stage+1]}}
		return
	}
	for _, p := range a.table.places {
		a.outlets = append(a.outlets, outlet{sorter: p.sorter})
	}
}

// send lets a row go to meet the next group of tables, or to its place.
func (a *attacher) send(e *entry, l *load, last bool) error {
	key := l.keys[0]
	if !last {
		l.keys = l.keys[1:]
		a.packed = l.append(a.packed[:0])
		return a.outlets[0].add(key, e.at, a.packed)
	}
	p := a.table.places[l.place]
	if p.sorter == nil { // the rows are in the order of the book already
		return a.press.line(p.stem, a.table, key, e.at, l.counts, l.text)
	}
	a.packed = appendCounts(p.begin(a.packed[:0]), l.counts)
	a.packed = append(a.packed, l.text...)
	return a.outlets[l.place].add(key, e.at, a.packed)
}
