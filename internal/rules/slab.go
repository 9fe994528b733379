package rules

// slab hands out nodes from a few large pieces of memory: an account is about
// a hundred small values, and a hundred allocations would cost more than
// reading it.
type slab struct {
	nodes []Node
	kids  []*Node
	stack []*Node // items of the lists being read, innermost last
}

// newSlab expects about one value per 24 bytes of JSON.
func newSlab(size int) slab {
	return slab{nodes: make([]Node, 0, min(size/24+8, 4096)), stack: make([]*Node, 0, 16)}
}

func (s *slab) node() *Node {
	if len(s.nodes) == cap(s.nodes) {
		s.nodes = make([]Node, 0, min(2*cap(s.nodes), 4096))
	}
	s.nodes = s.nodes[:len(s.nodes)+1]
	return &s.nodes[len(s.nodes)-1]
}

// slots gives room for n children.
func (s *slab) slots(n int) []*Node {
	if cap(s.kids)-len(s.kids) < n {
		s.kids = make([]*Node, 0, max(n, 128))
	}
	from := len(s.kids)
	s.kids = s.kids[:from+n]
	return s.kids[from : from+n : from+n]
}
