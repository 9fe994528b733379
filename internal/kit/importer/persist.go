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
	firstPause = 500 * time.Millisecond
	maxPause   = 30 * time.Second
	// maxServerAbsence is how long a server may be away while nothing gets on. A tired
	// team restarts it within that.
	maxServerAbsence = 10 * time.Minute
	// maxFirstAbsence is how long one may be away that never answered: it is more
	// likely that there is none at that address.
	maxFirstAbsence = 30 * time.Second
)

// retry tries until it works. What may pass by itself is waited for, with
// growing pauses, as long as it gets on now and then.
func (m *Importer) retry(ctx context.Context, try func(context.Context) (further bool, err error)) error {
	moved := time.Now()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		further, err := try(ctx)
		away, unreached := errors.AsType[*url.Error](err)
		// Any answer shows that there is a server at the address, a refusal too.
		m.serverSeen = m.serverSeen || further || !unreached
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		wait, temporary := client.Temporary(err)
		// What is wrong with the book's own files may look as if it passed. No
		// waiting mends it.
		if _, ours := errors.AsType[localError](err); ours || !temporary {
			return err
		}
		if further {
			moved, pause = time.Now(), firstPause
		}
		if unreached {
			err = unreachableError{away}
		}
		if long := m.maxAbsence(); time.Since(moved) > long {
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

// maxAbsence is how long is waited for the server.
func (m *Importer) maxAbsence() time.Duration {
	if m.serverSeen {
		return maxServerAbsence
	}
	return maxFirstAbsence
}

// unreachableError is a server that does not answer, told so that somebody who has
// never seen a program's requests knows what to look at.
type unreachableError struct{ cause *url.Error }

func (a unreachableError) Unwrap() error { return a.cause }

// Error says where there is no server, and why.
func (a unreachableError) Error() string {
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

// recordFailure writes a failure down.
func (m *Importer) recordFailure(one failure) error {
	if err := m.journal.failures.add(one); err != nil {
		return fmt.Errorf("the journal cannot be kept: %w", err)
	}
	return nil
}

// maxFailureKinds bounds what is counted for the watcher; the report counts all.
const maxFailureKinds = 1000

// countFailure adds a failure to those of its kind, and remembers an account that will
// not be there.
func (m *Importer) countFailure(one failure) {
	if one.Kind == book.Accounts.Stem {
		m.failed.add(one.Supplier, one.External)
	}
	// A line may break one rule in many places; it counts once for each kind.
	places := map[[2]string]bool{}
	for _, violation := range check.WithoutPosition(one.Failure).Violations {
		places[[2]string{violation.Code, landfall.AttrPattern(violation.Attr)}] = true
	}
	if len(places) == 0 {
		places[[2]string{one.Failure.Code, ""}] = true
	}
	for index := range places {
		if _, known := m.failureCounts[index]; !known && len(m.failureCounts) >= maxFailureKinds {
			continue
		}
		m.failureCounts[index]++
		m.watcher.Failure(index[0], index[1], m.failureCounts[index])
	}
}
