package intake

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"landfall"
)

const (
	// supplierMemory is how long a look-up is believed, counted from before the
	// database was asked. It takes the repeated question off the database under
	// load, and is too short for an operator to notice; whatever decides a
	// write is read again in the writing transaction.
	supplierMemory = 50 * time.Millisecond
	// supplierPatience bounds a look-up that many callers may be waiting for.
	supplierPatience = 5 * time.Second
	// supplierRoom is how many answers are remembered before the stale ones are
	// swept, so that made-up codes cannot fill the memory.
	supplierRoom = 4096
)

// supplier gives the supplier an organisation may use, or nil: one that was
// not granted and one that does not exist are the same to everybody.
func (d *Desk) supplier(ctx context.Context, who landfall.Principal, code string) (*landfall.Supplier, error) {
	question := grant{who.Organisation, code}
	look, first := d.suppliers.look(question, d.now())
	if first {
		// Others may be waiting too, so the question does not end with the
		// patience of whoever happened to ask it first.
		d.ask(context.WithoutCancel(ctx), question, look)
	}
	select {
	case <-look.done:
		return look.supplier, look.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask puts a question to the store and wakes everybody who waits for it. A
// failure is forgotten, so that the next caller tries again.
func (d *Desk) ask(ctx context.Context, question grant, look *lookup) {
	ctx, cancel := context.WithTimeout(ctx, supplierPatience)
	defer cancel()
	look.err = errors.New("the supplier was not looked up")
	defer close(look.done)
	defer func() {
		if look.err != nil {
			d.suppliers.forget(question, look)
		}
	}()
	var found landfall.Supplier
	err := d.store.View(ctx, func(view landfall.View) (err error) {
		found, err = view.GrantedSupplier(ctx, question.organisation, question.code)
		return err
	})
	switch {
	case err == nil:
		look.supplier, look.err = &found, nil
	case errors.Is(err, landfall.ErrNotFound):
		look.err = nil
	default:
		look.err = err
	}
}

// grant is the question "this supplier, for that organisation".
type grant struct{ organisation, code string }

// lookup is a question under way or answered. What stands below done may be
// read once that is closed.
type lookup struct {
	asked    time.Time
	done     chan struct{}
	supplier *landfall.Supplier // nil: none, or not granted
	err      error
}

func (l *lookup) fresh(now time.Time) bool {
	age := now.Sub(l.asked)
	return age >= 0 && age < supplierMemory
}

// lookups remembers each question for a moment, so that it is asked once
// however many callers want to know.
type lookups struct {
	mu    sync.Mutex
	known map[grant]*lookup
}

// look finds a fresh look-up, or makes one that the caller must answer.
func (l *lookups) look(question grant, now time.Time) (look *lookup, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if look := l.known[question]; look != nil && look.fresh(now) {
		return look, false
	}
	if len(l.known) >= supplierRoom {
		for old, look := range l.known {
			if !look.fresh(now) {
				delete(l.known, old)
			}
		}
	}
	// The code is a cut out of a whole request, which must not be kept for it.
	question.code = strings.Clone(question.code)
	look = &lookup{asked: now, done: make(chan struct{})}
	l.known[question] = look
	return look, true
}

// forget takes a look-up out, unless another has taken its place.
func (l *lookups) forget(question grant, look *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[question] == look {
		delete(l.known, question)
	}
}
