package pack

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// PatternLength is the length of a pattern's text.
const PatternLength = patternLength

// MakePattern makes a pattern from the text of typical accounts, with codes that
// are optimal for the given accounts.
func MakePattern(text []byte, accounts [][]byte) []byte {
	made := slices.Concat(slices.Repeat([]byte{8}, 3*symbolCount), make([]byte, 2*symbolCount), text)
	s := newPattern(made).survey(accounts)
	places := slices.SortedFunc(maps.Keys(s.places), func(a, b int) int {
		return cmp.Or(s.places[b]-s.places[a], a-b)
	})
	for i, place := range places[:symbolCount] {
		binary.LittleEndian.PutUint16(made[3*symbolCount+2*i:], uint16(place))
	}
	// Now that positions have codes, documents are encoded with other tokens.
	// Count again.
	s = newPattern(made).survey(accounts)
	return slices.Concat(codeWidths(s.tokens), codeWidths(s.literals), codeWidths(s.favourites), made[3*symbolCount:])
}

// survey counts the elements of encoded documents.
type survey struct {
	tokens, literals, favourites [symbolCount]int
	places                       map[int]int
}

func (p *pattern) survey(accounts [][]byte) *survey {
	s := &survey{places: map[int]int{}}
	for _, account := range accounts {
		pressed := p.encode(nil, account)
		_, width := binary.Uvarint(pressed)
		in, at, end := newReader(new(bitBuffer), pressed[width:]), patternLength, patternLength+len(account)
		for at < end {
			token := in.symbol(p.tokens)
			s.tokens[token]++
			literals := in.length(literalCounts, token>>literalShift)
			for range literals {
				s.literals[in.symbol(p.literals)]++
			}
			if at += literals; at == end {
				break
			}
			size := in.length(copyLengths, token&copyMask)
			from := in.place(p, token>>sourceShift&sourceMask, at)
			if from < patternLength {
				s.places[from]++
			}
			if token>>sourceShift&sourceMask == sourcePopular {
				s.favourites[p.favourite[from]-1]++
			}
			at += size
		}
	}
	return s
}

// codeWidths returns the code lengths of a prefix code for symbols with these
// counts. Every symbol gets a code, and none is longer than longestCode: the
// counts of the rarest symbols are raised until that is so.
func codeWidths(counts [symbolCount]int) []byte {
	for least := 1; ; least *= 2 {
		type group struct {
			count   int
			symbols []int
		}
		groups := make([]group, symbolCount)
		for i := range groups {
			groups[i] = group{max(counts[i], least), []int{i}}
		}
		made := make([]byte, symbolCount)
		for len(groups) > 1 {
			slices.SortFunc(groups, func(a, b group) int { return b.count - a.count })
			a, b := groups[len(groups)-1], groups[len(groups)-2]
			both := group{a.count + b.count, slices.Concat(a.symbols, b.symbols)}
			for _, symbol := range both.symbols {
				made[symbol]++
			}
			groups = append(groups[:len(groups)-2], both)
		}
		if slices.Max(made) <= longestCode {
			return made
		}
	}
}
