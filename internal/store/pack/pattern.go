package pack

import (
	_ "embed" // for the pattern
	"encoding/binary"
	"sync"
)

// accounts2 was made from generated accounts, by a test that can make others:
// how many bits the code of each token takes, of each letter and of each of the
// places that are copied most, those places, and then what accounts look like.
// Its name in front of a document is the byte 2.
//
//go:embed accounts-2.pattern
var accounts2 []byte

const (
	withAccounts2 = 2
	symbolCount   = 256
)

// pattern is what pressed documents rest on.
type pattern struct {
	tokens, letters, favourites *prefixCodes
	favourite                   [patternLength]uint16    // the number of a place that has a code, counted from 1
	named                       [symbolCount]uint16      // the place of each number
	places                      [1 << patternBits]uint16 // where five bytes stand, by their hash
	workspaces                  sync.Pool
}

var accountsPattern = sync.OnceValue(func() *pattern { return newPattern(accounts2) })

func newPattern(made []byte) *pattern {
	part := func() (next []byte) {
		next, made = made[:symbolCount], made[symbolCount:]
		return next
	}
	p := &pattern{tokens: newCodes(part()), letters: newCodes(part()), favourites: newCodes(part())}
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
	// Of two places that look alike the later one is nearer to every document.
	for at := range len(text) - 8 {
		p.places[hash(binary.LittleEndian.Uint64(text[at:]), patternBits)] = uint16(at)
	}
	return p
}
