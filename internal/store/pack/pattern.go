package pack

import (
	_ "embed" // for the pattern
	"encoding/binary"
	"sync"
)

// accounts2 is a pattern made from generated accounts by
// TestGeneratedAccountsBecomeMuchSmaller, which can make others. It contains the
// code lengths of the tokens, of the letters and of the most copied positions,
// then those positions, then the text of typical accounts. The byte 2 in front
// of a document names it.
//
//go:embed accounts-2.pattern
var accounts2 []byte

const (
	withAccounts2 = 2
	symbolCount   = 256
)

// pattern is the fixed data that short documents are encoded with.
type pattern struct {
	tokens, literals, favourites *prefixCodes
	favourite                    [patternLength]uint16    // by position: its number if it has a code, counted from 1
	named                        [symbolCount]uint16      // the position of each number
	places                       [1 << patternBits]uint16 // the position of five bytes, by their hash
	workspaces                   sync.Pool
}

var accountsPattern = sync.OnceValue(func() *pattern { return newPattern(accounts2) })

func newPattern(made []byte) *pattern {
	part := func() (next []byte) {
		next, made = made[:symbolCount], made[symbolCount:]
		return next
	}
	p := &pattern{tokens: newCodes(part()), literals: newCodes(part()), favourites: newCodes(part())}
	for i := range p.named {
		p.named[i] = binary.LittleEndian.Uint16(made[2*i:])
		p.favourite[p.named[i]] = uint16(i) + 1
	}
	text := made[2*symbolCount:]
	p.workspaces.New = func() any {
		d := new(workspace)
		copy(d.text[:patternLength], text)
		return d
	}
	// Of two positions with the same hash, keep the later one, which is nearer
	// to every document.
	for at := range len(text) - 8 {
		p.places[hash(binary.LittleEndian.Uint64(text[at:]), patternBits)] = uint16(at)
	}
	return p
}
