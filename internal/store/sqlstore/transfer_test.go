package sqlstore_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// allRows returns every row of every copied table as text, sorted. It asks the databases to
// write the values, and so does not depend on the code that copies.
func allRows(t *testing.T, store *sqlstore.Store, postgres bool) (rows []string) {
	t.Helper()
	for _, table := range sqlstore.Tables() {
		if _, left := sqlstore.NotCopied[table]; left {
			continue
		}
		values := `SELECT group_concat(CASE type WHEN 'BLOB' THEN 'CASE WHEN ' || name || ' IS NULL THEN ''NULL'' ELSE hex(' || name || ') END'
			ELSE 'coalesce(CAST(' || name || ' AS TEXT), ''NULL'')' END, ' || ''|'' || ') FROM (SELECT * FROM pragma_table_info('` + table + `') ORDER BY name)`
		if postgres {
			values = `SELECT string_agg('coalesce(' || CASE data_type WHEN 'bytea' THEN 'upper(encode(' || column_name || ', ''hex''))'
				WHEN 'boolean' THEN column_name || '::int::text' ELSE column_name || '::text' END || ', ''NULL'')', ' || ''|'' || ' ORDER BY column_name COLLATE "C")
				FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '` + table + `'`
		}
		texts, err := store.Texts(t.Context(), values)
		if err != nil || len(texts) != 1 {
			t.Fatal(table, texts, err)
		}
		found, err := store.Texts(t.Context(), `SELECT `+texts[0]+` FROM `+table)
		if err != nil {
			t.Fatal(table, err)
		}
		for _, row := range found {
			if table != "database_identity" { // a copy forgets its place
				rows = append(rows, table+": "+row)
			}
		}
	}
	slices.Sort(rows)
	return rows
}

func copyOptions(keys []seal.Key) sqlstore.Options {
	return sqlstore.Options{Keys: keys, SearchTerms: contract.SearchTerms}
}

