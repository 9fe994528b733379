package sqlstore_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/test/tooltest"
)

// TestSQLiteToolReadsTheFile fills a file and lets the system's
// sqlite3 read, dump and copy it, as operators do. To an old version, a healthy
// file once looked corrupt and lost its accounts.
func TestSQLiteToolReadsTheFile(t *testing.T) {
	tool := tooltest.Debian(t, "sqlite3")
	file := filepath.Join(t.TempDir(), "landfall.db")
	store, _ := openCreated(t, "sqlite:"+file)
	stageNumber(t, store, "2")
	if _, err := store.Post(t.Context(), landfall.Posting{Key: testKey, Decide: func(landfall.AccountState) (landfall.Additions, error) {
		return landfall.Additions{Notes: []landfall.Note{{Body: "without documents", HasBody: true}}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	sqlite := func(file, input string, arguments ...string) string {
		t.Helper()
		command := exec.Command(tool, append([]string{"-batch", file}, arguments...)...)
		command.Stdin = strings.NewReader(input)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%.2000s", arguments, err, output)
		}
		return strings.TrimSpace(string(output))
	}
	if verdict := sqlite(file, "", "PRAGMA integrity_check"); verdict != "ok" {
		t.Errorf("integrity_check says %.300s", verdict)
	}
	dumped, copied := filepath.Join(t.TempDir(), "dumped.db"), filepath.Join(t.TempDir(), "copied.db")
	if said := sqlite(dumped, sqlite(file, "", ".dump")); said != "" {
		t.Errorf("restoring a dump says %.300s", said)
	}
	sqlite(file, "", ".backup '"+copied+"'")
	for _, table := range tableNames(t) {
		count := "SELECT count(*) FROM " + table
		want := sqlite(file, "", count)
		for _, other := range []string{dumped, copied} {
			if got := sqlite(other, "", count); got != want {
				t.Errorf("%s has %s rows in %s, %s in the file", table, got, filepath.Base(other), want)
			}
		}
	}
}
