package importer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/kit/book"
)

func bookOf(t *testing.T) Options {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "accounts.ndjson"), []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Book: found, Folder: folder, Team: "T"}
}

func open(t *testing.T, order Options) *importJournal {
	t.Helper()
	j, err := openJournal(order)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func fail(t *testing.T, j *importJournal, external string) {
	t.Helper()
	if err := j.failures.add(failure{Kind: "accounts", External: external, Failure: landfall.Failure{Code: "x"}}); err != nil {
		t.Fatal(err)
	}
}

func externals(t *testing.T, j *importJournal) string {
	t.Helper()
	var list []string
	if err := j.failures.each(0, func(one failure, offset int64) error {
		again, err := j.failures.at(offset)
		if again.External != one.External {
			t.Errorf("%s is not at its place", one.External)
		}
		list = append(list, one.External)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// TestJournalContinuesAfterItsLastCheckpoint ends a journal as a crash would: with uncounted
// failures and an incomplete line.
func TestJournalContinuesAfterItsLastCheckpoint(t *testing.T) {
	order := bookOf(t)
	j := open(t, order)
	fail(t, j, "1")
	if err := j.finish("accounts", phaseState{File: 1, Tally: Tally{Lines: 7, Failed: 1}}); err != nil {
		t.Fatal(err)
	}
	fail(t, j, "2")
	if _, err := j.failures.sync(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.file.WriteString(`{"book":[{"na`); err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}

	j = open(t, order)
	if got := j.state.Phases["accounts"]; !got.Over || got.Tally.Lines != 7 {
		t.Errorf("the journal continues from %+v", got)
	}
	if got := externals(t, j); got != "1" {
		t.Errorf("failures %q, want only the one that was counted", got)
	}
	fail(t, j, "3")
	if err := j.save(); err != nil {
		t.Fatal(err)
	}
	if got := externals(t, j); got != "1 3" {
		t.Errorf("failures %q", got)
	}
	j.state.Finished = true
	if err := errors.Join(j.save(), j.close()); err != nil {
		t.Fatal(err)
	}
	j = open(t, order)
	defer j.close()
	if len(j.state.Phases) != 0 || externals(t, j) != "" {
		t.Errorf("a finished journal was gone on with: %+v", j.state)
	}
}

func TestTwoImportsOfOneBook(t *testing.T) {
	order := bookOf(t)
	j := open(t, order)
	defer j.close()
	if _, err := openJournal(order); !errors.Is(err, ErrBusy) {
		t.Errorf("a second import: %v", err)
	}
}

// TestChangedBookIsDetected changes everything that can change between two attempts.
func TestChangedBookIsDetected(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *Options){
		"has changed": func(t *testing.T, order *Options) {
			t.Helper()
			path := order.Book.Files[0].Path
			if err := errors.Join(os.WriteFile(path, []byte("{}\n[]\n"), 0o600), os.Chtimes(path, time.Now(), time.Now().Add(time.Hour))); err != nil {
				t.Fatal(err)
			}
		},
		"added or removed": func(t *testing.T, order *Options) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(order.Folder, "notes.ndjson"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			found, err := book.Open(order.Folder)
			if err != nil {
				t.Fatal(err)
			}
			order.Book = found
		},
		"options have changed": func(_ *testing.T, order *Options) { order.DryRun = true },
	} {
		order := bookOf(t)
		j := open(t, order)
		if err := errors.Join(j.finish("accounts", phaseState{Line: 1, Tally: Tally{Lines: 1, Done: 1}}), j.close()); err != nil {
			t.Fatal(err)
		}
		change(t, &order)
		_, err := openJournal(order)
		if changed, ok := errors.AsType[*ChangedError](err); !ok || !strings.Contains(changed.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		order.Restart = true
		if err := open(t, order).close(); err != nil {
			t.Errorf("%s: restarted: %v", name, err)
		}
	}
}

// TestOptionsOfUnstartedImportCanChange changes the options after an attempt that the server refused.
func TestOptionsOfUnstartedImportCanChange(t *testing.T) {
	order := bookOf(t)
	if err := open(t, order).close(); err != nil {
		t.Fatal(err)
	}
	order.Team = "Another Team"
	for range 2 {
		j := open(t, order)
		if err := j.close(); err != nil || j.state.Mode.Team != order.Team {
			t.Errorf("%+v, %v", j.state.Mode, err)
		}
	}
}

// TestFullDiskUnderTheJournal checks that what could not be written does not count.
func TestFullDiskUnderTheJournal(t *testing.T) {
	j := open(t, bookOf(t))
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	j.file = full
	if err := j.finish("accounts", phaseState{}); err == nil || !strings.Contains(err.Error(), "cannot write the journal") {
		t.Errorf("saved onto a full disk: %v", err)
	}
}

// TestAnImportWroteThroughTheLinksOfABook opens the journal of a book from another company, in which
// the journal's folder or one of its files is a link to a file of the user.
func TestAnImportWroteThroughTheLinksOfABook(t *testing.T) {
	for _, name := range []string{".landfall", ".landfall/lock", ".landfall/journal.ndjson", ".landfall/failures.ndjson"} {
		t.Run(name, func(t *testing.T) {
			order := bookOf(t)
			valuable := t.TempDir()
			target := valuable
			if name != ".landfall" {
				if err := os.Mkdir(filepath.Join(order.Folder, ".landfall"), 0o700); err != nil {
					t.Fatal(err)
				}
				target = filepath.Join(valuable, "keys")
				if err := os.WriteFile(target, []byte("valuable\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(target, filepath.Join(order.Folder, name)); err != nil {
				t.Skip(err)
			}
			j, err := openJournal(order)
			if err == nil {
				err = j.close()
				t.Errorf("the link %s was followed: %v", name, err)
			} else if !strings.Contains(err.Error(), "link") {
				t.Errorf("not a clear refusal: %v", err)
			}
			if entries, err := os.ReadDir(valuable); err != nil || len(entries) > 1 {
				t.Errorf("the folder behind the link has %v, %v", entries, err)
			}
			if text, err := os.ReadFile(target); name != ".landfall" && string(text) != "valuable\n" {
				t.Errorf("the file behind the link is now %q, %v", text, err)
			}
		})
	}
}
