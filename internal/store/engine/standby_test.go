package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// TestSilentStandby commits to a server whose synchronous standby does not
// answer. When the wait is cancelled, the server commits alone and sends a
// warning. The engine must not report such a write as durable, neither to the
// caller nor to one that repeats the request and finds the row.
func TestSilentStandby(t *testing.T) {
	tooltest.SkipIfShort(t)
	cluster, err := pgtest.Start("wal_level=replica", "max_wal_senders=4")
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	limits := shortLimits
	limits.Commit, limits.Resolve = 1500*time.Millisecond, 1500*time.Millisecond
	r := openTest(t, cluster.URL, Options{Limits: limits})
	admin, err := pgx.Connect(t.Context(), cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	run := func(text string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	run(`ALTER SYSTEM SET synchronous_standby_names = 'ghost'`)
	run(`SELECT pg_reload_conf()`)
	run(`SELECT pg_sleep(0.5)`)
	if err := r.put(t.Context(), "t", "waiting"); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("while the standby does not respond: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	cancelled := make(chan int)
	go func() {
		total := 0
		for ctx.Err() == nil {
			var count int
			_ = admin.QueryRow(context.Background(), `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
				WHERE wait_event = 'SyncRep'`).Scan(&count)
			total += count
			time.Sleep(20 * time.Millisecond)
		}
		cancelled <- total
	}()
	for _, round := range []string{"the first time", "again"} {
		if err := r.put(t.Context(), "t", "cancelled"); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("%s, with its lock wait cancelled: %v", round, err)
		}
		if err := r.Update(t.Context(), "t", func(*Tx) error { return errors.New("it is there") }); !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("a refusal %s: %v", round, err)
		}
	}
	stop()
	if total := <-cancelled; total == 0 {
		t.Error("no wait was cancelled")
	}
	if count, err := r.count(t.Context(), "cancelled"); err != nil || count == 0 {
		t.Errorf("stored %d times, %v: the test proves nothing", count, err)
	}
	run(`ALTER SYSTEM RESET synchronous_standby_names`)
	run(`SELECT pg_reload_conf()`)
	if err := r.works(t.Context(), "afterwards"); err != nil {
		t.Error(err)
	}
}
