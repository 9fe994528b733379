package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

const (
	// readyCacheTime keeps probes from many places off the database.
	readyCacheTime = time.Second
	// readyTimeout is how long a probe waits for a database that is silent.
	readyTimeout = 2 * time.Second
)

// healthz says that the process lives; whoever restarts processes asks this,
// and restarting does not bring a database back.
func (a *API) healthz(_ context.Context, x *exchange) error {
	return x.json(http.StatusOK, contract.HealthBody.Append(nil, "ok"))
}

// readyz says whether requests should be sent here.
func (a *API) readyz(ctx context.Context, x *exchange) error {
	if a.Draining() {
		// An orderly end is no fault, so it is not reported as one.
		x.Header().Set("Retry-After", "1")
		return x.json(http.StatusServiceUnavailable, contract.ErrorBody.Append(nil, errShuttingDown))
	}
	if err := a.ready.cached(ctx); err != nil {
		return &landfall.Error{
			Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
			Detail: "The database is unavailable.", RetryAfter: readyCacheTime, Cause: err,
		}
	}
	return x.json(http.StatusOK, contract.HealthBody.Append(nil, "ready"))
}

var errShuttingDown = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: "The service is shutting down.",
}

// readiness remembers the last answer of the database for a moment. Probes
// that come together wait for the same question.
type readiness struct {
	check func(ctx context.Context) error

	mu    sync.Mutex
	until time.Time
	err   error
}

func (r *readiness) cached(ctx context.Context) error {
	if r.check == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A failure is remembered as well: a database that is away is not asked by every probe.
	if time.Now().Before(r.until) {
		return r.err
	}
	// Not with the probe that came first: when it gives up, those that wait behind it would learn
	// nothing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	r.err = r.check(ctx)
	r.until = time.Now().Add(readyCacheTime)
	return r.err
}
