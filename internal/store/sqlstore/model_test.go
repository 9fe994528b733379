package sqlstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"landfall/internal/test/dbtest"

	"pgregory.net/rapid"

	"landfall"
)

// TestModel runs random operations against a store and against plain maps, and
// compares the results.
func TestModel(t *testing.T) {
	for name, fresh := range dbtest.Fresh {
		t.Run(name, func(t *testing.T) {
			store := openStore(t, fresh(t))
			ctx := t.Context()
			story := 0
			rapid.Check(t, func(r *rapid.T) {
				// Each sequence of operations has its own supplier in the same
				// database.
				story++
				m := &model{ctx: ctx, store: store, code: fmt.Sprintf("S%d", story), status: landfall.Ongoing, processes: map[string]*modelled{}}
				m.must(r, store.Update(ctx, func(tx landfall.Tx) error {
					return tx.CreateSupplier(ctx, landfall.NewSupplier(m.code))
				}))
				r.Repeat(map[string]func(*rapid.T){
					"stage": m.stage, "skip": m.skip, "unskip": m.unskip, "status": m.setStatus, "": m.compare,
				})
			})
		})
	}
}

type model struct {
	ctx       context.Context
	store     landfall.Store
	code      string
	status    landfall.SupplierStatus
	processes map[string]*modelled
	order     []string
}

type modelled struct {
	contents []string
	skipped  string
}

func (m *model) must(r *rapid.T, err error) {
	if err != nil {
		r.Fatal(err)
	}
}

func (m *model) key(r *rapid.T) landfall.Key {
	return landfall.Key{Supplier: m.code, External: rapid.SampledFrom([]string{"1", "2", "a", "A", "é"}).Draw(r, "external")}
}

func (m *model) stage(r *rapid.T) {
	key := m.key(r)
	content := rapid.SampledFrom([]string{`{"a":1}`, `{"a":2}`, `{ "a": 1 }`}).Draw(r, "content")
	got, err := m.store.Stage(m.ctx, landfall.Staging{Key: key, Document: []byte(content), Hash: sha256.Sum256([]byte(content))})
	m.must(r, err)
	known := m.processes[key.External]
	var want landfall.StageOutcome
	switch {
	case m.status != landfall.Ongoing:
		want.Verdict = landfall.RefusedSupplier
	case known == nil:
		m.processes[key.External] = &modelled{contents: []string{content}}
		m.order = append(m.order, key.External)
		want = landfall.StageOutcome{Verdict: landfall.StagedFirst, Revision: 1}
	case known.skipped != "":
		want = landfall.StageOutcome{Verdict: landfall.RefusedSkipped, Revision: len(known.contents)}
	default:
		if known.contents[len(known.contents)-1] != content {
			known.contents = append(known.contents, content)
		}
		want = landfall.StageOutcome{Verdict: landfall.StagedAgain, Revision: len(known.contents)}
	}
	if !reflect.DeepEqual(got, want) {
		r.Fatalf("stage %v: got %+v, want %+v", key, got, want)
	}
}

func (m *model) skip(r *rapid.T) {
	key := m.key(r)
	err := m.store.Update(m.ctx, func(tx landfall.Tx) error {
		_, err := tx.Skip(m.ctx, key, "why")
		return err
	})
	known := m.processes[key.External]
	switch {
	case known == nil: // the mark alone creates a process
		m.must(r, err)
		m.processes[key.External] = &modelled{skipped: "why"}
		m.order = append(m.order, key.External)
	case known.skipped != "":
		m.expect(r, err, landfall.ErrExists)
	default:
		m.must(r, err)
		known.skipped = "why"
	}
}

func (m *model) unskip(r *rapid.T) {
	key := m.key(r)
	err := m.store.Update(m.ctx, func(tx landfall.Tx) error { return tx.Unskip(m.ctx, key) })
	known := m.processes[key.External]
	if known == nil || known.skipped == "" {
		m.expect(r, err, landfall.ErrNotFound)
		return
	}
	m.must(r, err)
	known.skipped = ""
	if len(known.contents) == 0 { // there was only the mark
		delete(m.processes, key.External)
		m.order = slices.DeleteFunc(m.order, func(external string) bool { return external == key.External })
	}
}

func (m *model) setStatus(r *rapid.T) {
	m.status = rapid.SampledFrom(landfall.SupplierStatuses).Draw(r, "status")
	m.must(r, m.store.Update(m.ctx, func(tx landfall.Tx) error {
		supplier := landfall.NewSupplier(m.code)
		supplier.Status = m.status
		return tx.SaveSupplier(m.ctx, supplier)
	}))
}

func (m *model) expect(r *rapid.T, err, want error) {
	if !errors.Is(err, want) {
		r.Fatalf("got %v, want %v", err, want)
	}
}

// compare compares everything readable with the maps.
func (m *model) compare(r *rapid.T) {
	for external, known := range m.processes {
		key := landfall.Key{Supplier: m.code, External: external}
		m.must(r, m.store.View(m.ctx, func(reader landfall.View) error {
			found, err := reader.Process(m.ctx, key)
			if err != nil {
				return err
			}
			if found.Revision != len(known.contents) || found.SkipReason != known.skipped {
				r.Fatalf("%v: got %+v, want %+v", key, found, known)
			}
			history, err := reader.Revisions(m.ctx, key)
			for at, revision := range history {
				if !bytes.Equal(revision.Document, []byte(known.contents[at])) {
					r.Fatalf("%v: revision %d is %s", key, at+1, revision.Document)
				}
			}
			return err
		}))
	}
	for filter, skipped := range map[landfall.ProcessFilter]bool{landfall.PendingProcesses: false, landfall.SkippedProcesses: true} {
		var found, want []string
		for entry, err := range m.store.List(m.ctx, landfall.ProcessQuery{Supplier: m.code, Filter: filter}) {
			m.must(r, err)
			found = append(found, entry.External)
		}
		for _, external := range m.order {
			if (m.processes[external].skipped != "") == skipped {
				want = append(want, external)
			}
		}
		// Stagings within one tick of the clock are ordered by number.
		slices.Sort(found)
		slices.Sort(want)
		if !slices.Equal(found, want) {
			r.Fatalf("filter %d: got %v, want %v", filter, found, want)
		}
	}
}
