package convert

import "sync"

// batchPool keeps batches that were read, because reusing their memory is cheaper than allocating.
// It is limited: a sync.Pool, which only the garbage collector empties, would grow with every
// collection it avoids.
type batchPool struct {
	mutex sync.Mutex
	most  int64 // maximum bytes in the pool
	held  int64
	list  []*batch
}

// capacity is the memory of a batch, whatever it contains.
func (b *batch) capacity() int64 { return int64(cap(b.text)) + 16*int64(cap(b.slots)) }

// put keeps a batch if there is space.
func (s *batchPool) put(b *batch) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held+b.capacity() <= s.most {
		s.list, s.held = append(s.list, b), s.held+b.capacity()
	}
}

// get returns a batch of suitable size, or nil.
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
