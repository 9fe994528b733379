package convert

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"
)

// TestBatchHasMergeOrder checks that batches are sorted as the merge expects. Keys over
// 255 bytes used to be sorted by bytes before length.
func TestBatchHasMergeOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
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
				t.Fatalf("%d bytes %.12q… sorted before %d bytes %.12q…", len(before.key), before.key, len(here.key), here.key)
			}
		}
	}
}

// TestMergedRunsAreDeleted checks that merging runs needs at most twice their size on disk.
func TestMergedRunsAreDeleted(t *testing.T) {
	shared := &workspace{budget: 0, folder: t.TempDir()}
	s := shared.newSorter()
	const runs = 2*maxOpenRuns + 5
	for i := range uint64(runs) {
		b := s.batch()
		b.open(i, binary.BigEndian.AppendUint64(nil, (7*i)%runs))
		b.close()
		if err := s.add(b); err != nil {
			t.Fatal(err)
		}
	}
	m, err := s.stream()
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(shared.folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != len(s.runs) || len(left) > maxOpenRuns {
		t.Errorf("%d files are left for %d runs", len(left), len(s.runs))
	}
	count := uint64(0)
	for e := m.next(); e != nil; e = m.next() {
		if got := binary.BigEndian.Uint64(e.key); got != count {
			t.Fatalf("key %d is at %d", got, count)
		}
		count++
	}
	if m.err() != nil || count != runs {
		t.Errorf("%d rows, %v", count, m.err())
	}
	if err := s.release(); err != nil {
		t.Error(err)
	}
}
