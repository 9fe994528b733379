package landfall_test

import (
	"fmt"
	"testing"
	"time"

	"landfall"
)

func TestAuditBatchRoundTrip(t *testing.T) {
	var acts landfall.AuditBatch
	var want []landfall.AuditEntry
	add := func(by landfall.Author, action string, key landfall.Key, detail string) {
		acts.Add(by, action, key, detail)
		want = append(want, landfall.AuditEntry{
			ID: 7, At: time.Unix(1, 0), Actor: "key:" + by.KeyID, Source: by.Source, Action: action,
			Subject: key.Supplier + "/" + key.External, Detail: detail, RequestID: by.RequestID,
		})
	}
	for i := range 3 {
		add(landfall.Author{KeyID: "k1", RequestID: fmt.Sprintf("r/%d", i), Source: "192.0.2.7"}, "account.stage",
			landfall.Key{Supplier: "ACME", External: fmt.Sprint(i)}, "revision 1")
	}
	// A detail that repeats the line before is omitted when stored, and restored
	// when read.
	for _, detail := range []string{"revision 2", "revision 2", "", "", "revision 1"} {
		add(landfall.Author{KeyID: "k1", RequestID: "r/9", Source: "192.0.2.7"}, "account.stage", landfall.Key{Supplier: "ACME", External: "8"}, detail)
	}
	add(landfall.Author{KeyID: "k\t2", RequestID: `a\/b/`}, "=", landfall.Key{Supplier: "=\n", External: "\\t ="}, "")
	add(landfall.Author{KeyID: "k1", RequestID: "r"}, "account.stage", landfall.Key{Supplier: "ACME"}, "\n=\t")
	acts.Add(landfall.Author{}, "nobody", landfall.Key{}, "")
	acts.Add(landfall.Author{Operator: "operator:ada", Source: "192.0.2.8"}, "account_import.completed", landfall.Key{Supplier: "ACME", External: "9"}, "A-1")
	own := landfall.AuditEntry{Actor: "operator:ada", Action: "account_import.completed", Subject: "ACME/9", Detail: "A-1", Source: "192.0.2.8"}
	if len(acts.OperatorEntries) != 1 || acts.OperatorEntries[0] != own {
		t.Errorf("the operator did %+v", acts.OperatorEntries)
	}
	found := landfall.AuditEntry{ID: 7, At: time.Unix(1, 0), Batch: acts.String()}.Expand()
	if acts.Count != len(want) || len(found) != len(want) {
		t.Fatalf("%d of %d acts", len(found), len(want))
	}
	for i := range want {
		if found[i] != want[i] {
			t.Errorf("act %d is %+v, want %+v", i, found[i], want[i])
		}
	}
	if broken := (landfall.AuditEntry{Batch: "=\n x\n\t\t\t"}).Expand(); len(broken) != 0 {
		t.Errorf("%+v was read", broken)
	}
}
