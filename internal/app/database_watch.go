package app

import (
	"context"
	"time"

	"landfall/internal/lib/limits"
)

// watchDatabase logs one line when the database can no longer be written to, and one
// when it can again. In between, the log leaves out the lines that say the same. It
// checks at intervals, and at once when a line says that the database is unavailable.
func (a *App) watchDatabase(ctx context.Context) {
	defer a.log.databaseLost(false)
	var failing, lost time.Time // zero while it works
	for {
		began := time.Now()
		err := a.checkDatabase(ctx)
		pause := limits.DatabaseWatch
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !lost.IsZero():
			a.log.Warn("the database can be written to again", "after", time.Since(failing).Round(time.Second).String(),
				"left_out", a.log.databaseLost(false))
			failing, lost = time.Time{}, time.Time{}
		case err == nil:
			failing = time.Time{}
		case failing.IsZero():
			failing = began // once may be a connection that broke
		case lost.IsZero():
			lost = time.Now()
			a.log.databaseLost(true)
			a.log.Error("the database cannot be written to; requests are refused until it can", "database", a.settings.DatabaseName(), "cause", err.Error())
		}
		if !failing.IsZero() {
			pause = limits.DatabaseWatchAgain
		}
		if !a.awaitCheck(ctx, pause, failing.IsZero()) {
			return
		}
	}
}

// checkDatabase writes to the database, unless a commit has just proved that this works.
func (a *App) checkDatabase(ctx context.Context) error {
	if m, ok := a.store.(engineStore); ok && time.Since(m.Figures().LastSuccess) < limits.DatabaseWatchAgain {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limits.ReadyWait)
	defer cancel()
	return a.store.Ping(ctx)
}

// awaitCheck waits for the next check. A line of the log ends the pause if woken is
// true. It returns false when the context ends.
func (a *App) awaitCheck(ctx context.Context, pause time.Duration, woken bool) bool {
	var wake <-chan struct{}
	if woken {
		wake = a.log.unavailable()
	}
	select {
	case <-time.After(pause):
	case <-wake:
		// Not more often than this, whatever is logged.
		select {
		case <-time.After(limits.DatabaseWatchAgain):
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
