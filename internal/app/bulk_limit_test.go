package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
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

// A supplier's concurrency limit slows its own lines down and nothing else: all are
// created. On PostgreSQL 30 lines under a limit of 8 once took 26 seconds and were cut
// off, some were told that another caller creates the account, and other suppliers were
// refused. The bench measures the pace.
func TestLinesUnderASupplierLimit(t *testing.T) {
	fresh := maps.Clone(databases)
	if !testing.Short() { // it takes its time
		fresh["distant postgres"] = distantPostgres
	}
	for name, database := range fresh {
		for _, one := range []struct{ limit, lines int }{{8, 80}, {1, 6}} {
			t.Run(fmt.Sprintf("%s/limit %d", name, one.limit), func(t *testing.T) {
				w := newWorld(t, database(t), nil)
				w.operate(t, fmt.Sprintf("limit NORTH %d", one.limit))
				stopped := make(chan struct{})
				others := w.stageElsewhere(t, stopped)
				for round := range 2 {
					w.createByLines(t, w.stageMany(t, fmt.Sprintf("L%d-", round), one.lines))
				}
				close(stopped)
				if refused := <-others; refused != "" {
					t.Errorf("another supplier got %s", refused)
				}
			})
		}
	}
}

// createByLines creates accounts with one bulk request.
func (w *world) createByLines(t *testing.T, lines []string) {
	t.Helper()
	answers, summary := w.sendLines(t, "account-import-process/process", "", lines)
	if created := strings.Count(strings.Join(answers, ""), `"status":201`); created != len(lines) || !strings.Contains(summary, `"complete":true`) {
		t.Errorf("%d of %d lines created an account: %s\n%s", created, len(lines), summary, strings.Join(answers, "\n"))
	}
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
			if took := time.Since(began); answer.StatusCode != http.StatusCreated || took > 10*time.Second {
				result <- fmt.Sprintf("%d after %s", answer.StatusCode, took)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return result
}
