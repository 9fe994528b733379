package contract

import (
	"slices"

	"landfall/internal/api/rules"
)

// seenSet is a set that needs no allocation while it is small, as most are.
type seenSet[T comparable] struct {
	few   [16]T
	count int // of few
	many  map[T]bool
}

// stringPair is two strings compared together.
type stringPair [2]string

// add reports whether a value is new.
func (s *seenSet[T]) add(value T) bool {
	if s.many != nil {
		known := s.many[value]
		s.many[value] = true
		return !known
	}
	if slices.Contains(s.few[:s.count], value) {
		return false
	}
	s.few[s.count] = value
	if s.count++; s.count == len(s.few) {
		s.many = make(map[T]bool, 2*len(s.few))
		for _, known := range s.few {
			s.many[known] = true
		}
	}
	return true
}

// addPair reports whether a pair of values is new.
func addPair(known *seenSet[stringPair], a, b *rules.Node) bool {
	return !a.Valid() || !b.Valid() || known.add(stringPair{a.Text(), b.Text()})
}
