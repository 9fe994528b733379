package crashtest_test

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

// PostgreSQL is stopped for half a minute under traffic, with a run, a webhook and
// other background work. The log has one line when it is lost, one when it is back,
// and hardly any other, where there used to be three a second. The metrics agree.
func TestLostDatabaseIsOneHeadline(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	cluster, database := ownCluster(t)
	f := newFleet(t, database, 1, "--ops-listen", "127.0.0.1:0")
	server := f.replicas[0]
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	f.operate("webhook", "add", "hook", "Acme", hook.URL, "--from-start")
	f.book(5000)
	run := f.startRun(false)
	const away = 30 * time.Second
	before := len(server.warnings())
	l := newLoad("H", seedOf(t))
	disturbed(f, l, 4, func(c *caller, _ *rand.Rand) {
		time.Sleep(500 * time.Millisecond)
		server.wantMetrics(t, 1)
		if err := cluster.Abort(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(away)
		server.wantMetrics(t, 0)
		if err := cluster.Restart(); err != nil {
			t.Fatal(err)
		}
		c.recovers(l)
		server.wantMetrics(t, 1)
		eventually(t, 2*soon, "the run has ended", func() bool {
			status, answer, err := f.request(http.MethodGet, server.address(), imports+"/runs/"+run.ID+"/", nil)
			return err == nil && status == http.StatusOK && json.Unmarshal(answer, &run) == nil && run.State == "FINISHED"
		})
	})
	eventually(t, soon, "the server says that the database is back", func() bool {
		return strings.Contains(strings.Join(server.warnings(), "\n"), "can be written to again")
	})
	checkLoss(t, server.warnings()[before:], 1, "database")
	f.checkAlive()
}

// The servers of a database that works say so, with the gauges about disks, backups
// and keys. PostgreSQL has a name for each of them, as 'landfall replicas' lists it.
func TestMetricsOfAHealthyFleet(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fleet) {
		for _, server := range f.replicas {
			page := server.wantMetrics(t, 1)
			folder := "bulk-spool"
			if strings.HasPrefix(f.database, "sqlite:") {
				folder = "database"
			}
			for _, gauge := range []string{
				`landfall_disk_free_bytes{folder="` + folder + `"} [1-9]`, `landfall_disk_size_bytes{folder="` + folder + `"} [1-9]`,
				`landfall_backup_timestamp_seconds 0$`, `landfall_database_standbys 0$`, `landfall_api_key_expiry_timestamp_seconds `,
			} {
				if !regexp.MustCompile(`(?m)^` + gauge).MatchString(page) {
					t.Errorf("no %s in the metrics", gauge)
				}
			}
		}
		if strings.HasPrefix(f.database, "sqlite:") {
			return
		}
		database := f.raw()
		defer database.Close()
		var named int
		if err := database.QueryRowContext(t.Context(), `SELECT count(DISTINCT application_name) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name LIKE 'landfall %/%'`).Scan(&named); err != nil || named != len(f.replicas) {
			t.Errorf("PostgreSQL sees %d servers, not %d: %v", named, len(f.replicas), err)
		}
	}, "--ops-listen", "127.0.0.1:0")
}

// wantMetrics waits until the metrics of a server say whether it is ready and the
// database is up, and returns all of them.
func (r *replica) wantMetrics(t *testing.T, want int) (page string) {
	t.Helper()
	value := []string{"0", "1"}[want]
	eventually(t, soon, "landfall_ready and landfall_database_up are "+value, func() bool {
		response, err := r.fleet.http.Get(r.ops + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		page = string(text)
		return len(regexp.MustCompile(`(?m)^landfall_(ready|database_up) `+value+`$`).FindAllString(page, -1)) == 2
	})
	return page
}

// checkLoss checks what a server logged while the database was lost at most some
// times: a line at the beginning and at the end of each loss, and a handful of others.
func checkLoss(t *testing.T, warnings []string, losses int, cause string) {
	t.Helper()
	const handful = 8 // for each loss
	var lost, back int
	for _, line := range warnings {
		var entry struct {
			Msg, Cause, After string
			Left              int `json:"left_out"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(entry.Msg, "the database cannot be written to"):
			if lost++; !strings.Contains(entry.Cause, cause) {
				t.Errorf("the cause is %q", entry.Cause)
			}
		case entry.Msg == "the database can be written to again":
			if back++; entry.After == "" || entry.Left == 0 {
				t.Errorf("the loss ended with %s", line)
			}
		}
	}
	if lost == 0 || lost > losses || back != lost || len(warnings) > losses*handful {
		t.Errorf("up to %d losses have %d lines, among them %d at the beginning and %d at the end:\n%s", losses, len(warnings), lost, back, strings.Join(warnings, "\n"))
	}
	t.Logf("%d lines:\n%s", len(warnings), strings.Join(warnings, "\n"))
}
