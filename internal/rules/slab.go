package rules

import "sync"

// slab hands out nodes from a few large pieces of memory: an account is about
// a hundred small values, and a hundred allocations would cost more than
// reading it.
type slab struct {
	nodes    []Node
	pointers []*Node
	families [][]*Node
}

// newSlab expects about one value per 24 bytes of JSON. Small bodies, the usual
// ones, get what another one has released.
func newSlab(size int) *slab {
	expected := size/24 + 8
	if expected <= mostKept {
		return slabs.Get().(*slab) //nolint:forcetypeassert // the pool makes nothing else
	}
	return &slab{nodes: make([]Node, 0, min(expected, slabSize))}
}

// mostKept is how many values a slab that is used again has room for.
const mostKept = 192

var slabs = sync.Pool{New: func() any { return &slab{nodes: make([]Node, 0, mostKept)} }}

// release lets go of everything and makes the memory somebody else's.
func (s *slab) release() {
	if cap(s.nodes) != mostKept || cap(s.pointers) > 2*mostKept || cap(s.families) > mostKept {
		return // it has grown
	}
	clear(s.nodes)
	clear(s.pointers)
	clear(s.families)
	s.nodes, s.pointers, s.families = s.nodes[:0], s.pointers[:0], s.families[:0]
	slabs.Put(s)
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
// of them to the first.
func (s *slab) family(parent, last *Node, count int) *[]*Node {
	if count == 0 {
		return nil
	}
	if cap(s.pointers)-len(s.pointers) < count {
		s.pointers = make([]*Node, 0, max(count, 128))
	}
	from := len(s.pointers)
	s.pointers = s.pointers[:from+count]
	kids := s.pointers[from : from+count : from+count]
	for i := count - 1; i >= 0; i-- {
		kids[i] = last
		last, last.parent = last.parent, parent
	}
	if len(s.families) == cap(s.families) {
		s.families = make([][]*Node, 0, min(2*cap(s.families)+8, slabSize))
	}
	s.families = append(s.families, kids)
	return &s.families[len(s.families)-1]
}
