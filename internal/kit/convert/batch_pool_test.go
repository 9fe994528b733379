package convert

import "testing"

// TestSpareBuffersAreBounded checks that the pool is bounded and does not return batches that are far too
// large.
func TestSpareBuffersAreBounded(t *testing.T) {
	kept := batchPool{most: 5 << 20}
	of := func(text int) *batch { return &batch{text: make([]byte, 0, text), slots: make([]slot, 0, 16)} }
	for range 10 {
		kept.put(of(1 << 20))
	}
	if len(kept.list) != 4 || kept.held > kept.most {
		t.Errorf("%d batches with %d bytes wait, there is room for 4", len(kept.list), kept.held)
	}
	if kept.get(3<<19, 8) != nil || kept.get(1<<20, 100) != nil {
		t.Error("it gave one that is too small")
	}
	if kept.get(100, 1) == nil {
		t.Error("one of four times the least length was kept back")
	}
	kept.put(of(3 << 19))
	for found := kept.get(100, 1); found != nil; found = kept.get(100, 1) {
		if cap(found.text) > 1<<20 {
			t.Errorf("%d bytes for hundred", cap(found.text))
		}
	}
	if len(kept.list) != 1 || kept.held != kept.list[0].capacity() {
		t.Errorf("%d are left, with %d bytes counted", len(kept.list), kept.held)
	}
}
