package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall/internal/app"
	"landfall/internal/test/dbtest"
)

// The metrics table in the handbook is generated from the declarations.
func TestHandbookHasAllMetrics(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), func(settings *app.Settings) {
		settings.Mail.Server, settings.Mail.TLS, settings.Mail.From = "localhost", "none", "us@example.com" // mail has metrics too
	})
	var table strings.Builder
	fmt.Fprintln(&table, "| metric | kind | labels | says |\n|---|---|---|---|")
	for _, metric := range w.application.Catalogue() {
		labels := slices.Clone(metric.Labels)
		for i, label := range labels {
			labels[i] = "`" + label + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", metric.Name, metric.Kind, strings.Join(labels, ", "), metric.Help)
	}
	app.CheckPageTable(t, "../../docs/metrics.md", "metrics", table.String())
}

// The metrics of a supplier exist before its first account and follow its
// migration, on both databases.
func TestMetricsFollowAMigration(t *testing.T) {
	for name, fresh := range map[string]func(testing.TB) string{
		"sqlite":   dbtest.SQLite,
		"postgres": dbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startServer(t, fresh(t), nil)
			response, err := http.DefaultClient.Do(r.request(http.MethodPost, stagePath, stageBody("M-1")))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			shown := r.metrics(t)
			pool := map[string]string{"sqlite": "list", "postgres": "settle"}[name]
			for _, line := range []string{
				`landfall_supplier_accounts{standing="pending",supplier="NORTH"} 1`,
				`landfall_supplier_accounts{standing="imported",supplier="NORTH"} 0`,
				`landfall_supplier_deviating_accounts{supplier="NORTH"} 0`,
				`landfall_claims{supplier="NORTH"} 0`,
				`landfall_runs{state="RUNNING"} 0`,
				`landfall_database_connections_busy{pool="` + pool + `"} 0`,
				`landfall_errors_total{code="internal_error"} 0`,
				`landfall_stagings_total{result="created"} 1`,
				`landfall_postings_total{kind="notes",result="accepted"} 0`,
			} {
				if !strings.Contains(shown, line+"\n") {
					t.Errorf("there is no line %s", line)
				}
			}
			if name == "sqlite" && strings.Contains(shown, "landfall_database_wal_bytes 0\n") {
				t.Error("the write-ahead log has no size")
			}
		})
	}
}

// Accounts of a run were not counted as created, and those of a dry run were.
func TestMetricsKeepRunsAndDryRunsApart(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		r := startServer(t, database, nil)
		send := func(path, body string) {
			status := 0
			for range 600 { // one run of a supplier at a time
				response, err := http.DefaultClient.Do(r.request(http.MethodPost, path, body))
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if status = response.StatusCode; status/100 == 2 {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Fatalf("%s: HTTP %d", path, status)
		}
		wait := func(lines ...string) {
			t.Helper()
			var shown string
			for range 600 {
				shown = r.metrics(t)
				if !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(shown, line+"\n") }) {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Fatalf("the metrics lack one of %q", lines)
		}
		send(stagePath, stageBody("M-1"))
		const run = `{"import_supplier_code":"NORTH","operations_team_name":"Migration Team","dry_run":%t}`
		send("/v1/data-import/runs/", fmt.Sprintf(run, true))
		wait("landfall_run_accounts_dry_run_total 1", "landfall_run_accounts_created_total 0", "landfall_accounts_created_total 0")
		send("/v1/data-import/runs/", fmt.Sprintf(run, false))
		wait("landfall_run_accounts_dry_run_total 1", "landfall_run_accounts_created_total 1", "landfall_accounts_created_total 1")
	})
}

// metrics reads the metrics from the operator's listener.
func (r *testServer) metrics(t *testing.T) string {
	t.Helper()
	shown := httptest.NewRecorder()
	r.application.Ops().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return shown.Body.String()
}

// awaited lists metrics that exist only after something has happened, with that
// condition. Alerts on them test for presence.
var awaited = map[string]string{
	"landfall_scrub_ended_timestamp_seconds":         "all stored data was checked once",
	"landfall_supplier_signed_off_timestamp_seconds": "a reconciliation was signed off",
	"landfall_vendor_breakers_open":                  "a vendor was asked",
	"landfall_vendor_request_duration_seconds":       "a vendor was asked",
}

// Every metric of the catalogue exists as soon as a server answers, so that the
// first occurrence is an increase and not the start of a series.
func TestEveryMetricExistsFromTheStart(t *testing.T) {
	r := startServer(t, dbtest.SQLite(t), nil)
	shown := r.metrics(t)
	for _, metric := range r.application.Catalogue() {
		there := strings.Contains(shown, "# TYPE "+metric.Name+" "+metric.Kind+"\n")
		if _, waits := awaited[metric.Name]; there == waits {
			t.Errorf("%s is there from the start: %t", metric.Name, there)
		}
	}
}
