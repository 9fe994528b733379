package convert

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A batch must be in the very order that the merge expects of it, or rows of
// one key are met at two places and one of them finds nobody. Keys over 255
// bytes were sorted by their letters before their lengths.
func TestABatchIsInTheOrderOfTheMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for range 200 {
		var b batch
		for at := range uint64(40) {
			key := bytes.Repeat([]byte{'k'}, random.IntN(4))
			for length := []int{3, 12, 253, 254, 255, 256, 300}[random.IntN(7)]; len(key) < length; {
				key = append(key, "abz"[random.IntN(3)])
			}
			b.open(at, key)
			b.close()
		}
		b.sort()
		for i := 1; i < len(b.slots); i++ {
			before, here := b.entry(i-1), b.entry(i)
			if before.compare(&here) > 0 {
				t.Fatalf("%d bytes %.12q… stand before %d bytes %.12q…", len(before.key), before.key, len(here.key), here.key)
			}
		}
	}
}
