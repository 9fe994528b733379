package sqlstore

import (
	"testing"

	"landfall"
)

// TestCallersHaveQueuesOfTheirOwn checks that no organisation and no kind of
// work shares a queue with another: those of one queue wait for each other.
func TestCallersHaveQueuesOfTheirOwn(t *testing.T) {
	store := &Store{shared: &shared{}}
	key := landfall.Key{Supplier: "NORTH", External: "1"}
	seen := map[string]landfall.Caller{}
	for _, organisation := range []string{"", "A", "B", "A/bulk", "bulk/A"} {
		for _, priority := range []landfall.Priority{landfall.Interactive, landfall.BulkPriority, landfall.RunPriority} {
			caller := landfall.Caller{Organisation: organisation, Priority: priority}
			queue := store.For(caller).(*Store).tenant(key)
			if other, taken := seen[queue]; taken {
				t.Errorf("%+v and %+v share the queue %q", caller, other, queue)
			}
			seen[queue] = caller
		}
	}
}

// TestSuppliersHaveQueuesOfTheirOwn checks work without an organisation, such as
// an operator's.
func TestSuppliersHaveQueuesOfTheirOwn(t *testing.T) {
	store := &Store{shared: &shared{}}
	if store.tenant(landfall.Key{Supplier: "NORTH"}) == store.tenant(landfall.Key{Supplier: "SOUTH"}) {
		t.Error("two suppliers share a queue")
	}
}
