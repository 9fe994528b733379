package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall/client"
	"landfall/internal/kit/importer"
)

// importTest is a server with a supplier, a book and a key.
type importTest struct {
	*serverProcess
	key, book string
}

func newImportTest(t *testing.T, generate ...string) *importTest {
	t.Helper()
	return newImportTestOn(t, fileDatabase(t), nil, generate...)
}

func newImportTestOn(t *testing.T, database string, settings []string, generate ...string) *importTest {
	t.Helper()
	m := &importTest{serverProcess: startServerOn(t, database, settings...), book: filepath.Join(t.TempDir(), "book")}
	m.command(t, "organisation", "create", "Acme")
	m.command(t, "supplier", "create", "NORTH")
	m.command(t, "supplier", "grant", "NORTH", "Acme")
	m.command(t, "team", "create", "Migration Team")
	m.key = strings.TrimSpace(m.command(t, "key", "create", "Acme"))
	var out bytes.Buffer
	if code := runMain(append([]string{"generate", m.book, "--supplier", "NORTH"}, generate...), &out, &out); code != exitDone {
		t.Fatal(out.String())
	}
	return m
}

func (m *importTest) command(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaint bytes.Buffer
	if code := runMain(append(args, "--database", m.database), &out, &complaint); code != exitDone {
		t.Fatalf("%q: %s", args, complaint.String())
	}
	return out.String()
}

// start starts an import in its own process.
func (m *importTest) start(t *testing.T, out, complaint io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := &exec.Cmd{
		Path: program, Args: append([]string{"landfall", "import", m.book, "--team", "Migration Team", "--json"}, args...),
		Env: append(os.Environ(), "LANDFALL_SERVER="+m.base, "LANDFALL_API_KEY="+m.key), Stdout: out, Stderr: complaint,
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command
}

// finish lets an import finish and returns its tallies.
func (m *importTest) finish(t *testing.T) map[importer.Phase]importer.Tally {
	t.Helper()
	var out, complaint bytes.Buffer
	err := m.start(t, &out, &complaint).Wait()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() != exitRefused {
		t.Fatalf("exit %d: %s", exit.ExitCode(), complaint.String())
	}
	var result struct {
		Tallies map[importer.Phase]importer.Tally
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

func journalTallies(t *testing.T, journal []byte) map[importer.Phase]importer.Tally {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(journal), []byte("\n"))
	var last struct {
		Phases map[importer.Phase]struct{ Tally importer.Tally }
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatal(err)
	}
	tallies := map[importer.Phase]importer.Tally{}
	for name, phase := range last.Phases {
		tallies[name] = phase.Tally
	}
	return tallies
}

// serverState is the state of the server: every total, after verifying it against the rows.
func (m *importTest) serverState(t *testing.T) string {
	t.Helper()
	m.command(t, "verify")
	c, err := client.New(m.base, client.WithKey(m.key))
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Reconciliation(t.Context(), "NORTH")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(found.Measures, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestInterruptedImportSaysHowToContinue presses Ctrl-C, then stops and restarts the server during an
// import.
func TestInterruptedImportSaysHowToContinue(t *testing.T) {
	m := newImportTest(t, "--accounts", "4000")
	var complaint bytes.Buffer
	attempt := m.start(t, io.Discard, &complaint)
	waitFor(t, filepath.Join(m.book, ".landfall", "journal.ndjson"))
	m.reaches(t, importer.Phases()[0]) // before that the options may change
	if err := attempt.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := attempt.Wait(); err == nil || !strings.Contains(complaint.String(), "run the same command again to continue") {
		t.Errorf("%v: %s", err, complaint.String())
	}
	var other bytes.Buffer
	second := m.start(t, io.Discard, &other, "--dry-run")
	if err := second.Wait(); err == nil || !strings.Contains(other.String(), "the options have changed") {
		t.Errorf("%v: %s", err, other.String())
	}
	if tallies := m.finish(t); tallies[importer.PhaseRun].Done != 4000 {
		t.Errorf("%+v", tallies)
	}
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 6000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s never came", path)
}

// again restarts the server with its database and address.
func (s *serverProcess) again(t *testing.T) {
	t.Helper()
	next := &exec.Cmd{Path: s.Path, Args: s.Args}
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cmd = next
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
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
