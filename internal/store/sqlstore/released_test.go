package sqlstore_test

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
)

// TestUpgradeFromEveryRelease loads a database of every released version, with data of
// every kind, and upgrades it to this version. The data must be as it was. The
// databases are in testdata/released, one folder for each version, and
//
//	WRITE_RELEASED=1.0.0 go test -run TestUpgradeFromEveryRelease ./internal/store/sqlstore
//
// writes the folder of a version when it is released. This version counts as a
// released one too, and is upgraded by a step of a later one.
func TestUpgradeFromEveryRelease(t *testing.T) {
	for kind, fresh := range empty {
		t.Run(kind, func(t *testing.T) {
			current := t.TempDir()
			if version := os.Getenv("WRITE_RELEASED"); version != "" {
				current = filepath.Join("testdata", "released", version)
			}
			url := fresh(t)
			store := openStore(t, url)
			writePersonalData(t, store, newCanary())
			findings, _ := inspect(t, store)
			writeFile(t, filepath.Join(current, kind+".findings"), strings.Join(findings, "\n"))
			writeFile(t, filepath.Join(current, kind+".counts"), rowCounts(t, store))
			dumpDatabase(t, url, filepath.Join(current, kind+".gz"))

			later := laterStep("ALTER TABLE account ADD COLUMN later TEXT;\nUPDATE account SET later = billing_name;\n")
			upgraded := openDump(t, filepath.Join(current, kind+".gz"), fresh(t), later)
			compareWithRelease(t, upgraded, current, kind)
			if count, err := upgraded.Count(t.Context(), `SELECT count(*) FROM account WHERE later = billing_name`); err != nil || count == 0 {
				t.Errorf("the step changed %d accounts, %v", count, err)
			}
			released, err := filepath.Glob("testdata/released/*/" + kind + ".gz")
			if err != nil {
				t.Fatal(err)
			}
			for _, dump := range released {
				t.Run(filepath.Base(filepath.Dir(dump)), func(t *testing.T) {
					upgraded := openDump(t, dump, fresh(t), nil)
					compareWithRelease(t, upgraded, filepath.Dir(dump), kind)
				})
			}
		})
	}
}

// TestBackupOfAnOlderSchemaMustBeRestored makes a backup with a later program before
// the schema is upgraded. No server may serve it without a restore.
func TestBackupOfAnOlderSchemaMustBeRestored(t *testing.T) {
	url := empty["sqlite"](t)
	store, _ := openCreated(t, url)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	later := laterStep("ALTER TABLE account ADD COLUMN later TEXT;\n")
	options := sqlstore.WithLater(sqlstore.Options{}, later)
	folder := t.TempDir()
	copied := filepath.Join(folder, "copy.db")
	check := func(context.Context, landfall.Store) error {
		t.Error("a program cannot check accounts of an older schema")
		return nil
	}
	unchecked, err := sqlstore.Backup(t.Context(), url, copied, options, check)
	if err != nil || !unchecked {
		t.Fatal(unchecked, err)
	}
	steps, err := sqlstore.SchemaStatus(t.Context(), "sqlite:"+copied, options)
	if err != nil || len(steps) != 2 || !steps[0].Applied || steps[1].Applied {
		t.Fatalf("the copy has the steps %+v, %v", steps, err)
	}
	restored := "sqlite:" + filepath.Join(folder, "restored.db")
	admit := func(ctx context.Context, store landfall.Store) error {
		return store.Update(ctx, func(tx landfall.Tx) error { return tx.AdmitCopy(ctx) })
	}
	if err := sqlstore.Restore(t.Context(), restored, copied, options, admit); err != nil {
		t.Fatal(err)
	}
	options.Server, options.ApplySchema = true, true
	if served, err := sqlstore.Open(t.Context(), "sqlite:"+copied, options); err == nil || !strings.Contains(err.Error(), "landfall restore") {
		t.Errorf("the copy is served: %v", err)
		_ = served.Close()
	}
	served, err := sqlstore.Open(t.Context(), restored, options)
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if count, err := served.Count(t.Context(), `SELECT count(*) FROM account WHERE later IS NULL`); err != nil || count != 1 {
		t.Errorf("%d accounts, %v", count, err)
	}
}

// compareWithRelease compares a database with what was recorded of it when it was
// dumped.
func compareWithRelease(t *testing.T, store *sqlstore.Store, folder, kind string) {
	t.Helper()
	findings, _ := inspect(t, store)
	for name, got := range map[string]string{"findings": strings.Join(findings, "\n"), "counts": rowCounts(t, store)} {
		want, err := os.ReadFile(filepath.Join(folder, kind+"."+name))
		if err != nil || got != string(want) {
			t.Errorf("%s after the upgrade:\n%s\nbefore:\n%s\n%v", name, got, want, err)
		}
	}
}

// rowCounts returns the number of rows of every table that has one, except those that
// an upgrade itself writes.
func rowCounts(t *testing.T, store *sqlstore.Store) string {
	t.Helper()
	var lines []string
	for _, table := range sqlstore.Tables() {
		if table == "commit_mark" || table == "schema_step" {
			continue
		}
		counts, err := store.Texts(t.Context(), `SELECT '`+table+` ' || count(*) FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, counts...)
	}
	return strings.Join(lines, "\n")
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// dumpDatabase writes a compressed dump: a copy of the file, or SQL.
func dumpDatabase(t *testing.T, url, file string) {
	t.Helper()
	plain := filepath.Join(t.TempDir(), "dump")
	if strings.HasPrefix(url, "postgres") {
		runProgram(t, pgtest.Program(t, "pg_dump"), "--no-owner", "--no-privileges", "-f", plain, "-d", url)
	} else if err := sqlstore.CopyForTest(t.Context(), url, plain); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	packed := gzip.NewWriter(to)
	if _, err := io.Copy(packed, from); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
}

// openDump loads a dump into an empty database and opens it with further steps.
func openDump(t *testing.T, file, url string, later map[string]string) *sqlstore.Store {
	t.Helper()
	from, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	unpacked, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	place, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		place = filepath.Join(t.TempDir(), "dump.sql")
	}
	to, err := os.Create(place)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, unpacked); err != nil { // our own file
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if !embedded {
		runProgram(t, pgtest.Program(t, "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-o", os.DevNull, "-f", place, "-d", url)
	}
	if _, err := sqlstore.ApplyLater(t.Context(), url, later); err != nil {
		t.Fatal(err)
	}
	return openLater(t, url, later)
}

func runProgram(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, output)
	}
}
