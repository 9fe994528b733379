package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// runsPath starts runs and, followed by an ID, returns one.
const runsPath = "/v1/data-import/runs/"

// inRun is the number of accounts in one run, and togetherRaw the number that a
// bare program writes in one transaction.
const (
	inRun       = 20_000
	togetherRaw = 500
)

// move stages accounts in bulk and returns the rate at which a run creates
// them, from the request to its end.
func (s *service) move(ctx context.Context, numbers *counter, count int64) (sample, error) {
	if _, err := s.stream(ctx, numbers, time.Hour, count); err != nil {
		return sample{}, err
	}
	began := time.Now()
	state, err := s.startRun(ctx)
	for err == nil && state.State != "FINISHED" {
		// Often enough to see the end at once, and rarely enough to cause no
		// load.
		time.Sleep(20 * time.Millisecond)
		state, err = s.ask(ctx, http.MethodGet, runsPath+state.ID+"/", "")
	}
	// A run that left accounts out would look faster.
	if err == nil && state.Succeeded != count {
		err = fmt.Errorf("the run created %d of %d accounts", state.Succeeded, count)
	}
	return sample{rate: float64(count) / time.Since(began).Seconds()}, err
}

// startRun starts a run of all staged accounts.
func (s *service) startRun(ctx context.Context) (moved, error) {
	return s.ask(ctx, http.MethodPost, runsPath, `{"import_supplier_code":"`+supplier+`","operations_team_name":"Bench Team"}`)
}

// moved is the progress of a run.
type moved struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Succeeded int64  `json:"succeeded"`
}

// ask sends requests that are not timed.
func (s *service) ask(ctx context.Context, method, path, body string) (found moved, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		return found, err
	}
	request.Header.Set("Authorization", "Token "+s.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return found, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return found, err
	}
	if answer.StatusCode/100 != 2 {
		return found, fmt.Errorf("%s was answered %d: %s", path, answer.StatusCode, text)
	}
	return found, json.NewDecoder(bytes.NewReader(text)).Decode(&found)
}

// measureRun compares a run with 64 callers that process the same accounts.
func measureRun(ctx context.Context, p plan, _ *harness, s *service) (measured, error) {
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) { return s.move(ctx, numbers, inRun) },
		func() (sample, error) { return s.create(ctx, numbers, creations) })
	return measured{ratio: ratio, ours: ours.of("accounts in a run"), raw: raw.of("accounts by 64 callers")}, err
}

// measureRunPostgres compares a run with pgbench writing the same rows, five
// hundred accounts per statement.
func measureRunPostgres(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.rawProcesses(ctx, s.database); err != nil {
		return measured{}, err
	}
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) { return s.move(ctx, numbers, inRun) },
		func() (sample, error) {
			found, err := m.pgbenchOf(ctx, s.database, rawCreations(togetherRaw), p.length, 2)
			found.rate *= togetherRaw
			return found, err
		})
	return measured{ratio: ratio, ours: ours.of("accounts in a run"), raw: raw.of("accounts by pgbench")}, err
}

// measureRunSQLite compares a run with a bare program that writes the same
// rows, five hundred accounts per transaction.
func measureRunSQLite(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.furnish(ctx, m.sqlite("raw-run")); err != nil {
		return measured{}, err
	}
	db, err := m.bareSQLite("raw-run")
	if err != nil {
		return measured{}, err
	}
	defer func() { _ = db.Close() }()
	numbers, rawNumbers := &counter{}, &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.move(ctx, numbers, inRun) },
		func() (sample, error) { return createBare(ctx, db, rawNumbers, p.length, togetherRaw) })
	return measured{ratio: ratio, ours: ours.of("accounts in a run"), raw: limit.of("accounts by a bare program")}, err
}
