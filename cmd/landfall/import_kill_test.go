package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"landfall/internal/kit/importer"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// importKills is how often imports are killed: a few times, or IMPORT_KILLS.
func importKills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("IMPORT_KILLS")
	if text == "" {
		return 2
	}
	kills, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return kills
}

// onBoth runs a test on each kind of database.
func onBoth(t *testing.T, test func(t *testing.T, fresh func(testing.TB) string)) {
	t.Helper()
	for name, fresh := range map[string]func(testing.TB) string{"sqlite": fileDatabase, "postgres": pgtest.URL} {
		t.Run(name, func(t *testing.T) { test(t, fresh) })
	}
}

// TestAnImportKilledAnywhereContinues kills an import at random times, then lets it finish, and wants
// the result of a single import.
func TestAnImportKilledAnywhereContinues(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		kills := importKills(t)
		// Long enough to be killed this often.
		generated := []string{"--accounts", strconv.Itoa(200 + 300*kills), "--fault", "phone=4%", "--fault", "orphan=2%"}
		m := newImportTestOn(t, fresh(t), nil, generated...)
		struck := map[importer.Phase]int{} // in which step a kill came
		for kill := range kills {
			attempt := m.start(t, io.Discard, io.Discard)
			waitFor(t, filepath.Join(m.book, ".landfall", "journal.ndjson"))
			// Kills happen in every phase, however slow the machine is.
			m.reaches(t, importer.Phases()[kill*len(importer.Phases())/kills])
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			_ = attempt.Process.Signal(syscall.SIGKILL)
			_ = attempt.Wait()
			if m.over() {
				break // it came to its end before we came
			}
			struck[m.step(t)]++
		}
		if len(struck) == 0 {
			t.Fatal("nothing was killed on its way")
		}
		t.Logf("killed behind the checkpoints of %v", struck)
		var tallies map[importer.Phase]importer.Tally
		if m.over() {
			tallies = m.tallies(t)
		} else {
			tallies = m.finish(t)
		}

		undisturbed := newImportTestOn(t, fresh(t), nil, generated...)
		for phase, tally := range undisturbed.finish(t) {
			// What was sent again after a kill already existed.
			got := tallies[phase]
			got.Done, got.Existing = got.Done+got.Existing, 0
			if tally.Done += tally.Existing; got.Done != tally.Done || got.Failed != tally.Failed || got.NotReached != tally.NotReached {
				t.Errorf("%s after kills: %+v, undisturbed %+v", phase, got, tally)
			}
			if got.Lines != got.Done+got.Failed+got.NotReached || got.Lines != tally.Lines {
				t.Errorf("%s does not add up: %+v", phase, got)
			}
		}
		if got, want := m.serverState(t), undisturbed.serverState(t); got != want {
			t.Errorf("after kills %v the server has %s, undisturbed %s", struck, got, want)
		}
	})
}

// TestAnImportAndItsServerKilled kills the server during an import, and sometimes the import too,
// and wants the result of an undisturbed one.
func TestAnImportAndItsServerKilled(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		kills := importKills(t)
		generated := []string{"--accounts", "800", "--fault", "phone=4%"}
		// The accounts of a killed server are free again when the lease ends.
		m := newImportTestOn(t, fresh(t), []string{"--listen", freeAddress(t), "--claim-lease", "5s"}, generated...)
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
		if !m.over() {
			t.Fatal("the import did not come to its end")
		}
		for phase, tally := range m.tallies(t) {
			if tally.Lines != tally.Done+tally.Existing+tally.Differs+tally.Failed+tally.NotReached {
				t.Errorf("%s does not add up: %+v", phase, tally)
			}
		}
		undisturbed := newImportTestOn(t, fresh(t), nil, generated...)
		undisturbed.finish(t)
		if got, want := m.serverState(t), undisturbed.serverState(t); got != want {
			t.Errorf("after %d kills the server has %s, undisturbed %s", kills, got, want)
		}
	})
}

// journal is the content of the import's journal.
func (m *importTest) journal() []byte {
	text, _ := os.ReadFile(filepath.Join(m.book, ".landfall", "journal.ndjson"))
	return text
}

// over reports whether the import has finished.
func (m *importTest) over() bool { return bytes.Contains(m.journal(), []byte(`"finished":true`)) }

// tallies are those of the last checkpoint.
func (m *importTest) tallies(t *testing.T) map[importer.Phase]importer.Tally {
	t.Helper()
	return journalTallies(t, m.journal())
}

// reaches waits until an import has reached a phase.
func (m *importTest) reaches(t *testing.T, phase importer.Phase) {
	t.Helper()
	order := importer.Phases()
	for end := time.Now().Add(3 * time.Minute); slices.Index(order, m.step(t)) < slices.Index(order, phase) && !m.over(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the import does not come to %s", phase)
		}
	}
}

// step is the phase of the last complete checkpoint.
func (m *importTest) step(t *testing.T) importer.Phase {
	t.Helper()
	text := m.journal()
	text = text[:bytes.LastIndexByte(text, '\n')+1] // a torn line counts for nothing
	if len(text) == 0 {
		return "its beginning"
	}
	began := slices.Collect(maps.Keys(journalTallies(t, text)))
	steps := importer.Phases()
	for _, phase := range slices.Backward(steps) {
		if slices.Contains(began, phase) {
			return phase
		}
	}
	return "its beginning"
}
