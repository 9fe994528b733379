package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/audit"
	"landfall/internal/store/sqlstore"
)

// forger changes the audit log without going through the port, and restores it.
type forger struct {
	t          *testing.T
	store      *sqlstore.Store
	overriding string
	links      []landfall.AuditLink
	random     *rand.Rand
}

var auditTables = []string{"audit", "audit_link", "audit_chain"}

// newForger fills an audit log with gaps between its ids, as failed transactions
// leave them, and chains it.
func newForger(t *testing.T, url string) *forger {
	store := openStore(t, url)
	f := &forger{t: t, store: store, random: rand.New(rand.NewPCG(7, 7))}
	if strings.HasPrefix(url, "postgres") {
		f.overriding = "OVERRIDING SYSTEM VALUE"
	}
	for i := range 60 {
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.AppendAudit(t.Context(), landfall.AuditEntry{
				Actor: fmt.Sprintf("operator:%d", i), Action: "supplier.set", Subject: "ACME", Detail: fmt.Sprint("change ", i),
				Source: "192.0.2.7", RequestID: fmt.Sprint("r", i), Batch: fmt.Sprintf(`[{"key":"k%d"}]`, i),
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	f.force(`DELETE FROM audit WHERE id % 3 = 0`)
	if _, step, err := store.ChainAudit(t.Context(), landfall.Watermark{}); err != nil || step != (landfall.ChainStep{Chained: 40}) {
		t.Fatalf("%+v, %v", step, err)
	}
	for _, table := range auditTables {
		f.force(`CREATE TABLE kept_` + table + ` AS SELECT * FROM ` + table)
	}
	f.links = f.trail()
	return f
}

func (f *forger) force(text string, args ...any) {
	f.t.Helper()
	if err := f.store.Force(f.t.Context(), text, args...); err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
}

func (f *forger) trail() (links []landfall.AuditLink) {
	f.t.Helper()
	err := f.store.View(f.t.Context(), func(reader landfall.View) (err error) {
		links, err = reader.AuditTrail(f.t.Context(), landfall.AuditQuery{Limit: 1000})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return links
}

func (f *forger) restore() {
	f.t.Helper()
	var texts []string
	for _, table := range auditTables {
		overriding := ""
		if table == "audit" {
			overriding = f.overriding
		}
		texts = append(texts, `DELETE FROM `+table, `INSERT INTO `+table+` `+overriding+` SELECT * FROM kept_`+table)
	}
	if err := f.store.ForceAll(f.t.Context(), texts...); err != nil {
		f.t.Fatal(err)
	}
}

// pick returns a random position other than the last.
func (f *forger) pick() int64 { return 1 + f.random.Int64N(int64(len(f.links)-1)) }

func (f *forger) id(place int64) int64 { return f.links[place-1].ID }

// forgeries each change something and return the position that verification must
// report.
var forgeries = map[string]func(*forger) int64{
	"altered": func(f *forger) int64 {
		place := 1 + f.random.Int64N(int64(len(f.links)))
		column := []string{"actor", "action", "subject", "detail", "source", "request_id", "acts"}[f.random.IntN(7)]
		f.force(`UPDATE audit SET `+column+` = `+column+` || 'x' WHERE id = $1`, f.id(place))
		return place
	},
	"a text moved to the next field": func(f *forger) int64 {
		place := f.pick()
		f.force(`UPDATE audit SET actor = actor || action, action = '' WHERE id = $1`, f.id(place))
		return place
	},
	"another time": func(f *forger) int64 {
		place := f.pick()
		f.force(`UPDATE audit SET at = at + 1 WHERE id = $1`, f.id(place))
		return place
	},
	"removed": func(f *forger) int64 {
		place := f.pick()
		f.force(`DELETE FROM audit WHERE id = $1`, f.id(place))
		return place
	},
	"removed with its link": func(f *forger) int64 {
		place := f.pick()
		f.force(`DELETE FROM audit WHERE id = $1`, f.id(place))
		f.force(`DELETE FROM audit_link WHERE position = $1`, place)
		return place
	},
	"a link removed": func(f *forger) int64 {
		place := f.pick()
		f.force(`DELETE FROM audit_link WHERE position = $1`, place)
		return place
	},
	"put in": func(f *forger) int64 {
		place := f.pick()
		for f.id(place)%3 != 1 || place == 1 { // the id before it is free
			place = f.pick()
		}
		f.force(`INSERT INTO audit (id, at, actor, action, subject, detail) `+f.overriding+` VALUES ($1, 1, 'a', 'b', 'c', 'd')`, f.id(place)-1)
		return place
	},
	"put in before all": func(f *forger) int64 {
		f.force(`INSERT INTO audit (id, at, actor, action, subject, detail) `+f.overriding+` VALUES ($1, 1, 'a', 'b', 'c', 'd')`, int64(-5))
		return 1
	},
	"swapped": func(f *forger) int64 {
		first, second := f.pick(), f.pick()
		for first == second {
			second = f.pick()
		}
		one, other := f.links[first-1], f.links[second-1]
		const swap = `UPDATE audit SET at = $2, actor = $3, action = $4, subject = $5, detail = $6, source = $7, request_id = $8, acts = $9 WHERE id = $1`
		for id, from := range map[int64]landfall.AuditLink{one.ID: other, other.ID: one} {
			f.force(swap, id, from.At.UnixMicro(), from.Actor, from.Action, from.Subject, from.Detail, from.Source, from.RequestID, from.Batch)
		}
		return min(first, second)
	},
	"links swapped": func(f *forger) int64 {
		first := f.pick()
		second := first + 1
		f.force(`UPDATE audit_link SET entry = -1 WHERE position = $1`, first)
		f.force(`UPDATE audit_link SET entry = $2 WHERE position = $1`, second, f.id(first))
		f.force(`UPDATE audit_link SET entry = $2 WHERE position = $1`, first, f.id(second))
		return first
	},
	"cut off": func(f *forger) int64 {
		place := f.pick()
		f.force(`DELETE FROM audit WHERE id >= $1`, f.id(place))
		f.force(`DELETE FROM audit_link WHERE position >= $1`, place)
		return place
	},
	"cut off, and the end moved": func(f *forger) int64 {
		place := 1 + f.pick()
		f.force(`DELETE FROM audit WHERE id >= $1`, f.id(place))
		f.force(`DELETE FROM audit_link WHERE position >= $1`, place)
		f.force(`UPDATE audit_chain SET position = $1, hash = $2, through = $3`, place-1, f.links[place-2].Hash.String(), f.id(place)-1)
		return place
	},
	"written anew": func(f *forger) int64 {
		place := f.pick()
		f.force(`UPDATE audit SET actor = 'nobody' WHERE id = $1`, f.id(place))
		var hash landfall.AuditHash
		for _, link := range f.trail() {
			if hash = link.HashAfter(hash); link.Position >= place {
				f.force(`UPDATE audit_link SET hash = $2 WHERE position = $1`, link.Position, hash.String())
			}
		}
		f.force(`UPDATE audit_chain SET hash = $1`, hash.String())
		return (place + 9) / 10 * 10 // the next checkpoint
	},
}

// TestTamperingIsDetected changes the audit log 200 times, in all the ways of
// forgeries, and checks that the first wrong position is reported each time.
func TestTamperingIsDetected(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		f := newForger(t, url)
		evidence := f.evidence()
		if verdict, err := audit.Verify(t.Context(), f.store, evidence); err != nil || verdict.Problem != "" || verdict.Checkpoints != 4 {
			t.Fatalf("%+v, %v before anything was changed", verdict, err)
		}
		var names []string
		for name := range forgeries {
			names = append(names, name)
		}
		for try := range 200 {
			name := names[try%len(names)]
			place := forgeries[name](f)
			verdict, err := audit.Verify(t.Context(), f.store, evidence)
			if err != nil || verdict.Problem == "" || verdict.Position != place {
				t.Fatalf("try %d, %s at place %d: %+v, %v", try, name, place, verdict, err)
			}
			f.restore()
		}
		if verdict, err := audit.Verify(t.Context(), f.store, evidence); err != nil || verdict.Problem != "" {
			t.Fatalf("%+v, %v after everything was put back", verdict, err)
		}
	})
}

// evidence returns a checkpoint for every tenth position.
func (f *forger) evidence() (evidence audit.Evidence) {
	f.t.Helper()
	var name string
	if err := f.store.View(f.t.Context(), func(reader landfall.View) error {
		chain, err := reader.AuditChain(f.t.Context())
		name = chain.Name
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	for _, link := range f.links {
		if link.Position%10 == 0 {
			evidence.Checkpoints = append(evidence.Checkpoints, audit.Checkpoint{
				Chain: name, Position: link.Position, Hash: link.Hash.String(), At: time.Now().Format(time.RFC3339),
			})
		}
	}
	return evidence
}

// TestBackdatedEntryIsNamed adds an entry that claims to be a year old before it
// is chained, so that the chain itself is intact.
func TestBackdatedEntryIsNamed(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		add := func() {
			t.Helper()
			if err := store.Update(t.Context(), func(tx landfall.Tx) error {
				return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "operator:ada", Action: "supplier.set", Subject: "ACME"})
			}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(want string) {
			t.Helper()
			if _, _, err := store.ChainAudit(t.Context(), landfall.Watermark{}); err != nil {
				t.Fatal(err)
			}
			verdict, err := audit.Verify(t.Context(), store, audit.Evidence{})
			if err != nil || (want == "") != (verdict.Problem == "") || !strings.Contains(verdict.Problem, want) {
				t.Errorf("%+v, %v; want %q", verdict, err, want)
			}
		}
		add()
		add()
		// Transactions that take a minute may write their entries out of order.
		force(t, store, `UPDATE audit SET at = at - 60000000 WHERE id = (SELECT max(id) FROM audit)`)
		check("")
		add()
		force(t, store, `UPDATE audit SET at = at - 31536000000000 WHERE id = (SELECT max(id) FROM audit)`)
		add()
		check("entry 3 at position 3 is dated")
	})
}
