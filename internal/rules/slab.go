package rules

// slab hands out nodes from a few large pieces of memory: an account is about
// a hundred small values, and a hundred allocations would cost more than
// reading it.
type slab struct {
	nodes    []Node
	pointers []*Node
	families [][]*Node
}

// newSlab expects about one value per 24 bytes of JSON.
func newSlab(size int) slab {
	return slab{nodes: make([]Node, 0, min(size/24+8, slabSize))}
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
