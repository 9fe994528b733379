package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// logFollower reads the log as a receiver of events does.
type logFollower struct {
	mark      landfall.Watermark
	suppliers []string
	events    []landfall.Event
}

// read reads all events up to the watermark. With planted set, it makes the
// mistake of taking ids for the commit order and reads up to the newest visible
// event.
func (f *logFollower) read(ctx context.Context, store landfall.Store, ignoreMark bool) error {
	var err error
	if f.mark, err = store.Watermark(ctx, f.mark); err != nil {
		return err
	}
	query := landfall.EventQuery{Suppliers: f.suppliers, UpTo: f.mark.Complete, Limit: 7}
	if ignoreMark {
		query.UpTo = 1 << 60
	}
	for {
		if len(f.events) > 0 {
			query.After = f.events[len(f.events)-1].ID
		}
		var page []landfall.Event
		err := store.View(ctx, func(view landfall.View) (err error) {
			// Pages are small, so that page boundaries are frequent.
			page, err = view.EventsAfter(ctx, query)
			return err
		})
		f.events = append(f.events, page...)
		if err != nil || len(page) < query.Limit {
			return err
		}
	}
}

// appendSlowEvent appends an event of a supplier and gives the others time to
// overtake.
func appendSlowEvent(ctx context.Context, store landfall.Store, key landfall.Key, number *atomic.Int64, linger func()) error {
	return store.Update(ctx, func(tx landfall.Tx) error {
		if _, err := tx.Supplier(ctx, key.Supplier); err != nil {
			return err
		}
		event := landfall.Event{Type: landfall.EventSkipped, Key: key}
		if number != nil {
			// Only the holder of the supplier's lock counts, so this is the
			// commit order.
			event.Details = map[string]string{"number": strconv.FormatInt(number.Add(1), 10)}
		}
		if err := tx.AppendEvent(ctx, event); err != nil {
			return err
		}
		linger()
		return nil
	})
}

