package convert

import "sync"

// batchPool are batches that were read and whose memory waits to be written into
// again, which is cheaper than new memory. They are few: a pool that only the
// garbage collector empties grows with every collection it makes rarer, and a
// conversion of very many rows would take ever more memory.
type batchPool struct {
	mutex sync.Mutex
	most  int64 // bytes that may wait
	held  int64
	list  []*batch
}

// capacity is what a batch takes, whatever is in it.
func (b *batch) capacity() int64 { return int64(cap(b.text)) + 16*int64(cap(b.slots)) }

// put keeps a batch, if there is room for it.
func (s *batchPool) put(b *batch) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held+b.capacity() <= s.most {
		s.list, s.held = append(s.list, b), s.held+b.capacity()
	}
}

// get gives one that has room for so much, and not for very much more, or nil.
func (s *batchPool) get(text, slots int) *batch {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i := len(s.list) - 1; i >= 0; i-- {
		b := s.list[i]
		if cap(b.text) < text || cap(b.slots) < slots || cap(b.text) > 4*max(text, blockSize/4) {
			continue
		}
		last := len(s.list) - 1
		s.list[i], s.list[last] = s.list[last], nil
		s.list, s.held = s.list[:last], s.held-b.capacity()
		return b
	}
	return nil
}
