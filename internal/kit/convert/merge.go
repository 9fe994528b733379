package convert

// entrySource returns entries in order.
type entrySource interface {
	next() bool
	entry() *sortEntry
	err() error
}

// memorySource is a chain of batches in order.
type memorySource struct {
	leave   func(*batch) // called with batches that were read
	batches []*batch
	at      int // index in the first batch
	now     sortEntry
}

// next returns the next row. Batches that were read are released at once.
func (m *memorySource) next() bool {
	for len(m.batches) > 0 {
		if m.at < len(m.batches[0].slots) {
			m.now.read(m.batches[0].text[m.batches[0].slots[m.at].from:])
			m.at++
			return true
		}
		m.leave(m.batches[0]) // the caller no longer uses an entry of it
		m.batches[0] = nil
		m.batches, m.at = m.batches[1:], 0
	}
	return false
}

func (m *memorySource) entry() *sortEntry { return &m.now }
func (m *memorySource) err() error        { return nil }

// memory arranges the batches in as few chains as possible. A sorted table is one chain.
func (s *sorter) memory(leave func(*batch)) []entrySource {
	// Every further chain makes the merge more expensive.
	var chains []*memorySource
	var ends []sortEntry
next:
	for _, b := range s.batches {
		first, last := b.entry(0), b.entry(len(b.slots)-1)
		for i := len(chains) - 1; i >= 0; i-- {
			if ends[i].compare(&first) <= 0 {
				chains[i].batches, ends[i] = append(chains[i].batches, b), last
				continue next
			}
		}
		chains, ends = append(chains, &memorySource{leave: leave, batches: []*batch{b}}), append(ends, last)
	}
	sources := make([]entrySource, len(chains))
	for i, chain := range chains {
		sources[i] = chain
	}
	return sources
}

// merge merges sorted sources with a heap.
type merge struct {
	heap    []entrySource
	heads   []*sortEntry
	started bool
	wrong   error
}

// newMerge starts with the first entry of every source.
func newMerge(sources []entrySource) *merge {
	m := &merge{}
	for _, s := range sources {
		// stream returns the error before any row is used.
		if s.next() {
			m.heap, m.heads = append(m.heap, s), append(m.heads, s.entry())
		} else if err := s.err(); err != nil {
			m.wrong = err
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return m
}

// next returns the next entry, or nil. It is valid until the next call.
func (m *merge) next() *sortEntry {
	// The source moves on only now, because the caller may have used its entry until this call.
	if m.started && len(m.heap) > 0 {
		if !m.heap[0].next() {
			if err := m.heap[0].err(); err != nil {
				// Stop after an error: the rest would have a gap.
				m.wrong, m.heap = err, nil
				return nil
			}
			last := len(m.heap) - 1
			m.heap[0], m.heads[0] = m.heap[last], m.heads[last]
			m.heap, m.heads = m.heap[:last], m.heads[:last]
		}
		m.sink(0)
	}
	m.started = true
	if len(m.heap) == 0 {
		return nil
	}
	return m.heads[0]
}

// sink restores the heap from index i downwards.
func (m *merge) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heap); child++ {
			if m.heads[child].compare(m.heads[least]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		m.heads[i], m.heads[least] = m.heads[least], m.heads[i]
		i = least
	}
}

// err returns the first read error.
func (m *merge) err() error { return m.wrong }
