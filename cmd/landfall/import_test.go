package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"landfall/client"
	"landfall/internal/mover"
)

// moving is a server with a supplier, a book beside it, and a key.
type moving struct {
	*served
	key, book string
}

func newMoving(t *testing.T, generate ...string) *moving {
	t.Helper()
	return newMovingAt(t, nil, generate...)
}

func newMovingAt(t *testing.T, settings []string, generate ...string) *moving {
	t.Helper()
	m := &moving{served: serve(t, settings...), book: filepath.Join(t.TempDir(), "book")}
	m.command(t, "organisation", "create", "Acme")
	m.command(t, "supplier", "create", "NORTH")
	m.command(t, "supplier", "grant", "NORTH", "Acme")
	m.command(t, "team", "create", "Migration Team")
	m.key = strings.TrimSpace(m.command(t, "key", "create", "Acme"))
	var out bytes.Buffer
	if code := run(append([]string{"generate", m.book, "--supplier", "NORTH"}, generate...), &out, &out); code != exitDone {
		t.Fatal(out.String())
	}
	return m
}

func (m *moving) command(t *testing.T, arguments ...string) string {
	t.Helper()
	var out, complaint bytes.Buffer
	if code := run(append(arguments, "--database", m.database), &out, &complaint); code != exitDone {
		t.Fatalf("%q: %s", arguments, complaint.String())
	}
	return out.String()
}

// start begins an import in a process of its own.
func (m *moving) start(t *testing.T, out, complaint io.Writer, arguments ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := &exec.Cmd{
		Path: program, Args: append([]string{"landfall", "import", m.book, "--team", "Migration Team", "--json"}, arguments...),
		Env: append(os.Environ(), "LANDFALL_SERVER="+m.base, "LANDFALL_API_KEY="+m.key), Stdout: out, Stderr: complaint,
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command
}

// finish lets an import come to its end and gives its tallies.
func (m *moving) finish(t *testing.T) map[mover.Phase]mover.Tally {
	t.Helper()
	var out, complaint bytes.Buffer
	err := m.start(t, &out, &complaint).Wait()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() != exitRefused {
		t.Fatalf("exit %d: %s", exit.ExitCode(), complaint.String())
	}
	var result struct {
		Tallies map[mover.Phase]mover.Tally
		Report  string
	}
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%v: %s %s", err, out.String(), complaint.String())
	}
	if _, err := os.Stat(filepath.Join(result.Report, "report.html")); err != nil {
		t.Error(err)
	}
	return result.Tallies
}

// TestAnImportKilledAnywhereGoesOn kills an import at random moments, until one
// attempt is left in peace, and wants the effects and the totals of exactly one.
func TestAnImportKilledAnywhereGoesOn(t *testing.T) {
	generated := []string{"--accounts", "1500", "--fault", "phone=4%", "--fault", "orphan=2%"}
	m := newMoving(t, generated...)
	kills := 0
	for range 20 {
		attempt := m.start(t, io.Discard, io.Discard)
		time.Sleep(time.Duration(20+rand.IntN(600)) * time.Millisecond)
		if attempt.Process.Signal(syscall.SIGKILL) == nil {
			kills++
		}
		if attempt.Wait() == nil {
			break
		}
		if text, _ := os.ReadFile(filepath.Join(m.book, ".landfall", "journal.ndjson")); bytes.Contains(text, []byte(`"finished":true`)) {
			break // it came to its end before we came
		}
	}
	if kills == 0 {
		t.Fatal("nothing was killed")
	}
	var tallies map[mover.Phase]mover.Tally
	if text, _ := os.ReadFile(filepath.Join(m.book, ".landfall", "journal.ndjson")); bytes.Contains(text, []byte(`"finished":true`)) {
		tallies = journalTallies(t, text)
	} else {
		tallies = m.finish(t)
	}

	undisturbed := newMoving(t, generated...)
	want := undisturbed.finish(t)
	for phase, tally := range want {
		// What was sent again after a kill was there already.
		got := tallies[phase]
		got.Done, got.There = got.Done+got.There, 0
		if tally.Done += tally.There; got.Done != tally.Done || got.Failed != tally.Failed || got.NotReached != tally.NotReached {
			t.Errorf("%s after %d kills: %+v, undisturbed %+v", phase, kills, got, tally)
		}
		if got.Lines != got.Done+got.Failed+got.NotReached || got.Lines != tally.Lines {
			t.Errorf("%s does not add up: %+v", phase, got)
		}
	}
	if got, want := m.portrait(t), undisturbed.portrait(t); got != want {
		t.Errorf("after %d kills the server has %+v, undisturbed %+v", kills, got, want)
	}
}

