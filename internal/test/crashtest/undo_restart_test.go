package crashtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

// PostgreSQL is killed again and again while a run is undone: responses to some
// commits are lost, and the command fails or lists the accounts that failed.
// Repeated until it succeeds, it has undone every account once, and the figures
// agree. Accounts have postings of their delivery and of others, and each posting
// is saved exactly once.
func TestRunUndoThroughRestartsOfPostgres(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	cluster, database := ownCluster(t)
	f := newFleet(t, database, 2)
	accounts, bad := f.book(400)
	run := f.runAll()
	wanted := f.postNotes(accounts)
	saved := filepath.Join(t.TempDir(), "saved")
	random := rand.New(rand.NewPCG(seedOf(t), 5))
	ends := []func() error{cluster.Kill, cluster.Abort}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		kills := 0
		defer func() { stopped <- kills }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(100+random.IntN(700)) * time.Millisecond):
			}
			if err := ends[kills%2](); err != nil {
				t.Error(err)
				return
			}
			if err := cluster.Restart(); err != nil {
				t.Error(err)
				return
			}
			kills++
		}
	}()
	attempts := 0
	for early := time.Now().Add(5 * time.Second); time.Now().Before(early); attempts++ {
		if summary, ended := f.undoRun(run, time.Minute, "--with-all-postings", saved); ended && summary.Complete && summary.Undone == accounts-bad {
			break
		}
	}
	close(stop)
	kills := <-stopped
	if kills == 0 {
		t.Error("nothing was killed meanwhile")
	}
	first, ended := f.undoRun(run, time.Minute, "--with-all-postings", saved)
	again, _ := f.undoRun(run, time.Minute, "--with-all-postings", saved)
	want := runUndone{Created: accounts - bad, Undone: accounts - bad, Complete: true}
	if !ended || first != want || again != want {
		t.Errorf("undone %+v, and again %+v, want %+v", first, again, want)
	}
	t.Logf("%d attempts, PostgreSQL was killed %d times", attempts+1, kills)
	f.counted("SELECT count(*) FROM account", 0)
	f.counted("SELECT count(*) FROM event WHERE type = 'account_import.undone'", accounts-bad)
	f.counted("SELECT count(DISTINCT external) FROM event WHERE type = 'account_import.undone'", accounts-bad)
	if got := savedNotes(t, saved); !maps.Equal(got, wanted) {
		t.Errorf("%d notes were posted, %d are saved, or some more than once", len(wanted), len(got))
	}
	f.operate("verify")
	eventually(t, 30*time.Second, "a server is ready", func() bool { return f.ready(f.replicas[0]) == http.StatusOK })
	f.exact(f.replicas[0].address(), accounts)
}

// postNotes adds notes to two thirds of the accounts of a book, with their own
// delivery or with another one. It returns how often each was added.
func (f *fleet) postNotes(accounts int) map[string]int {
	f.t.Helper()
	wanted := map[string]int{}
	for i := range accounts {
		if i%3 == 0 || i%cannotBeCreated == 7 {
			continue
		}
		text := fmt.Sprintf("note %d", i)
		body := fmt.Sprintf(`{"import_supplier":%q,"external_account_number":"B-%06d","notes":[{"body":%q}]}`, supplier, i, text)
		delivery := []string{"", ownDelivery, "another"}[i%3]
		if status, answer, err := f.requestFor(delivery, http.MethodPost, f.replicas[0].address(), imports+"/notes/create/", []byte(body)); err != nil || status != http.StatusCreated {
			f.t.Fatalf("%d %s %v", status, answer, err)
		}
		wanted[text]++
	}
	return wanted
}

// savedNotes counts the notes that an undo saved in a folder.
func savedNotes(t *testing.T, folder string) map[string]int {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "notes-undone-") || !strings.HasSuffix(entry.Name(), ".ndjson") {
			t.Errorf("%s was left behind", entry.Name())
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var sent struct{ Notes []struct{ Body string } }
			if err := json.Unmarshal(line, &sent); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			for _, note := range sent.Notes {
				found[note.Body]++
			}
		}
	}
	return found
}
