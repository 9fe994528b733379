package convert

import (
	"container/heap"
	"hash/maphash"
	"math"
)

// sketchSize is how many values of a column a sketch keeps.
const sketchSize = 4_096

// sketchSeed makes sketches comparable within one process.
var sketchSeed = maphash.MakeSeed()

// sketch keeps the values of a column with the smallest hashes. They are a fair sample of the
// distinct values, so it estimates how many there are and how many of them another column has, in
// fixed memory. Below sketchSize distinct values, it is exact.
type sketch struct {
	counts map[uint64]int // how often each kept value occurs, which is exact
	queue  hashQueue      // largest first
}

// hashQueue is a heap with the largest hash first.
type hashQueue []uint64 //nolint:recvcheck // only Push and Pop change the slice itself

func (q hashQueue) Len() int           { return len(q) }
func (q hashQueue) Less(i, j int) bool { return q[i] > q[j] }
func (q hashQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *hashQueue) Push(x any) {
	hash, _ := x.(uint64)
	*q = append(*q, hash)
}

func (q *hashQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// add counts a value, and returns how often it occurred, or 0 if it is not kept.
func (s *sketch) add(value []byte) int {
	hash := maphash.Bytes(sketchSeed, value)
	if len(s.queue) == sketchSize && hash > s.queue[0] {
		return 0
	}
	if s.counts == nil {
		s.counts = map[uint64]int{}
	}
	if s.counts[hash]++; s.counts[hash] > 1 {
		return s.counts[hash]
	}
	heap.Push(&s.queue, hash)
	if len(s.queue) > sketchSize {
		largest, _ := heap.Pop(&s.queue).(uint64)
		delete(s.counts, largest)
	}
	return 1
}

// exact reports whether all distinct values were kept.
func (s *sketch) exact() bool { return len(s.queue) < sketchSize }

// limit is the hash up to which all values were kept.
func (s *sketch) limit() uint64 {
	if s.exact() {
		return math.MaxUint64
	}
	return s.queue[0]
}

// distinct estimates the number of distinct values.
func (s *sketch) distinct() int {
	if s.exact() {
		return len(s.queue)
	}
	return int(float64(sketchSize-1) / (float64(s.queue[0]) / math.MaxUint64))
}

// repeated counts the kept values that occur more than once.
func (s *sketch) repeated() (count int) {
	for _, n := range s.counts {
		if n > 1 {
			count++
		}
	}
	return count
}

// repeats reports whether more values occur more than once than may be mistakes.
func (s *sketch) repeats() bool { return s.repeated() > fewOf(len(s.queue)) }

// missingIn returns how many of the kept values another column does not have, and how many were
// compared.
func (s *sketch) missingIn(other *sketch) (missing, compared int) {
	limit := min(s.limit(), other.limit())
	for _, hash := range s.queue {
		if hash > limit {
			continue
		}
		if compared++; other.counts[hash] == 0 {
			missing++
		}
	}
	return missing, compared
}
