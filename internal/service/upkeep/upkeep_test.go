package upkeep_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/service/upkeep"
)

// fakeStore counts the steps it is asked to do.
type fakeStore struct {
	fakeClock
	steps     []landfall.IndexStep // the results of the next index steps
	indexedAt []time.Time
	compacted []int64
	recorded  int
	due       bool
	purges    []landfall.PurgeRequest
	failures  int // how many of the next purge steps fail
	ended     int
	codes     []string // the suppliers with a limited retention; none: PURGES
	broken    string   // the supplier whose purge always fails
	damaged   []landfall.UnreadableRow

	inspections   []landfall.InspectionStep // the results of the next inspection steps
	brokenSteps   int                       // how many of them fail first
	inspectedAt   []time.Time
	scrubs        []landfall.ScrubState
	scrubsDone    int
	scrubPosition landfall.ScrubState
}

func (s *fakeStore) StartScrub(context.Context, time.Duration) (landfall.ScrubState, bool, error) {
	return s.scrubPosition, len(s.inspections) > 0, nil
}

func (s *fakeStore) SaveScrub(_ context.Context, state landfall.ScrubState, _ time.Duration, done bool) error {
	if s.scrubs = append(s.scrubs, state); done {
		s.scrubsDone++
	}
	return nil
}

func (s *fakeStore) InspectStep(_ context.Context, _ landfall.InspectionPosition) (landfall.InspectionStep, error) {
	s.inspectedAt = append(s.inspectedAt, time.Now())
	step := s.inspections[0]
	if s.brokenSteps > 0 {
		s.brokenSteps--
		return landfall.InspectionStep{Next: step.Next}, errors.New("the database is busy")
	}
	s.inspections = s.inspections[1:]
	return step, nil
}

func (s *fakeStore) IndexTerms(context.Context) (step landfall.IndexStep, err error) {
	s.indexedAt = append(s.indexedAt, time.Now())
	time.Sleep(10 * time.Millisecond)
	if len(s.steps) > 0 {
		step, s.steps = s.steps[0], s.steps[1:]
	}
	return step, nil
}

func (s *fakeStore) LongTallies(context.Context, int) ([]int64, error) { return []int64{1, 2}, nil }

func (s *fakeStore) CompactTally(_ context.Context, supplier int64) (removed int, more bool, err error) {
	s.compacted = append(s.compacted, supplier)
	return 10, len(s.compacted) == 1, nil
}

func (s *fakeStore) RecordKey(context.Context) error {
	s.recorded++
	return nil
}

func (s *fakeStore) View(_ context.Context, fn func(landfall.View) error) error {
	return fn(suppliers{codes: s.codes})
}
func (s *fakeStore) Update(context.Context, func(landfall.Tx) error) error { return nil }
func (s *fakeStore) PurgeDue(context.Context) (bool, error)                { return s.due, nil }
func (s *fakeStore) StartPurge(context.Context, time.Duration) (bool, error) {
	started := s.due
	s.due = false
	return started, nil
}
func (s *fakeStore) ExtendPurge(context.Context, time.Duration) error { return nil }

func (s *fakeStore) EndPurge(context.Context, time.Duration) error {
	s.ended++
	return nil
}

func (s *fakeStore) Purge(_ context.Context, request landfall.PurgeRequest) (landfall.PurgeStep, error) {
	s.purges = append(s.purges, request)
	if s.failures > 0 {
		s.failures--
		return landfall.PurgeStep{}, errors.New("the database is busy")
	}
	if request.Supplier == s.broken {
		return landfall.PurgeStep{}, errors.New("the index is damaged")
	}
	next := landfall.PurgeCursor{Lane: request.After.Lane + 1}
	return landfall.PurgeStep{Removed: landfall.PurgeCounts{Documents: 1}, Next: next, Done: next.Lane == 2, Unreadable: s.damaged}, nil
}

// findNothing checks nothing further.
func findNothing(context.Context, func(context.Context, time.Duration) error, func(landfall.Finding)) error {
	return nil
}

// suppliers is a view with two suppliers, one of which has unlimited retention.
type suppliers struct {
	landfall.View
	codes []string
}

func (s suppliers) Suppliers(context.Context) (all []landfall.Supplier, err error) {
	for _, code := range s.codes {
		all = append(all, landfall.Supplier{Code: code, Retention: landfall.Retention{Staged: time.Hour}})
	}
	if all != nil {
		return all, nil
	}
	return []landfall.Supplier{{Code: "KEEPS"}, {Code: "PURGES", Retention: landfall.Retention{Staged: time.Hour}}}, nil
}

func TestIndexerYieldsWhileAccountsAreCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{steps: []landfall.IndexStep{{More: true, Newest: 1}, {More: true, Newest: 1}, {}}}
		running := upkeep.Start(store, slog.New(slog.DiscardHandler), findNothing)
		time.Sleep(2 * time.Second)
		running.Close()
		if len(store.indexedAt) != 3 {
			t.Fatalf("%d steps", len(store.indexedAt))
		}
		busy, idle := store.indexedAt[1].Sub(store.indexedAt[0]), store.indexedAt[2].Sub(store.indexedAt[1])
		if busy != 200*time.Millisecond || idle != 20*time.Millisecond {
			t.Errorf("it paused for %v and %v", busy, idle)
		}
		if store.recorded != 1 || len(store.compacted) < 3 {
			t.Errorf("%d keys were recorded, %v compacted", store.recorded, store.compacted)
		}
	})
}

func TestPurgeRetriesAStepAndContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{due: true, failures: 3}
		running := upkeep.Start(store, slog.New(slog.DiscardHandler), findNothing)
		time.Sleep(3 * time.Minute)
		running.Close()
		figures := running.PurgeFigures()
		if store.ended != 1 || figures.Removed.Documents != 2 || figures.Steps != 5 || len(store.purges) != 5 {
			t.Errorf("%d purges ended, figures %+v, steps %+v", store.ended, figures, store.purges)
		}
	})
}

func TestPurgeThatKeepsFailingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{due: true, failures: 100}
		if _, err := upkeep.PurgeIfDue(t.Context(), store); err == nil || len(store.purges) != 10 || store.ended != 0 {
			t.Errorf("got %v after %d steps", err, len(store.purges))
		}
	})
}

// A supplier whose purge kept failing used to stop the purge of all that follow.
func TestPurgeGoesOnBehindASupplierThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{due: true, codes: []string{"A", "B", "C"}, broken: "B"}
		removed, err := upkeep.PurgeIfDue(t.Context(), store)
		if err == nil || !strings.Contains(err.Error(), "supplier B: the index is damaged") || store.ended != 0 {
			t.Errorf("got %v, ended %d", err, store.ended)
		}
		if last := store.purges[len(store.purges)-1]; removed.Documents != 4 || last.Supplier != "C" {
			t.Errorf("removed %+v, last %+v", removed, last)
		}
	})
}

// The log named neither the supplier nor the account of a row that could not be
// read.
func TestPurgeNamesRowsThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := &fakeStore{due: true, damaged: []landfall.UnreadableRow{
			{Key: landfall.Key{Supplier: "PURGES", External: "1001"}, Location: "process.failure"},
		}}
		running := upkeep.Start(store, slog.New(slog.NewTextHandler(&log, nil)), findNothing)
		time.Sleep(3 * time.Minute)
		running.Close()
		if !strings.Contains(log.String(), "supplier=PURGES account=1001 location=process.failure") || store.ended != 1 || running.PurgeFigures().Unreadable != 2 {
			t.Errorf("%d purges ended, figures %+v\n%s", store.ended, running.PurgeFigures(), log.String())
		}
	})
}

func TestScrubIsSlowAndRemembersWhatItFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		damage := landfall.Finding{Key: landfall.Key{Supplier: "S", External: "1"}, What: "it is damaged"}
		store := &fakeStore{brokenSteps: 2}
		for range 100 {
			store.inspections = append(store.inspections, landfall.InspectionStep{Next: landfall.InspectionPosition{Stage: "accounts", After: "1"}, Findings: []landfall.Finding{damage}})
		}
		store.inspections = append(store.inspections, landfall.InspectionStep{Done: true})
		began := time.Now()
		if err := upkeep.ScrubIfDue(t.Context(), store, slog.New(slog.DiscardHandler), findNothing); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 25*time.Second {
			t.Errorf("103 steps took only %v", took)
		}
		last := store.scrubs[len(store.scrubs)-1]
		if store.scrubsDone != 1 || len(store.scrubs) < 3 || last.Findings != 100 || len(last.Examples) != 20 || last.Examples[0] != damage {
			t.Errorf("%d saved, %d done, the last %d findings, %d examples", len(store.scrubs), store.scrubsDone, last.Findings, len(last.Examples))
		}
	})
}
