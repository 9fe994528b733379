package admission

// entry is an element of a heap. moved tells it its position, counted from 1,
// or 0 when it leaves.
type entry[E any] interface {
	before(other E) bool
	moved(position int)
}

// heap is a binary heap that supports removing elements from the middle.
type heap[E entry[E]] []E

func (h *heap[E]) push(e E) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

// remove removes the element at a position.
func (h *heap[E]) remove(position int) {
	var none E
	s, at, last := *h, position-1, len(*h)-1
	gone := s[at]
	s[at] = s[last]
	s[last] = none
	if *h = s[:last]; at < last {
		h.fix(position)
	}
	gone.moved(0)
}

// fix restores the order after the element at a position has changed.
func (h *heap[E]) fix(position int) {
	if !h.down(position - 1) {
		h.up(position - 1)
	}
}

func (h *heap[E]) up(at int) {
	s := *h
	moving := s[at]
	for at > 0 {
		parent := (at - 1) / 2
		if !moving.before(s[parent]) {
			break
		}
		s[at] = s[parent]
		s[at].moved(at + 1)
		at = parent
	}
	s[at] = moving
	moving.moved(at + 1)
}

func (h *heap[E]) down(at int) (changed bool) {
	s := *h
	moving, from := s[at], at
	for {
		child := 2*at + 1
		if child >= len(s) {
			break
		}
		if other := child + 1; other < len(s) && s[other].before(s[child]) {
			child = other
		}
		if !s[child].before(moving) {
			break
		}
		s[at] = s[child]
		s[at].moved(at + 1)
		at = child
	}
	s[at] = moving
	moving.moved(at + 1)
	return at != from
}