func journalTallies(t *testing.T, journal []byte) map[mover.Phase]mover.Tally {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(journal), []byte("\n"))
	var last struct {
		Phases map[mover.Phase]struct{ Tally mover.Tally }
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatal(err)
	}
	tallies := map[mover.Phase]mover.Tally{}
	for name, phase := range last.Phases {
		tallies[name] = phase.Tally
	}
	return tallies
}

// figures are what an import leaves on a server.
type figures struct{ created, notes, statements, entries int }

// portrait adds up what the server has, account by account.
func (m *moving) portrait(t *testing.T) (sum figures) {
	t.Helper()
	c, err := client.New(m.base, client.WithKey(m.key))
	if err != nil {
		t.Fatal(err)
	}
	for entry, err := range c.Imported(t.Context(), "NORTH") {
		if err != nil {
			t.Fatal(err)
		}
		status, err := c.Status(t.Context(), "NORTH", entry.External)
		if err != nil {
			t.Fatal(err)
		}
		sum.created++
		sum.notes, sum.statements, sum.entries = sum.notes+status.Notes, sum.statements+status.Statements, sum.entries+status.LedgerEntries
	}
	return sum
}

// TestAnInterruptedImportSaysHowToGoOn presses Ctrl-C, then lets the server go
// away in the middle and come back.
func TestAnInterruptedImportSaysHowToGoOn(t *testing.T) {
	m := newMoving(t, "--accounts", "4000")
	var complaint bytes.Buffer
	attempt := m.start(t, io.Discard, &complaint)
	waitFor(t, filepath.Join(m.book, ".landfall", "journal.ndjson"))
	if err := attempt.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := attempt.Wait(); err == nil || !strings.Contains(complaint.String(), "give the same command again to go on") {
		t.Errorf("%v: %s", err, complaint.String())
	}
	var other bytes.Buffer
	second := m.start(t, io.Discard, &other, "--dry-run")
	if err := second.Wait(); err == nil || !strings.Contains(other.String(), "other options") {
		t.Errorf("%v: %s", err, other.String())
	}
	if tallies := m.finish(t); tallies[mover.PhaseRun].Done != 4000 {
		t.Errorf("%+v", tallies)
	}
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 500 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s never came", path)
}

// again starts the server once more, on its database and at its address.
func (s *served) again(t *testing.T) {
	t.Helper()
	next := &exec.Cmd{Path: s.Path, Args: s.Args}
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cmd = next
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get(s.base + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the server did not come back")
		}
	}
}

// TestAnImportAndItsServerKilled kills the server under an import, and sometimes
// the import as well, and wants what an undisturbed one leaves. How often is
// IMPORT_KILLS.
func TestAnImportAndItsServerKilled(t *testing.T) {
	kills := 2
	if text := os.Getenv("IMPORT_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	generated := []string{"--accounts", "800", "--fault", "phone=4%"}
	m := newMovingAt(t, []string{"--listen", freeAddress(t)}, generated...)
	go io.Copy(io.Discard, m.read) // the log
	attempt := m.start(t, io.Discard, io.Discard)
	for kill := range kills {
		time.Sleep(time.Duration(20+rand.IntN(800)) * time.Millisecond)
		if err := m.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = m.Wait()
		if kill%2 == 1 {
			_ = attempt.Process.Kill()
		}
		m.again(t)
		if kill%2 == 1 {
			_ = attempt.Wait()
			attempt = m.start(t, io.Discard, io.Discard)
		}
	}
	t.Cleanup(func() { _ = m.Process.Kill() })
	if err := attempt.Wait(); err != nil {
		if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != exitRefused {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(m.book, ".landfall", "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(`"finished":true`)) {
		t.Fatal("the import did not come to its end")
	}
	for phase, tally := range journalTallies(t, text) {
		if tally.Lines != tally.Done+tally.There+tally.Failed+tally.NotReached {
			t.Errorf("%s does not add up: %+v", phase, tally)
		}
	}
	undisturbed := newMoving(t, generated...)
	undisturbed.finish(t)
	if got, want := m.portrait(t), undisturbed.portrait(t); got != want {
		t.Errorf("after %d kills the server has %+v, undisturbed %+v", kills, got, want)
	}
}