// eventLogs are about readers that follow the log by its ids. On a database with
// several writers, ids are committed out of order, and a reader must not miss
// any.
var eventLogs = []promiseCheck{
	// Receivers keep their books by events: a skipped event is an account they
	// never hear of. The second half makes the mistake on purpose, to prove
	// that the case detects it where it can happen at all.
	{"an event that commits late is not skipped", func(t *testing.T, store landfall.Store) {
		if skipped, _ := lateEvents(t, store, false); skipped != 0 {
			t.Errorf("%d events were skipped", skipped)
		}
		// With several concurrent writers, a reader that goes by ids alone
		// skips one.
		if skipped, overtook := lateEvents(t, store, true); overtook && skipped != 1 {
			t.Errorf("the case does not detect the fault: %d events were skipped", skipped)
		}
	}},
	// This is the same with many slow writers and many readers. Each supplier
	// counts its own events while it is locked, so that the order of the log
	// can be compared with the commit order.
	{"readers of the log skip no event while sixty-four callers write", func(t *testing.T, store landfall.Store) {
		const writers, each = 64, 6
		var suppliers []string
		numbers := map[string]*atomic.Int64{}
		update(t, store, func(tx landfall.Tx) error {
			for i := range 16 {
				code := fmt.Sprintf("S%d", i)
				if err := tx.CreateSupplier(t.Context(), landfall.NewSupplier(code)); err != nil {
					return err
				}
				suppliers, numbers[code] = append(suppliers, code), &atomic.Int64{}
			}
			return nil
		})
		var written atomic.Int64
		ended := make(chan struct{})
		var reading sync.WaitGroup
		followers := make([]logFollower, 10)
		for i := range followers {
			followers[i].suppliers = suppliers
			reading.Go(func() {
				for last := false; ; time.Sleep(2 * time.Millisecond) {
					if err := followers[i].read(t.Context(), store, false); err != nil {
						t.Errorf("reading: %v", err)
						return
					}
					if last {
						return
					}
					select {
					case <-ended:
						last = true
					default:
					}
				}
			})
		}
		atOnce(writers, func(int) {
			for range each {
				code := suppliers[rand.IntN(len(suppliers))]
				err := appendSlowEvent(t.Context(), store, landfall.Key{Supplier: code, External: "A"}, numbers[code], func() {
					time.Sleep(rand.N(4 * time.Millisecond))
				})
				// An update that was refused for overload has written nothing,
				// so no event is expected. The numbers may then have gaps,
				// which is why only their order is compared.
				if err == nil {
					written.Add(1)
				}
			}
		})
		close(ended)
		reading.Wait()
		for i := range followers {
			last := map[string]int64{}
			for at, event := range followers[i].events {
				number, _ := strconv.ParseInt(event.Details["number"], 10, 64)
				if at > 0 && event.ID <= followers[i].events[at-1].ID || number <= last[event.Key.Supplier] {
					t.Fatalf("follower %d: event %d is out of order", i, event.ID)
				}
				last[event.Key.Supplier] = number
			}
			if int64(len(followers[i].events)) != written.Load() {
				t.Errorf("follower %d has read %d of %d events", i, len(followers[i].events), written.Load())
			}
		}
	}},
	// Organisations share one log, and events that an organisation may not read
	// must not even be counted on its page. An empty supplier list means no
	// events, never all events.
	{"the log is read by supplier, in order and in pages", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			for i := range 10 {
				event := landfall.Event{Type: landfall.EventSkipped, Key: landfall.Key{Supplier: []string{"A", "B", "C"}[i%3], External: strconv.Itoa(i)}}
				if err := tx.AppendEvent(t.Context(), event); err != nil {
					return err
				}
			}
			return nil
		})
		mark, err := store.Watermark(t.Context(), landfall.Watermark{})
		if err != nil || mark.Complete == 0 {
			t.Fatalf("%+v, %v", mark, err)
		}
		inView(t, store, func(view landfall.View) error {
			found, err := view.EventsAfter(t.Context(), landfall.EventQuery{Suppliers: []string{"C", "A", "none"}, UpTo: mark.Complete, Limit: 5})
			if err != nil {
				return err
			}
			var got strings.Builder
			for _, event := range found {
				got.WriteString(event.Key.External)
			}
			if got.String() != "02356" {
				t.Errorf("read %s", got.String())
			}
			one, err := view.LoggedEvent(t.Context(), found[2].ID)
			if err != nil || one.ID != found[2].ID || one.Key != found[2].Key || !one.At.Equal(found[2].At) {
				t.Errorf("%+v, %v", one, err)
			}
			_, err = view.LoggedEvent(t.Context(), mark.Complete+1)
			wantError(t, err, landfall.ErrNotFound)
			// The last event of one supplier, whatever the others did since.
			if last, err := view.LastEvent(t.Context(), "A", found[3].ID); err != nil || last.Key.Supplier != "A" || last.ID > found[3].ID {
				t.Errorf("%+v, %v", last, err)
			}
			_, err = view.LastEvent(t.Context(), "none", mark.Complete)
			wantError(t, err, landfall.ErrNotFound)
			told, err := view.SuppliersWithEvents(t.Context(), found[3].ID, mark.Complete)
			if len(told) != 3 {
				t.Errorf("reported %q", told)
			}
			if none, _ := view.EventsAfter(t.Context(), landfall.EventQuery{UpTo: mark.Complete, Limit: 5}); len(none) != 0 {
				t.Error("a caller without suppliers reads events")
			}
			return err
		})
	}},
	// This list decides whose events an organisation may read.
	{"grants are listed by organisation", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.CreateOrganisation(t.Context(), organisation); err != nil {
				return err
			}
			return tx.Grant(t.Context(), supplierCode, organisation)
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.GrantedSuppliers(t.Context(), organisation)
			if len(found) != 1 || found[0] != supplierCode {
				t.Errorf("granted %q", found)
			}
			return err
		})
	}},
}

// lateEvents lets one event overtake another, and returns how many of the two are
// never read by a reader that looked in between.
func lateEvents(t *testing.T, store landfall.Store, ignoreMark bool) (skipped int, overtook bool) {
	t.Helper()
	mine, other := fmt.Sprintf("LATE%v", ignoreMark), fmt.Sprintf("SOON%v", ignoreMark)
	update(t, store, func(tx landfall.Tx) error {
		if err := tx.CreateSupplier(t.Context(), landfall.NewSupplier(mine)); err != nil {
			return err
		}
		return tx.CreateSupplier(t.Context(), landfall.NewSupplier(other))
	})
	follower := logFollower{suppliers: []string{mine, other}}
	// The channel is buffered because an update may run more than once and would
	// otherwise block here when nothing receives any more.
	begun, release := make(chan struct{}, 5), make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		if err := appendSlowEvent(t.Context(), store, landfall.Key{Supplier: mine}, nil, func() {
			begun <- struct{}{}
			<-release
		}); err != nil {
			t.Errorf("the first writer: %v", err)
		}
	})
	<-begun
	overtaken := make(chan struct{})
	both.Go(func() {
		if err := appendSlowEvent(t.Context(), store, landfall.Key{Supplier: other}, nil, func() {}); err != nil {
			t.Errorf("the second writer: %v", err)
		}
		close(overtaken)
	})
	select {
	case <-overtaken: // on a database with several concurrent writers
		overtook = true
	case <-time.After(500 * time.Millisecond):
	}
	// One poll is not enough while others write: a reader that polled only once
	// would read nothing and could not skip anything.
	for range 3 {
		if err := follower.read(t.Context(), store, ignoreMark); err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	both.Wait()
	for range 3 {
		if err := follower.read(t.Context(), store, ignoreMark); err != nil {
			t.Fatal(err)
		}
	}
	return 2 - len(follower.events), overtook
}
