package rules

import (
	"math/bits"
	"slices"
	"sync"
)

// arena allocates nodes in a few large chunks. An account has about two hundred
// small values; allocating each one would cost more than reading it.
type arena struct {
	nodes    []Node
	pointers []*Node
	lists    [][]*Node
}

// arenaSizes are the capacities, in nodes, of arenas that are reused. Each size
// has its own pool, so that thousands of small documents do not hold the memory
// of large ones. An arena that turns out too small doubles and then belongs to
// the next size.
var arenaSizes = [...]int{192, 384, 768}

var arenaPools [len(arenaSizes)]sync.Pool

// bytesPerNode is the average length of JSON per value in a dense document.
const bytesPerNode = 16

// newArena reuses a released arena for small bodies, which are the usual case.
func newArena(size int) *arena {
	expected := size/bytesPerNode + 8
	for i, room := range arenaSizes {
		if expected > room {
			continue
		}
		if used, is := arenaPools[i].Get().(*arena); is {
			return used
		}
		return &arena{nodes: make([]Node, 0, room)}
	}
	return &arena{nodes: make([]Node, 0, min(expected, maxChunk))}
}

// release clears the arena and makes it available for reuse.
func (s *arena) release() {
	for i, room := range arenaSizes {
		if cap(s.nodes) == room && cap(s.pointers) <= 2*room && cap(s.lists) <= room {
			clear(s.nodes)
			clear(s.pointers)
			clear(s.lists)
			s.nodes, s.pointers, s.lists = s.nodes[:0], s.pointers[:0], s.lists[:0]
			arenaPools[i].Put(s)
			return
		}
	}
}

// maxChunk is the maximum number of nodes in a chunk, to limit unused memory.
const maxChunk = 1024

func (s *arena) newNode() *Node {
	if len(s.nodes) == cap(s.nodes) {
		s.nodes = make([]Node, 0, min(2*cap(s.nodes), maxChunk))
	}
	s.nodes = s.nodes[:len(s.nodes)+1]
	return &s.nodes[len(s.nodes)-1]
}

// children collects the child nodes of parent from a chain that leads from the
// last child to the first. Items keep their order. Members are stored in table
// order, so that Field finds them by counting those before them.
func (s *arena) children(parent, last *Node, count int) *[]*Node {
	if count == 0 {
		return nil
	}
	if cap(s.pointers)-len(s.pointers) < count {
		s.pointers = make([]*Node, 0, max(count, min(cap(s.nodes), 2*arenaSizes[0])))
	}
	from := len(s.pointers)
	s.pointers = s.pointers[:from+count]
	kids := s.pointers[from : from+count : from+count]
	object, given := parent.typ.Shape == ShapeObject, uint64(parent.value) //nolint:gosec // the bits
	if object && len(parent.typ.Table.Fields) > manyFields {
		for i := range kids {
			kids[i] = last
			last, last.parent = last.parent, parent
		}
		slices.SortFunc(kids, func(a, b *Node) int { return int(a.index) - int(b.index) })
	}
	for last != nil {
		place := int(last.index)
		if object {
			place = bits.OnesCount64(given & (1<<(last.index&63) - 1))
		}
		kids[place] = last
		last, last.parent = last.parent, parent
	}
	if len(s.lists) == cap(s.lists) {
		s.lists = make([][]*Node, 0, min(2*cap(s.lists)+8, maxChunk))
	}
	s.lists = append(s.lists, kids)
	return &s.lists[len(s.lists)-1]
}
