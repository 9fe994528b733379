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

const (
	// readyCacheTime keeps health checks off the database.
	readyCacheTime = limits.ReadyCache
	// readyTimeout is how long a check waits for the database.
	readyTimeout = limits.ReadyWait
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
		if errors.Is(err, landfall.ErrDiskFull) {
			detail = "The disk of the database is full."
		}
		return &landfall.Error{
			Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: detail, RetryAfter: readyCacheTime, Cause: err,
		}
	}
	return x.json(http.StatusOK, contract.HealthBody.Append(nil, "ready"))
}

var errShuttingDown = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: "The service is shutting down.",
}

// readiness caches the result of the database check. Concurrent health checks
// share one query.
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
	// Failures are cached, too, so that an unavailable database is not queried by
	// every check.
	if time.Now().Before(r.until) {
		return r.err
	}
	// Not cancelled with the first health check, because others wait for the same
	// result.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	r.err = r.check(ctx)
	r.until = time.Now().Add(readyCacheTime)
	return r.err
}
