package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall/client"
	"landfall/internal/test/tooltest"
)

// undoneRun is the last line of run undo --json, with the accounts it lists before.
type undoneRun struct {
	Summary struct {
		Created, Undone, Kept, Failed int
		Complete                      bool
	}
	kept []string
}

// undo undoes a run in its own process, which is killed after a time.
func (m *importTest) undo(t *testing.T, run string, patience time.Duration, args ...string) (found undoneRun, ended bool) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program)
	command.Args = append([]string{"landfall", "run", "undo", run, "--reason", "wrong book", "--json", "--database", m.database}, args...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if ctx.Err() != nil {
		return found, false
	}
	if exit, failed := errors.AsType[*exec.ExitError](err); err != nil && (!failed || exit.ExitCode() != exitRefused) {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	for line := range bytes.Lines(out) {
		var account struct {
			External string `json:"external_account_number"`
		}
		if err := errors.Join(json.Unmarshal(line, &found), json.Unmarshal(line, &account)); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if account.External != "" {
			found.kept = append(found.kept, account.External)
		}
	}
	return found, true
}

// lastRun is the newest run of the supplier.
func (m *importTest) lastRun(t *testing.T, c *client.Client) string {
	t.Helper()
	for run, err := range c.Runs(t.Context(), "NORTH") {
		if err != nil {
			t.Fatal(err)
		}
		return run.ID
	}
	t.Fatal("there is no run")
	return ""
}

// numbers are the platform account numbers of the accounts, by external number.
func (m *importTest) numbers(t *testing.T, c *client.Client) map[string]string {
	t.Helper()
	found := map[string]string{}
	for account, err := range c.Imported(t.Context(), "NORTH") {
		if err != nil {
			t.Fatal(err)
		}
		found[account.External] = account.Number
	}
	return found
}

// TestImportThenUndo imports a book with postings and undoes it. All of it is taken back, and imported
// again it is as before. A posting from elsewhere keeps exactly its account. With all postings, and
// killed again and again, the undo leaves nothing, and what it saved brings everything back.
func TestImportThenUndo(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		const accounts = 600 // more than are saved at once
		m := newImportTestOn(t, fresh(t), nil, "--accounts", "600", "--seed", "5")
		c, err := client.New(m.base, client.WithKey(m.key))
		if err != nil {
			t.Fatal(err)
		}
		m.finish(t)
		first, numbers := m.serverState(t), m.numbers(t, c)
		if len(numbers) != accounts {
			t.Fatalf("%d accounts were created", len(numbers))
		}
		undone, _ := m.undo(t, m.lastRun(t, c), time.Minute)
		if got := undone.Summary; got.Created != accounts || got.Undone != accounts || !got.Complete {
			t.Errorf("%+v", undone)
		}
		if left := m.numbers(t, c); len(left) > 0 {
			t.Errorf("%d accounts are left", len(left))
		}
		m.command(t, "verify")

		m.restart(t)
		if again := m.serverState(t); again != first {
			t.Errorf("imported again: %s, before %s", again, first)
		}
		for external, number := range m.numbers(t, c) {
			if numbers[external] != number {
				t.Errorf("%s had the number %s and has %s", external, numbers[external], number)
			}
		}

		externals := slices.Sorted(maps.Keys(numbers))
		foreign := []string{externals[3], externals[accounts/2]}
		for _, external := range foreign {
			if _, err := c.AddNotes(t.Context(), json.RawMessage(`{"import_supplier":"NORTH","external_account_number":"`+external+`","notes":[{"body":"FROM ELSEWHERE"}]}`)); err != nil {
				t.Fatal(err)
			}
		}
		before, run := m.serverState(t), m.lastRun(t, c)
		undone, _ = m.undo(t, run, time.Minute)
		slices.Sort(undone.kept)
		if !slices.Equal(undone.kept, foreign) || undone.Summary.Undone != accounts-len(foreign) {
			t.Errorf("%+v, but the postings from elsewhere are on %q", undone, foreign)
		}
		m.restart(t)
		if again := m.serverState(t); again != before {
			t.Errorf("imported again beside kept accounts: %s, before %s", again, before)
		}
		m.undoWithAll(t, c, before)
	})
}

// restart imports the book again from the beginning.
func (m *importTest) restart(t *testing.T) {
	t.Helper()
	var complaint bytes.Buffer
	if err := m.start(t, &complaint, &complaint, "--restart").Wait(); err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
}

// undoWithAll undoes the runs of all accounts with all postings, is killed several times, and brings
// everything back.
func (m *importTest) undoWithAll(t *testing.T, c *client.Client, before string) {
	t.Helper()
	folder, killed, left := filepath.Join(t.TempDir(), "saved"), 0, 0
	var runs []string
	for run, err := range c.Runs(t.Context(), "NORTH") {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run.ID)
	}
	for _, run := range runs {
		for patience := 200 * time.Millisecond; ; patience += 200 * time.Millisecond {
			if killed > 12 {
				patience = time.Minute
			}
			undone, ended := m.undo(t, run, patience, "--with-all-postings", folder)
			if ended {
				left += len(undone.kept)
				break
			}
			killed++
		}
	}
	if numbers := m.numbers(t, c); len(numbers) > 0 || left > 0 || killed == 0 {
		t.Errorf("%d accounts are left, %d kept, after %d kills", len(numbers), left, killed)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string]bool{}
	for _, entry := range entries {
		if entry.Name()[0] == '.' || strings.HasSuffix(entry.Name(), ".part") {
			t.Errorf("%s was left behind", entry.Name())
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if saved[line] {
				t.Errorf("saved twice: %s", line)
			}
			saved[line] = true
		}
	}
	t.Logf("killed %d times; %d postings saved in %d files", killed, len(saved), len(entries))
	// Only the accounts of the book: what was added to them comes from the folder.
	alone := filepath.Join(t.TempDir(), "alone")
	if err := errors.Join(os.Mkdir(alone, 0o700), os.Link(filepath.Join(m.book, "accounts.ndjson"), filepath.Join(alone, "accounts.ndjson"))); err != nil {
		t.Fatal(err)
	}
	whole := m.book
	for _, m.book = range []string{alone, folder} {
		m.finish(t)
	}
	m.book = whole
	if again := m.serverState(t); again != before {
		t.Errorf("with what was saved: %s, before %s", again, before)
	}
}