// finishedCopy copies a database and allows serving the copy.
func finishedCopy(t *testing.T, from, to string, keys []seal.Key) *sqlstore.Store {
	t.Helper()
	_, mark, err := sqlstore.Copy(t.Context(), from, to, copyOptions(keys), nil)
	if err != nil {
		t.Fatal(err)
	}
	store := openStore(t, to, keys...)
	if err := store.Update(t.Context(), func(tx landfall.Tx) error { return tx.FinishCopy(t.Context(), mark) }); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestCopyBetweenDatabases copies data of every kind between databases of each kind and compares
// every value. Then the copy goes on where the original stopped.
func TestCopyBetweenDatabases(t *testing.T) {
	for from, freshFrom := range dbtest.Fresh {
		for to, freshTo := range dbtest.Fresh {
			for name, keys := range map[string][]seal.Key{"plain": nil, "encrypted": {seal.NewKey()}} {
				t.Run(from+" to "+to+" "+name, func(t *testing.T) {
					url, word := freshFrom(t), newCanary()
					store := openStore(t, url, keys...)
					writePersonalData(t, store, word)
					// Values at the limits, and a counter that is ahead of its table.
					force(t, store, `UPDATE supplier SET severities = '{  }', recounts = 9223372036854775807, name = 'Ünïcødé 😀 ''"\'`)
					force(t, store, `DELETE FROM event WHERE id = (SELECT max(id) FROM event)`)
					before := allRows(t, store, from == "postgres")
					findings, _ := inspect(t, store)
					if err := store.Close(); err != nil {
						t.Fatal(err)
					}
					other := finishedCopy(t, url, freshTo(t), keys)
					after := allRows(t, other, to == "postgres")
					if !slices.Equal(before, after) {
						t.Errorf("%d rows became %d; the first that differ: %s", len(before), len(after), firstDifference(before, after))
					}
					if len(before) < 40 {
						t.Errorf("only %d rows were copied", len(before))
					}
					if found, _ := inspect(t, other); !slices.Equal(found, findings) {
						t.Errorf("the copy has findings %q, the original %q", found, findings)
					}
					continueWork(t, other, word)
				})
			}
		}
	}
}

// firstDifference shows the first rows that only one side has.
func firstDifference(some, others []string) string {
	for i := range min(len(some), len(others)) {
		if some[i] != others[i] {
			return fmt.Sprintf("%q and %q", some[i], others[i])
		}
	}
	return "one side has more rows"
}

// continueWork posts to a copied account, stages, creates and undoes another one. New rows have new
// numbers.
func continueWork(t *testing.T, store *sqlstore.Store, word string) {
	t.Helper()
	last, err := store.Count(t.Context(), `SELECT max(id) FROM event`)
	if err != nil {
		t.Fatal(err)
	}
	postAgain(t, store, word, 0)
	force(t, store, `UPDATE supplier SET target = NULL`) // what was delivered is not undone here
	if outcome, err := store.Stage(t.Context(), stagingWithWord("99", word)); err != nil || outcome.Verdict != landfall.StagedFirst {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	create(t, store, "99", accountWithWord(t, word), word)
	if outcome := undo(t, store, "99"); outcome.Verdict != landfall.Undone {
		t.Errorf("got %+v", outcome)
	}
	next, err := store.Count(t.Context(), `SELECT min(id) FROM event WHERE id > $1`, last)
	if err != nil || next < last+2 {
		t.Errorf("the event after %d has the number %d, want one that no event ever had (%v)", last, next, err)
	}
}

// TestUnfinishedCopyStartsAgain interrupts a copy early, late and after its last row. No server starts
// on it, it cannot be restored, and the next copy starts from the beginning.
func TestUnfinishedCopyStartsAgain(t *testing.T) {
	for to, fresh := range dbtest.Fresh {
		t.Run(to, func(t *testing.T) {
			from := dbtest.SQLite(t)
			if to == "sqlite" {
				from = dbtest.Postgres(t)
			}
			store := openStore(t, from)
			writePersonalData(t, store, newCanary())
			want := len(allRows(t, store, to == "sqlite"))
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			url := fresh(t)
			for _, at := range []string{"copying", "comparing", "nowhere"} {
				ctx, cancel := context.WithCancel(t.Context())
				_, _, err := sqlstore.Copy(ctx, from, url, copyOptions(nil), func(doing string, done, _ int64) {
					if strings.HasPrefix(doing, at) && done > 20 {
						cancel()
					}
				})
				cancel()
				if (err == nil) != (at == "nowhere") {
					t.Fatalf("%s: %v", at, err)
				}
				if _, err := sqlstore.Open(t.Context(), url, sqlstore.Options{Server: true}); err == nil || !strings.Contains(err.Error(), "landfall copy") {
					t.Errorf("%s: a server starts: %v", at, err)
				}
				half := openStore(t, url)
				if err := half.Update(t.Context(), func(tx landfall.Tx) error { return tx.AdmitCopy(t.Context()) }); err == nil {
					t.Errorf("%s: an unfinished copy is restored", at)
				}
				if err := half.Close(); err != nil {
					t.Fatal(err)
				}
				if _, _, err := sqlstore.Copy(t.Context(), url, fresh(t), copyOptions(nil), nil); err == nil || !strings.Contains(err.Error(), "unfinished") {
					t.Errorf("%s: an unfinished copy is copied: %v", at, err)
				}
			}
			whole := finishedCopy(t, from, url, nil)
			if got := len(allRows(t, whole, to == "postgres")); got != want {
				t.Errorf("%d rows, want %d", got, want)
			}
			if err := whole.Close(); err != nil {
				t.Fatal(err)
			}
			served, err := sqlstore.Open(t.Context(), url, sqlstore.Options{Server: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := served.Close(); err != nil {
				t.Fatal(err)
			}
			if _, _, err := sqlstore.Copy(t.Context(), from, url, copyOptions(nil), nil); err == nil || !strings.Contains(err.Error(), "is not empty: table") {
				t.Errorf("a finished copy is overwritten: %v", err)
			}
		})
	}
}

// TestCopyIsRefused copies databases that must not be copied, and from and into those in use.
func TestCopyIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		kind := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]
		refused := func(from, to, want string) {
			t.Helper()
			if _, _, err := sqlstore.Copy(t.Context(), from, to, copyOptions(nil), nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		other := dbtest.SQLite(t)
		refused(url, url, "the same database")

		later := laterStep("ALTER TABLE account ADD COLUMN later TEXT;\n")
		newer := dbtest.Fresh[kind](t)
		if _, err := sqlstore.ApplyLater(t.Context(), newer, later); err != nil {
			t.Fatal(err)
		}
		refused(newer, other, "this program knows steps up to 1")
		refused(other, newer, "this program knows steps up to 1")
		if _, _, err := sqlstore.Copy(t.Context(), newer, url, sqlstore.WithLater(copyOptions(nil), later), nil); err == nil || !strings.Contains(err.Error(), "landfall schema apply") {
			t.Errorf("a copy into an older schema: %v", err)
		}

		// A server has the lock of its file, or a row of its own.
		server, err := sqlstore.Open(t.Context(), url, sqlstore.Options{Server: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.TouchReplica(t.Context(), landfall.Replica{ID: "r", Host: "north-1", Version: "1.0.0"})
		}); err != nil {
			t.Fatal(err)
		}
		inUse := "servers are using it: north-1"
		if kind == "sqlite" {
			inUse = "is serving"
		}
		refused(url, other, inUse)
		refused(other, url, inUse)
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNobodyWritesToADatabaseThatIsCopied tries to write while rows are copied.
func TestNobodyWritesToADatabaseThatIsCopied(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		writePersonalData(t, store, newCanary())
		hasty, err := sqlstore.Open(t.Context(), url, sqlstore.Options{LockTimeout: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer hasty.Close()
		tried := false
		_, _, err = sqlstore.Copy(t.Context(), url, dbtest.SQLite(t), copyOptions(nil), func(string, int64, int64) {
			if !tried {
				tried = true
				if err := hasty.Update(t.Context(), func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), "Late") }); err == nil {
					t.Error("a team was created that is not in the copy")
				}
			}
		})
		if err != nil || !tried {
			t.Error(tried, err)
		}
	})
}

// TestNobodyWritesToACopyBeforeItIsFinished tries to write into a database while it is filled, as
// a server does that starts just then, and to finish a copy that a server uses.
func TestNobodyWritesToACopyBeforeItIsFinished(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		source := dbtest.SQLite(t)
		writePersonalData(t, openStore(t, source), newCanary())
		if err := openStore(t, url).Close(); err != nil { // creates the schema
			t.Fatal(err)
		}
		early, err := sqlstore.Open(t.Context(), url, sqlstore.Options{LockTimeout: 1})
		if err != nil {
			t.Fatal(err)
		}
		touch := func(server *sqlstore.Store) error {
			return server.Update(t.Context(), func(tx landfall.Tx) error {
				return tx.TouchReplica(t.Context(), landfall.Replica{ID: "early", Host: "early.example"})
			})
		}
		tried := false
		_, mark, err := sqlstore.Copy(t.Context(), source, url, copyOptions(nil), func(string, int64, int64) {
			if !tried {
				tried = true
				if err := touch(early); err == nil {
					t.Error("a server wrote into a database that is being filled")
				}
			}
		})
		if err != nil || !tried {
			t.Fatal(tried, err)
		}
		if err := early.Close(); err != nil {
			t.Fatal(err)
		}
		late := openStore(t, url)
		if err := touch(late); err != nil {
			t.Fatal(err)
		}
		finish := func() error {
			return late.Update(t.Context(), func(tx landfall.Tx) error { return tx.FinishCopy(t.Context(), mark) })
		}
		if err := finish(); err == nil || !strings.Contains(err.Error(), "early.example") {
			t.Errorf("a copy was finished that a server uses: %v", err)
		}
		if err := late.Update(t.Context(), func(tx landfall.Tx) error { return tx.RemoveReplica(t.Context(), "early") }); err != nil {
			t.Fatal(err)
		}
		if err := finish(); err != nil {
			t.Error(err)
		}
	})
}

