package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
)

// When the service shuts down, an active stream is told where to continue.
func TestStreamEndsWithTheService(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		settings := app.Defaults()
		settings.Database, settings.Listen = database, "127.0.0.1:0"
		settings.ShutdownDelay, settings.ShutdownGrace = 10*time.Millisecond, 20*time.Second
		w := newWorld(t, database, func(s *app.Settings) { *s = settings })
		address, err := w.application.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		ended := make(chan error, 1)
		go func() { ended <- w.application.Run(ctx) }()
		read, write := io.Pipe()
		var over atomic.Bool // as seen by a client that reads while it sends
		go func() {
			defer write.Close()
			for i := 0; !over.Load(); i++ {
				if i == 200 {
					w.awaitStaged(t, "150")
					end()
				}
				if i > 200 {
					time.Sleep(time.Millisecond)
				}
				line := fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}`+"\n", i)
				if _, err := io.WriteString(write, line); err != nil {
					return
				}
			}
		}()
		w.server.URL = "http://" + address.String()
		status, body := w.stream(t, "bulk/account-import-process/create-or-update/", "application/x-ndjson", read, func(line string) {
			if strings.HasPrefix(line, `{"summary"`) {
				over.Store(true)
			}
		})
		lines := strings.Split(strings.TrimSpace(body), "\n")
		var last struct {
			Summary struct {
				Lines    int  `json:"lines"`
				NextLine int  `json:"next_line"`
				Complete bool `json:"complete"`
			} `json:"summary"`
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || status != 200 {
			t.Fatalf("%d %v %s", status, err, lines[len(lines)-1])
		}
		if last.Summary.Complete || last.Summary.NextLine != len(lines) || last.Summary.Lines != len(lines)-1 || last.Summary.NextLine < 100 {
			t.Errorf("%d lines of answers: %+v", len(lines), last.Summary)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		// Every answered line was processed, and no line from next_line on.
		if err := w.application.Store().View(t.Context(), func(view landfall.View) error {
			for i := range last.Summary.NextLine + 50 {
				_, err := view.Process(t.Context(), landfall.Key{Supplier: "NORTH", External: fmt.Sprint(i)})
				if done := err == nil; done != (i < last.Summary.Lines) {
					t.Errorf("line %d: %v", i+1, err)
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// awaitStaged waits until an account is staged.
func (w *world) awaitStaged(t *testing.T, external string) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		err := w.application.Store().View(t.Context(), func(view landfall.View) error {
			_, err := view.Process(t.Context(), landfall.Key{Supplier: "NORTH", External: external})
			return err
		})
		if err == nil {
			return
		}
	}
	t.Errorf("%s was never staged", external)
}

// However often the database disconnects, continuing at next_line processes every
// line exactly once.
func TestStreamsSurviveTheDatabase(t *testing.T) {
	w := newWorld(t, databases["postgres"](t), nil)
	const lines = 6000
	var book []string
	for i := range lines {
		book = append(book, fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}`, i))
	}
	ctx, stop := context.WithCancel(t.Context())
	var breaking sync.WaitGroup
	breaking.Go(func() {
		for range 4 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(300 * time.Millisecond):
			}
			w.execute(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		}
	})
	defer breaking.Wait()
	defer stop()
	for next := 1; ; {
		answers, summary := w.sendLines(t, "account-import-process/create-or-update", "", book[next-1:])
		for i, answer := range answers {
			if !strings.HasPrefix(answer, fmt.Sprintf(`{"line":%d,"status":20`, i+1)) {
				t.Fatalf("line %d: %s", next+i, answer)
			}
		}
		next += len(answers)
		if strings.Contains(summary, `"complete":true`) {
			if next != lines+1 {
				t.Errorf("complete at line %d", next)
			}
			break
		}
		if !strings.Contains(summary, `"code":"service_unavailable"`) {
			t.Fatalf("got %s", summary)
		}
	}
	stop()
	breaking.Wait()
	// Terminated connections stay in the pool for a moment.
	staged, err := 0, error(nil)
	for range 10 {
		staged, err = 0, nil
		for _, err = range w.application.Store().List(t.Context(), landfall.ProcessQuery{Supplier: "NORTH", Filter: landfall.PendingProcesses}) {
			if err != nil {
				break
			}
			staged++
		}
		if err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if staged != lines {
		t.Errorf("%d accounts are staged", staged)
	}
}
