package rules

import (
	"fmt"
	"sync"
	"testing"
)

// Decoders are reused: a body must never see data of another one, even after one
// that broke off in the middle.
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

// Nodes are reused too: a document must never see those of another one.
func TestReleasedNodesDoNotMix(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 500 {
				name := fmt.Sprintf("%d-%d", worker, i)
				body := `{"name":"` + name + `","words":["` + name + `","b"]}`
				if i%3 == 0 {
					body = `{"name":"` + name + `"}`
				}
				doc, fault := thing.Read([]byte(body), Limits{})
				if fault != nil {
					t.Errorf("%s: %v", name, fault)
					return
				}
				root := doc.Root()
				if root.Field("name").Text() != name || len(root.Field("words").Items()) != min(i%3, 1)*2 || root.Field("count").Present() {
					t.Errorf("%s reads %s, %d words", body, root.Field("name").Text(), len(root.Field("words").Items()))
				}
				doc.Release()
			}
		})
	}
	group.Wait()
}
