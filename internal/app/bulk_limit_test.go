package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall/internal/test/pgtest"
)

// stageMany stages accounts of a supplier in one bulk request and returns the
// lines that create them.
func (w *world) stageMany(t *testing.T, prefix string, count int) (creations []string) {
	t.Helper()
	var stagings []string
	for i := range count {
		stagings = append(stagings, fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":"%s%d","customers":[{}]}`, prefix, i))
		creations = append(creations, fmt.Sprintf(
			`{"import_supplier_code":"NORTH","external_account_number":"%s%d","operations_team_name":"Migration Team"}`, prefix, i))
	}
	w.sendLines(t, "account-import-process/create-or-update", "", stagings)
	return creations
}

// A supplier's concurrency limit slows its own lines down and nothing else: they
// are done nearly as fast as by as many callers without a limit. On PostgreSQL
// 30 lines under a limit of 8 once took 26 seconds and were cut off, some were
// told that another caller creates the account, and other suppliers were
// refused.
func TestLinesUnderASupplierLimit(t *testing.T) {
	fresh := maps.Clone(databases)
	if !testing.Short() { // it takes its time
		fresh["distant postgres"] = distantPostgres
	}
	for name, database := range fresh {
		for _, one := range []struct{ limit, lines int }{{8, 80}, {1, 6}} {
			t.Run(fmt.Sprintf("%s/limit %d", name, one.limit), func(t *testing.T) {
				w := newWorld(t, database(t), nil)
				var alone, took time.Duration
				// The first round opens connections and prepares statements, and others on
				// this machine may slow down one of two rounds.
				for round := range 4 {
					w.operate(t, "limit NORTH 0")
					alone = w.createByCallers(t, w.stageMany(t, fmt.Sprintf("C%d-", round), one.lines), one.limit)
					limited := w.stageMany(t, fmt.Sprintf("L%d-", round), one.lines)
					w.operate(t, fmt.Sprintf("limit NORTH %d", one.limit))
					took = w.createByLines(t, limited)
					t.Logf("%d lines took %s, as many callers without a limit %s", one.lines, took, alone)
					if round > 0 && took <= 2*alone+50*time.Millisecond {
						break
					}
				}
				if took > 2*alone+50*time.Millisecond {
					t.Errorf("%d lines took %s, as many callers without a limit %s", one.lines, took, alone)
				}
				stopped := make(chan struct{})
				others := w.stageElsewhere(t, stopped)
				w.createByLines(t, w.stageMany(t, "O", one.lines))
				close(stopped)
				if refused := <-others; refused != "" {
					t.Errorf("another supplier got %s", refused)
				}
			})
		}
	}
}

// createByLines creates accounts with one bulk request and returns how long
// that took.
func (w *world) createByLines(t *testing.T, lines []string) time.Duration {
	t.Helper()
	began := time.Now()
	answers, summary := w.sendLines(t, "account-import-process/process", "", lines)
	took := time.Since(began)
	if created := strings.Count(strings.Join(answers, ""), `"status":201`); created != len(lines) || !strings.Contains(summary, `"complete":true`) {
		t.Errorf("%d of %d lines created an account: %s\n%s", created, len(lines), summary, strings.Join(answers, "\n"))
	}
	return took
}

// createByCallers creates accounts with single calls of some callers at once
// and returns how long that took.
func (w *world) createByCallers(t *testing.T, bodies []string, callers int) time.Duration {
	t.Helper()
	began := time.Now()
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := caller; i < len(bodies); i += callers {
				if status, body := w.post(t, "account-import-process/process/", "application/json", strings.NewReader(bodies[i])); status != http.StatusCreated {
					t.Errorf("got %d %s", status, body)
				}
			}
		})
	}
	group.Wait()
	return time.Since(began)
}

// distantPostgres returns a database whose every round trip takes a while.
func distantPostgres(t testing.TB) string {
	t.Helper()
	proxy := pgtest.NewProxy(t, databases["postgres"](t))
	proxy.Delay(20 * time.Millisecond)
	return proxy.URL
}

// stageElsewhere stages accounts of another organisation and supplier until it
// is stopped. The channel returns the first refusal or slow answer, or "".
func (w *world) stageElsewhere(t *testing.T, stopped <-chan struct{}) <-chan string {
	t.Helper()
	result := make(chan string, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stopped:
				result <- ""
				return
			default:
			}
			body := fmt.Sprintf(`{"import_supplier":"SOUTH","external_account_number":"%d","customers":[{}]}`, i)
			request, err := http.NewRequest(http.MethodPost, w.server.URL+stagePath, strings.NewReader(body))
			if err != nil {
				result <- err.Error()
				return
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Token "+w.words["other token"])
			began := time.Now()
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				result <- err.Error()
				return
			}
			answer.Body.Close()
			if took := time.Since(began); answer.StatusCode != http.StatusCreated || took > 2*time.Second {
				result <- fmt.Sprintf("%d after %s", answer.StatusCode, took)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return result
}
