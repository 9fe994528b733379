package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
)

// newWord returns a unique word, so that it can be searched for in files that
// others write too.
func newWord() string { return "Kan" + rand.Text()[:12] } // a title allows no more characters

// spelled returns the forms in which the word may be found.
func spelled(word string) []string {
	return []string{word, strings.ToLower(word), strings.ToUpper(word)}
}

// columnsWith returns the columns of all tables that contain a word in readable
// form.
func (w *world) columnsWith(t *testing.T, word string) (found []string) {
	t.Helper()
	driver, source := "pgx", w.database
	columns := `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema()`
	if file, embedded := strings.CutPrefix(w.database, "sqlite:"); embedded {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(5000)"
		columns = `SELECT m.name, c.name, '' FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	rows, err := database.QueryContext(t.Context(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all [][3]string
	for rows.Next() {
		var one [3]string
		if err := rows.Scan(&one[0], &one[1], &one[2]); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if rows.Err() != nil || len(all) < 100 {
		t.Fatalf("%d columns, %v", len(all), rows.Err())
	}
	for _, one := range all {
		text := `CAST(` + one[1] + ` AS TEXT)`
		if one[2] == "bytea" {
			text = `encode(` + one[1] + `, 'escape')`
		}
		var count int
		if err := database.QueryRowContext(t.Context(), `SELECT count(*) FROM `+one[0]+` WHERE lower(`+text+`) LIKE $1`,
			"%"+strings.ToLower(word)+"%").Scan(&count); err != nil {
			t.Fatalf("%v: %v", one, err)
		}
		if count > 0 {
			found = append(found, one[0]+"."+one[1])
		}
	}
	slices.Sort(found)
	return found
}

// filesWith returns the files that contain a word: those in some folders, open
// files without a name, and PostgreSQL's files.
func (w *world) filesWith(t *testing.T, word string, folders ...string) (found []string) {
	t.Helper()
	look := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			return // deleted meanwhile
		}
		for _, spelling := range spelled(word) {
			if bytes.Contains(text, []byte(spelling)) {
				found = append(found, name)
				return
			}
		}
	}
	if file, embedded := strings.CutPrefix(w.database, "sqlite:"); embedded {
		folders = append(folders, filepath.Dir(file))
	} else {
		found = append(found, w.serverFilesWith(t, word)...)
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				look(name)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range open {
		if target, err := os.Readlink(name); err == nil && strings.HasSuffix(target, " (deleted)") && strings.HasPrefix(target, "/") {
			look(name)
		}
	}
	return found
}

// serverFilesWith searches PostgreSQL's tables, indexes, write-ahead log, temporary
// files and server log. PostgreSQL searches them itself, because only it may read
// its files.
func (w *world) serverFilesWith(t *testing.T, word string) (found []string) {
	t.Helper()
	database, err := sql.Open("pgx", w.database)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	if _, err := database.ExecContext(t.Context(), `CHECKPOINT`); err != nil {
		t.Skipf("the server's files cannot be read by its users: %v", err)
	}
	var conditions []string
	for _, spelling := range spelled(word) {
		conditions = append(conditions, `position(convert_to('`+spelling+`', 'UTF8') IN f.bytes) > 0`)
	}
	rows, err := database.QueryContext(t.Context(), `SELECT f.name FROM (SELECT n.name, coalesce(pg_read_binary_file(n.name, 0, 1 << 28, true), '') AS bytes FROM (
			SELECT pg_relation_filepath(oid) AS name FROM pg_class WHERE relkind IN ('r', 't', 'i') AND pg_relation_filepath(oid) IS NOT NULL
			UNION ALL SELECT 'pg_wal/' || name FROM pg_ls_waldir()
			UNION ALL SELECT 'base/pgsql_tmp/' || name FROM pg_ls_tmpdir()
			UNION ALL SELECT pg_current_logfile() WHERE pg_current_logfile() IS NOT NULL) n OFFSET 0) f WHERE `+strings.Join(conditions, " OR "))
	if err != nil {
		t.Skipf("the server's files cannot be read by its users: %v", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		found = append(found, name)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return found
}

// TestPersonalDataIsOnlyStoredWhereAllowed uses one word for all personal data. Without
// an encryption key, the word is only in the columns that docs/privacy.md names,
// and nowhere after erasure. With a key, it is never in any column, file, log
// line, metric, event or backup.
func TestPersonalDataIsOnlyStoredWhereAllowed(t *testing.T) {
	t.Parallel()
	page := string(readTestFile(t, "../../docs/privacy.md"))
	onBoth(t, func(t *testing.T, database string) {
		word, log, folder := newWord(), &lockedBuffer{}, t.TempDir()
		b := newCanaryWorld(t, database, word, log, func(settings *app.Settings) { settings.BulkSpool = folder })
		b.live(t)
		columns := b.columnsWith(t, word)
		for _, name := range columns {
			table, column, _ := strings.Cut(name, ".")
			if !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, "`"+table+"`") && !strings.Contains(page, "`."+column+"`") {
				t.Errorf("%s holds something personal: docs/privacy.md does not say so", name)
			}
		}
		if len(columns) < 20 {
			t.Errorf("the word is in too few columns: %v", columns)
		}
		b.quiet(t, log)
		if found := b.filesWith(t, word, folder); len(found) == 0 {
			t.Error("this search would find nothing")
		}
		for _, external := range []string{"1", "2", "3", "4", "5", "6"} {
			if _, err := b.operator.Erase(t.Context(), landfall.Key{Supplier: "NORTH", External: external}, "asked for it"); err != nil {
				t.Errorf("%s: %v", external, err)
			}
		}
		if left := b.columnsWith(t, word); len(left) > 0 {
			t.Errorf("after erasing the word is in %v", left)
		}
		for end := time.Now().Add(30 * time.Second); ; {
			if err := sqlstore.Wipe(t.Context(), database); err != nil {
				t.Fatal(err)
			}
			left := slices.DeleteFunc(b.filesWith(t, word, folder), func(name string) bool { return strings.HasPrefix(name, "pg_wal/") })
			if len(left) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("after a wipe the word is in %v", left)
			}
		}
	})
}

// TestNothingPersonalIsReadableWithAKey does the same with a key.
func TestNothingPersonalIsReadableWithAKey(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, database string) {
		word, log, folder, key := newWord(), &lockedBuffer{}, t.TempDir(), seal.NewKeyText()
		b := newCanaryWorld(t, database, word, log, func(settings *app.Settings) { settings.EncryptionKey, settings.BulkSpool = key, folder })
		b.live(t)
		leave := b.spill(t)
		if columns := b.columnsWith(t, word); len(columns) > 0 {
			t.Errorf("the word is in %v", columns)
		}
		if strings.HasPrefix(database, "sqlite:") {
			keys, err := seal.ReadKeys(key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sqlstore.Backup(t.Context(), database, filepath.Join(folder, "copy.db"), sqlstore.Options{Keys: keys},
				func(context.Context, landfall.Store) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if found := b.filesWith(t, word, folder); len(found) > 0 {
			t.Errorf("the word is in %v", found)
		}
		leave()
		b.quiet(t, log)
	})
}

// quiet fails if the word is in the log, an event or a metric.
func (b *canaryWorld) quiet(t *testing.T, log *lockedBuffer) {
	t.Helper()
	for who, text := range map[string]string{"the log": log.String(), "an event": b.events.String(), "a metric": b.metrics()} {
		if len(text) < 1000 {
			t.Errorf("%s says next to nothing: %q", who, text)
		}
		if at := strings.Index(strings.ToLower(text), strings.ToLower(b.word)); at >= 0 {
			t.Errorf("%s says …%s…", who, text[max(0, at-200):min(len(text), at+100)])
		}
	}
}
