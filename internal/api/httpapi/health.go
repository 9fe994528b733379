package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
)

// healthz reports that the process is running. It does not check the database,
// because a restart would not fix it.
func (a *API) healthz(_ context.Context, x *exchange) error {
	return x.json(http.StatusOK, contract.HealthBody.Append(nil, "ok"))
}

// readyz reports whether the server can handle requests.
func (a *API) readyz(ctx context.Context, x *exchange) error {
	if a.Draining() {
		// A regular shutdown is not an error, so it is not reported as one.
		x.Header().Set("Retry-After", "1")
		return x.json(http.StatusServiceUnavailable, contract.ErrorBody.Append(nil, errShuttingDown))
	}
	if err := a.ready.cached(ctx); err != nil {
		detail := "The database is unavailable."
		switch {
		case errors.Is(err, landfall.ErrDiskFull):
			detail = "The disk of the database is full."
		case errors.Is(err, errSilent):
			detail = "The database does not respond."
		case errors.Is(err, landfall.ErrOverloaded):
			detail = "Too much is waiting for the database, and nothing was written for seconds."
		}
		return &landfall.Error{
			Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: detail, RetryAfter: limits.ReadyCache, Cause: err,
		}
	}
	return x.json(http.StatusOK, contract.HealthBody.Append(nil, "ready"))
}

var errShuttingDown = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: "The service is shutting down.",
}

// errSilent means that the database has not answered the check yet.
var errSilent = errors.New("the database does not respond")

// readiness caches the result of the database check. Concurrent health checks
// share one query.
type readiness struct {
	check func(ctx context.Context) error

	mu      sync.Mutex
	until   time.Time
	err     error
	running chan struct{} // closed when the check has ended; nil when none runs
}

// cached returns the result of the last check, or of a new one if that is too
// old. It answers in less than a second: balancers wait no longer, and would not
// learn the reason.
func (r *readiness) cached(ctx context.Context) error {
	if r.check == nil {
		return nil
	}
	r.mu.Lock()
	// Failures are cached, too, so that an unavailable database is not queried by
	// every check.
	if time.Now().Before(r.until) {
		defer r.mu.Unlock()
		return r.err
	}
	if r.running == nil {
		r.running = make(chan struct{})
		// Not cancelled with the first health check, because others wait for the
		// same result.
		go r.run(context.WithoutCancel(ctx))
	}
	running := r.running
	r.mu.Unlock()
	select {
	case <-running:
	case <-time.After(limits.ReadyAnswer):
		return errSilent
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// run checks the database once.
func (r *readiness) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, limits.ReadyWait)
	defer cancel()
	err := r.check(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.until = err, time.Now().Add(limits.ReadyCache)
	close(r.running)
	r.running = nil
}

// isReady returns 1 if the server can handle requests, for the metrics.
func (a *API) isReady() float64 {
	if a.Draining() || a.ready.cached(context.Background()) != nil {
		return 0
	}
	return 1
}

// databaseUp returns 1 if the database can be written to, for the metrics.
func (a *API) databaseUp() float64 {
	if a.ready.cached(context.Background()) != nil {
		return 0
	}
	return 1
}