// TestEveryTableIsCopied compares the tables of a new database with the lists of those that are not
// copied and those that have rows from the start.
func TestEveryTableIsCopied(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		var seeded []string
		store := openStore(t, url)
		for _, table := range sqlstore.Tables() {
			count, err := store.Count(t.Context(), `SELECT count(*) FROM `+table)
			if err != nil {
				t.Fatal(err)
			}
			if _, left := sqlstore.NotCopied[table]; count > 0 && !left {
				seeded = append(seeded, table)
			}
		}
		if slices.Sort(seeded); !slices.Equal(seeded, sqlstore.SeededTables) {
			t.Errorf("tables with rows from the start: %q, want %q", seeded, sqlstore.SeededTables)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		done, _, err := sqlstore.Copy(t.Context(), url, dbtest.SQLite(t), copyOptions(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(maps.Keys(sqlstore.NotCopied))
		for _, table := range done {
			all = append(all, table.Name)
		}
		slices.Sort(all)
		if want := sqlstore.Tables(); !slices.Equal(all, slices.Sorted(slices.Values(want))) {
			t.Errorf("copied or named with a reason: %q, want %q", all, want)
		}
	})
}

// A copy that ends while a later one has begun does not allow serving what the later one writes.
func TestCopyDoesNotFinishALaterOne(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		finish := func(mark int64) error {
			return store.Update(t.Context(), func(tx landfall.Tx) error { return tx.FinishCopy(t.Context(), mark) })
		}
		if err := store.Force(t.Context(), `INSERT INTO unfinished_copy (at) VALUES (1), (2), (3)`); err != nil {
			t.Fatal(err)
		}
		if err := finish(2); err == nil || !strings.Contains(err.Error(), "unfinished") {
			t.Errorf("the second of three copies finished: %v", err)
		}
		if err := finish(3); err != nil {
			t.Error(err)
		}
	})
}
