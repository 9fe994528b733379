package rules

import (
	"math/bits"
	"sync"
)

// arena hands out nodes from a few large pieces of memory: an account is about
// two hundred small values, and as many allocations would cost more than reading
// it.
type arena struct {
	nodes    []Node
	pointers []*Node
	lists    [][]*Node
}

// arenaSizes are how many nodes a slab that is used again has room for. What a slab
// of each takes is in proportion to the bodies that get it, so that thousands of
// small ones at once do not hold the memory of large ones. One that turns out
// too small doubles, and is then one of the next room.
var arenaSizes = [...]int{192, 384, 768}

var arenaPools [len(arenaSizes)]sync.Pool

// bytesPerNode is how many bytes of JSON there are to a value where they are many.
const bytesPerNode = 16

// newArena gives short bodies, the usual ones, what another one has released.
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

// release lets go of everything and makes the memory somebody else's.
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

// maxChunk is how many nodes a piece has at most, so that little is left over.
const maxChunk = 1024

func (s *arena) newNode() *Node {
	if len(s.nodes) == cap(s.nodes) {
		s.nodes = make([]Node, 0, min(2*cap(s.nodes), maxChunk))
	}
	s.nodes = s.nodes[:len(s.nodes)+1]
	return &s.nodes[len(s.nodes)-1]
}

// children makes the children of a node out of a chain that leads from the last
// of them to the first. Items keep their order; members stand in the order of
// the table, where Field finds them by counting those before them.
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
