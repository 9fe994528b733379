package rules

import (
	"fmt"
	"sync"
	"testing"
)

// Decoders are used again: a body must never see anything of another one, not
// even after one that ended in the middle.
func TestReadersDoNotMix(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 200 {
				name := fmt.Sprintf("%d%d", worker, i%9)
				if _, fault := thing.Read([]byte(`{"name":"`+name), Limits{}); fault == nil {
					t.Error("a cut body was accepted")
				}
				doc, fault := thing.Read([]byte(`{"part":{"id":"`+name+`"},"name":"`+name+`"}`), Limits{})
				if fault != nil || doc.Report().Failed() {
					t.Errorf("%s: %v", name, fault)
					return
				}
				if got := doc.Root().Field("part").Field("id").Text() + doc.Root().Field("name").Text(); got != name+name {
					t.Errorf("got %s, want %s twice", got, name)
				}
			}
		})
	}
	group.Wait()
}
