package importer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"time"

	"landfall"
	"landfall/client"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
)

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
	// patience is how long a server may be away while nothing gets on. A tired
	// team restarts it within that.
	patience = 10 * time.Minute
	// firstPatience is how long one may be away that never answered: it is more
	// likely that there is none at that address.
	firstPatience = 30 * time.Second
)

// persist tries until it works. What may pass by itself is waited for, with
// growing pauses, as long as it gets on now and then.
func (m *Mover) persist(ctx context.Context, try func(context.Context) (further bool, err error)) error {
	moved := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		further, err := try(ctx)
		away, unreached := errors.AsType[*url.Error](err)
		// Any answer shows that there is a server at the address, a refusal too.
		m.heard = m.heard || further || !unreached
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		wait, temporary := client.Temporary(err)
		// What is wrong with the book's own files may look as if it passed. No
		// waiting mends it.
		if _, ours := errors.AsType[unreadable](err); ours || !temporary {
			return err
		}
		if further {
			moved, pause = time.Now(), firstPause
		}
		if unreached {
			err = awayError{away}
		}
		if long := m.patience(); time.Since(moved) > long {
			return fmt.Errorf("nothing got on for %v: %w", long, err)
		}
		// A part is left to chance, so that imports that were cut off together do
		// not come back together. A server that names a time is given that at
		// least.
		wait = max(wait, pause/2+rand.N(pause)) //nolint:gosec // nobody gains by guessing it
		m.watcher.Notice(fmt.Sprintf("%v; trying again in %v", err, wait.Round(time.Second/10)))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// patience is how long is waited for the server.
func (m *Mover) patience() time.Duration {
	if m.heard {
		return patience
	}
	return firstPatience
}

// awayError is a server that does not answer, told so that somebody who has
// never seen a program's requests knows what to look at.
type awayError struct{ cause *url.Error }

func (a awayError) Unwrap() error { return a.cause }

// Error says where there is no server, and why.
func (a awayError) Error() string {
	where := a.cause.URL
	// The path is left out: what a person looks for is the machine.
	if address, err := url.Parse(where); err == nil {
		where = address.Scheme + "://" + address.Host
	}
	why := a.cause.Err
	if broken, is := errors.AsType[*net.OpError](why); is {
		why = broken.Err
	}
	return fmt.Sprintf("%s cannot be reached (%v): look whether the server runs and whether --server is right", where, why)
}

// keep writes a failure down.
func (m *Mover) keep(one failure) error {
	if err := m.journal.failures.add(one); err != nil {
		return fmt.Errorf("the journal cannot be kept: %w", err)
	}
	return nil
}

// mostKinds bounds what is counted for the watcher; the report counts all.
const mostKinds = 1000

// count adds a failure to those of its kind, and remembers an account that will
// not be there.
func (m *Mover) count(one failure) {
	if one.Kind == book.Accounts.Stem {
		m.lost.add(one.Supplier, one.External)
	}
	// A line may break one rule in many places; it counts once for each kind.
	places := map[[2]string]bool{}
	for _, violation := range check.Placeless(one.Failure).Violations {
		places[[2]string{violation.Code, landfall.AttrPattern(violation.Attr)}] = true
	}
	if len(places) == 0 {
		places[[2]string{one.Failure.Code, ""}] = true
	}
	for place := range places {
		if _, known := m.kinds[place]; !known && len(m.kinds) >= mostKinds {
			continue
		}
		m.kinds[place]++
		m.watcher.Failure(place[0], place[1], m.kinds[place])
	}
}
