package rules

import (
	"math/bits"
	"sync"
)

// slab hands out nodes from a few large pieces of memory: an account is about
// two hundred small values, and as many allocations would cost more than reading
// it.
type slab struct {
	nodes    []Node
	pointers []*Node
	families [][]*Node
}

// rooms are how many nodes a slab that is used again has room for. What a slab
// of each takes is in proportion to the bodies that get it, so that thousands of
// small ones at once do not hold the memory of large ones. One that turns out
// too small doubles, and is then one of the next room.
var rooms = [...]int{192, 384, 768}

var slabs [len(rooms)]sync.Pool

// bytesByNode is how many bytes of JSON there are to a value where they are many.
const bytesByNode = 16

// newSlab gives short bodies, the usual ones, what another one has released.
func newSlab(size int) *slab {
	expected := size/bytesByNode + 8
	for i, room := range rooms {
		if expected > room {
			continue
		}
		if used, is := slabs[i].Get().(*slab); is {
			return used
		}
		return &slab{nodes: make([]Node, 0, room)}
	}
	return &slab{nodes: make([]Node, 0, min(expected, slabSize))}
}

// release lets go of everything and makes the memory somebody else's.
func (s *slab) release() {
	for i, room := range rooms {
		if cap(s.nodes) == room && cap(s.pointers) <= 2*room && cap(s.families) <= room {
			clear(s.nodes)
			clear(s.pointers)
			clear(s.families)
			s.nodes, s.pointers, s.families = s.nodes[:0], s.pointers[:0], s.families[:0]
			slabs[i].Put(s)
			return
		}
	}
}

// slabSize is how many nodes a piece has at most, so that little is left over.
const slabSize = 1024

func (s *slab) node() *Node {
	if len(s.nodes) == cap(s.nodes) {
		s.nodes = make([]Node, 0, min(2*cap(s.nodes), slabSize))
	}
	s.nodes = s.nodes[:len(s.nodes)+1]
	return &s.nodes[len(s.nodes)-1]
}

// family makes the children of a node out of a chain that leads from the last
// of them to the first. Items keep their order; members stand in the order of
// the table, where Field finds them by counting those before them.
func (s *slab) family(parent, last *Node, count int) *[]*Node {
	if count == 0 {
		return nil
	}
	if cap(s.pointers)-len(s.pointers) < count {
		s.pointers = make([]*Node, 0, max(count, min(cap(s.nodes), 2*rooms[0])))
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
	if len(s.families) == cap(s.families) {
		s.families = make([][]*Node, 0, min(2*cap(s.families)+8, slabSize))
	}
	s.families = append(s.families, kids)
	return &s.families[len(s.families)-1]
}
