package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// A run once stood still for as long as the database's clock was set back, a
// claim stayed for a day, and nobody was told.
func TestTheDatabasesClockIsSetBackAndAhead(t *testing.T) {
	tooltest.SkipIfShort(t)
	cluster, set := pgtest.StartWithClock(t)
	url, err := cluster.Database("clock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlstore.SchemaApply(t.Context(), url, sqlstore.Options{}); err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	r := startLogged(t, url, func(settings *app.Settings) { settings.ClaimLease = 2 * time.Second }, &log)
	r.stageMany(t, "A", 20)
	// The holder of this claim is dead.
	held, err := r.application.Store().Claim(t.Context(), landfall.ClaimRequest{
		Key: landfall.Key{Supplier: "NORTH", External: "A7"}, Team: "Migration Team", Lease: time.Minute,
	})
	if err != nil || held.Verdict != landfall.ClaimGranted {
		t.Fatalf("%v, %v", held.Verdict, err)
	}
	await(t, "the server has looked at the clock", func() bool {
		return r.execute(t, `SELECT 1 FROM database_clock WHERE seen_at > 0`) == 1
	})
	for i, offset := range []time.Duration{-time.Hour, 23 * time.Hour, 0} {
		set(offset)
		await(t, fmt.Sprintf("the jump to %s is reported", offset), func() bool {
			return strings.Count(log.String(), `msg="the database's clock jumped"`) == i+1
		})
		if metrics := r.metrics(t); !strings.Contains(metrics, fmt.Sprintf("landfall_clock_jumps_total %d", i+1)) {
			t.Error("the metrics do not report the jump")
		}
		r.stageMany(t, fmt.Sprintf("J%d-", i), 5)
		status, body := r.post(t, "runs/", "application/json", strings.NewReader(`{"import_supplier_code":"NORTH","operations_team_name":"Migration Team"}`))
		var run struct{ ID string }
		if err := json.Unmarshal([]byte(body), &run); err != nil || status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
		if err := r.await(t.Context(), run.ID, "FINISHED"); err != nil {
			t.Errorf("after the jump to %s: %v", offset, err)
		}
		if open := r.execute(t, `SELECT 1 FROM process WHERE state <> 'imported'`); open > 0 {
			t.Errorf("after the jump to %s, %d accounts were not created", offset, open)
		}
	}
	jump, err := r.application.Store().LastClockJump(t.Context())
	if err != nil || jump.By > -22*time.Hour {
		t.Errorf("the last jump is recorded as %s, %v", jump.By, err)
	}
}

// await waits for a condition.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(100 * time.Second); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 100 seconds", what)
		}
	}
}
