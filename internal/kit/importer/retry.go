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
	// maxServerAbsence is how long the server may be unreachable without any progress.
	maxServerAbsence = 10 * time.Minute
	// maxFirstAbsence applies until the server has responded once: the address is more likely
	// wrong.
	maxFirstAbsence = 3 * time.Second
)

// reachServer obtains a token. Other calls are retried for longer, which does not help if the server
// was never there.
func (m *Importer) reachServer(ctx context.Context) error {
	return m.retry(ctx, func(ctx context.Context) (bool, error) {
		_, err := m.client.Token(ctx)
		return err == nil, err
	})
}

// retry retries temporary errors with growing pauses, as long as there is progress now and then.
func (m *Importer) retry(ctx context.Context, try func(context.Context) (further bool, err error)) error {
	moved := time.Now()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		further, err := try(ctx)
		away, unreached := errors.AsType[*url.Error](err)
		// Any response shows that there is a server, even a refusal.
		m.serverSeen = m.serverSeen || further || !unreached
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		wait, temporary := client.Temporary(err)
		// Errors of local files may look temporary, but waiting does not help.
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
			return fmt.Errorf("no progress for %v: %w", long, err)
		}
		// Randomised, so that interrupted imports do not all come back together. If the server
		// names a time, wait at least that long.
		wait = max(wait, pause/2+rand.N(pause)) //nolint:gosec // not security relevant
		m.watcher.Notice(fmt.Sprintf("%v; retrying in %v", err, wait.Round(time.Second/10)))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// maxAbsence is how long to wait for the server.
func (m *Importer) maxAbsence() time.Duration {
	if m.serverSeen {
		return maxServerAbsence
	}
	return maxFirstAbsence
}

// unreachableError explains an unreachable server to users.
type unreachableError struct{ cause *url.Error }

func (a unreachableError) Unwrap() error { return a.cause }

// Error names the address and the reason.
func (a unreachableError) Error() string {
	where := a.cause.URL
	// The path does not matter.
	if address, err := url.Parse(where); err == nil {
		where = address.Scheme + "://" + address.Host
	}
	why := a.cause.Err
	if broken, is := errors.AsType[*net.OpError](why); is {
		why = broken.Err
	}
	return fmt.Sprintf("%s is unreachable (%v): check that the server runs and that --server is right", where, why)
}

func (m *Importer) recordFailure(one failure) error {
	if err := m.journal.failures.add(one); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	return nil
}

// maxFailureKinds limits what is counted for the watcher; the report counts all.
const maxFailureKinds = 1000

// countFailure counts a failure by kind, and remembers its account.
func (m *Importer) countFailure(one failure) {
	// What the book adds to an account that differs is still sent.
	if one.Differs {
		return
	}
	if one.Kind == book.Accounts.Stem && !m.failed.has(one.Supplier, one.External) {
		m.failed.add(one.Supplier, one.External)
		m.failedOf[one.Supplier]++
	}
	// A line may break one rule several times; it counts once.
	seen := map[[2]string]bool{}
	for _, violation := range check.WithoutPosition(one.Failure).Violations {
		seen[[2]string{violation.Code, landfall.AttrPattern(violation.Attr)}] = true
	}
	if len(seen) == 0 {
		seen[[2]string{one.Failure.Code, ""}] = true
	}
	for kind := range seen {
		if _, known := m.failureCounts[kind]; !known && len(m.failureCounts) >= maxFailureKinds {
			continue
		}
		m.failureCounts[kind]++
		m.watcher.Failure(kind[0], kind[1], m.failureCounts[kind])
	}
}
