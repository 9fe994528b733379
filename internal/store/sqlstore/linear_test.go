package sqlstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/upkeep"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/tooltest"
)

// backgroundPass is work that a server does by itself. seed adds n rows for it,
// and run does all of it.
type backgroundPass struct {
	seed func(n int) []string
	run  func(t *testing.T, store *sqlstore.Store)
}

// purgeWhole purges one kind of data to the end.
func purgeWhole(setting string) func(*testing.T, *sqlstore.Store) {
	return func(t *testing.T, store *sqlstore.Store) {
		t.Helper()
		force(t, store, `UPDATE supplier SET undo_window = 0, keep_runs = 0`)
		force(t, store, `UPDATE supplier SET `+setting+` = 1`)
		removed := landfall.PurgeCounts{}
		for order := (landfall.PurgeRequest{Supplier: "S"}); ; {
			step, err := store.Purge(t.Context(), order)
			if err != nil {
				t.Fatal(err)
			}
			removed.Add(step.Removed)
			if order.After = step.Next; step.Done {
				break
			}
		}
		if removed == (landfall.PurgeCounts{}) {
			t.Error("nothing was purged")
		}
	}
}

// seedEach repeats a SELECT for the numbers 1 to n.
func seedEach(n int, insert, columns string) string {
	return fmt.Sprintf(`INSERT INTO %s SELECT %s FROM supplier s, generate_series(1, %d) n WHERE s.code = 'S'`, insert, columns, n)
}

const seededFailure = `'{"code":"x","detail":"d"}'`

// seededProcesses adds processes with these further columns and values.
func seededProcesses(n int, columns, values string) string {
	return seedEach(n, `process (supplier_id, external, revision, hash, first_staged_at, staged_at, `+columns+`)`, `s.id, 'P' || n, 1, 'x', n, 1, `+values)
}

func seededStagings() string {
	return `INSERT INTO staging (process_id, revision, hash, staged_at, document) SELECT id, 1, 'x', 1, 'd' FROM process WHERE external LIKE 'P%'`
}

// seededRuns adds ended runs, each with a hundredth of n rows in the tables of runs.
func seededRuns(n int) []string {
	const runs = 10
	return []string{
		seedEach(runs, `run (number, supplier_id, team, dry_run, selection, sample, most, at_once, state, cancelling, reason,
			created_at, ended_at, worked, cursor_at, cursor_external, seen, selected, chosen)`,
			`'R-' || n, s.id, 'T', FALSE, 'pending', 0, 0, 0, 'FINISHED', FALSE, '', 1, 1, 0, 0, '', 0, 0, TRUE`),
		fmt.Sprintf(`INSERT INTO run_failure (run_id, external, at, failure) SELECT r.id, 'F' || n, 1, %s FROM run r, generate_series(1, %d) n`, seededFailure, n/runs),
		fmt.Sprintf(`INSERT INTO run_member (run_id, ordinal, process_id, outcome) SELECT r.id, n - 1, n, 'failed' FROM run r, generate_series(1, %d) n`, n/runs),
		fmt.Sprintf(`INSERT INTO run_slice (run_id, slice, size, succeeded, failed, refused, width, next_at, tries, done)
			SELECT r.id, n - 1, 1, 0, 1, 0, 0, 0, 0, TRUE FROM run r, generate_series(1, %d) n`, n/runs),
	}
}

// createdEvents adds accounts with the events of their creation.
func createdEvents(n int) []string {
	return []string{
		seededProcesses(n, `state, account_number, account_created_at`, `'imported', 'A-' || n, 1`),
		`INSERT INTO event (type, supplier, external, account_number, at, details)
			SELECT 'account_import.completed', 'S', external, account_number, 1, '{}' FROM process WHERE account_number IS NOT NULL ORDER BY id`,
		`INSERT INTO account (id, revision, team, account_type, currency, billing_name, open_from_on, balance, ledger_length, note_count, statement_count,
			instruction_count) SELECT id, 1, 'T', '', 'GBP', '', '2026-01-01', 0, 0, 0, 0, 0 FROM process WHERE account_number IS NOT NULL`,
		`INSERT INTO customer (account_id, ordinal, given_name, family_name, title, email, mobile, landline, role)
			SELECT id, 1, 'Ada', 'Lovelace', '', '', '', '', '' FROM account`,
	}
}

func indexAll(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	for more := true; more; {
		step, err := store.IndexTerms(t.Context())
		if more = step.More; err != nil {
			t.Fatal(err)
		}
	}
}

// deliverAll delivers everything that waits, in rounds.
func deliverAll(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	claims, err := store.ClaimTargets(t.Context(), 1, time.Minute)
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	for more := true; more; {
		round, err := store.TargetRound(t.Context(), claims[0], 100)
		if err != nil {
			t.Fatal(err)
		}
		more = round.More
		result := landfall.TargetRoundResult{KeepClaim: true, Lease: time.Minute}
		for _, chain := range round.Chains {
			result.Results = append(result.Results, landfall.TargetResult{Delivery: &chain[0], State: landfall.TargetDelivered})
		}
		if err := store.SaveTargetRound(t.Context(), claims[0], result); err != nil {
			t.Fatal(err)
		}
	}
}

var backgroundPasses = map[string]backgroundPass{
	"documents of imported accounts": {func(n int) []string {
		// The last revision of a created account is its record. The others go.
		return []string{seededProcesses(n, `state, account_number, account_created_at`, `'imported', 'A-' || n, 1`), seededStagings(),
			`UPDATE process SET revision = 2 WHERE external LIKE 'P%'`,
			`INSERT INTO staging (process_id, revision, hash, staged_at, document) SELECT process_id, 2, 'x', 1, 'd' FROM staging WHERE hash = 'x'`}
	}, purgeWhole("keep_staged")},
	"documents of pending accounts": {func(n int) []string { return []string{seededProcesses(n, `state`, `'staged'`), seededStagings()} }, purgeWhole("keep_staged")},
	"documents of skipped accounts": {func(n int) []string {
		return []string{seededProcesses(n, `state, skip_reason`, `'skipped', 'no'`), seededStagings()}
	}, purgeWhole("keep_staged")},
	"failures of attempts": {func(n int) []string {
		return []string{seededProcesses(n, `state, failed_at, failure`, `'staged', 1, `+seededFailure)}
	}, purgeWhole("keep_failures")},
	"failures of skipped accounts": {func(n int) []string {
		return []string{seededProcesses(n, `state, skip_reason, failed_at, failure`, `'skipped', 'no', 1, `+seededFailure)}
	}, purgeWhole("keep_failures")},
	"refusals": {func(n int) []string {
		return []string{seedEach(n, `refusal (supplier_id, external, at, failure)`, `s.id, 'F' || n, 1, `+seededFailure)}
	}, purgeWhole("keep_failures")},
	"failures of runs": {seededRuns, purgeWhole("keep_failures")},
	"accounts of runs": {seededRuns, purgeWhole("keep_runs")},
	"mails": {func(n int) []string {
		return []string{seedEach(n, `mail (account_id, kind, recipient, queued_at, supplier, state, settled_at)`, `n, 'k', 'a' || n || '@b.co', 1, 'S', 'sent', n`)}
	}, purgeWhole("keep_mails")},
	"events": {createdEvents, purgeWhole("keep_events")},
	"search index": {func(n int) []string {
		return []string{seededProcesses(n, `state`, `'staged'`), seededStagings(), `INSERT INTO audit (at, actor, action, subject, detail)
			SELECT 1, 'operator:a', 'account.stage', 'S/' || external, '' FROM process WHERE external LIKE 'P%' ORDER BY id`}
	}, indexAll},
	"search index of refusals": {func(n int) []string {
		return []string{seedEach(n, `refusal (supplier_id, external, at, failure, person)`, `s.id, 'F' || n, 1, `+seededFailure+`, '{"billing_name": "Ada Lovelace"}'`)}
	}, indexAll},
	"compaction": {func(n int) []string {
		return []string{fmt.Sprintf(`INSERT INTO tally (supplier_id, standing, figures)
			SELECT one.supplier_id, one.standing, one.figures FROM (SELECT * FROM tally LIMIT 1) one, generate_series(1, %d)`, n)}
	}, func(t *testing.T, store *sqlstore.Store) {
		t.Helper()
		if _, err := upkeep.CompactTallies(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}},
	"chaining the audit": {func(n int) []string {
		return []string{seedEach(n, `audit (at, actor, action, subject, detail)`, `1, 'a', 'b', 'c' || n, ''`)}
	}, func(t *testing.T, store *sqlstore.Store) {
		t.Helper()
		mark := landfall.Watermark{}
		for {
			after, step, err := store.ChainAudit(t.Context(), mark)
			if err != nil {
				t.Fatal(err)
			}
			if mark = after; !step.More {
				return
			}
		}
	}},
	"deliveries to a target": {func(n int) []string {
		return append(createdEvents(n), seededStagings(),
			`INSERT INTO target (code, url, secrets, secret_env, shape, at_once, takes_back, state, created_at, due_at)
				VALUES ('B', 'https://example.com/', '[]', '', '', 4, FALSE, 'active', 1, 1)`,
			`INSERT INTO target_delivery (target, account_id, supplier_id, external, kind, items, figures, at, due_at)
				SELECT 'B', id, supplier_id, external, 'notes', '0 0', '', 1, 1 FROM process WHERE external LIKE 'P%'`)
	}, deliverAll},
	"encrypting again": {func(n int) []string {
		return []string{fmt.Sprintf(`INSERT INTO customer (account_id, ordinal, given_name, family_name, title, email, mobile, landline, role)
			SELECT n, 1, 'Ada', 'Lovelace', '', '', '', '', '' FROM generate_series(1, %d) n`, n)}
	}, func(t *testing.T, store *sqlstore.Store) {
		t.Helper()
		for done := false; !done; {
			step, err := store.Rekey(t.Context())
			if done = step.Done; err != nil {
				t.Fatal(err)
			}
		}
	}},
}

// TestBackgroundWorkIsLinear counts the rows and index entries that PostgreSQL
// reads during each pass. Four times the rows may cost four times as much, and a
// little more. When a page cannot start in an index, it costs far more: purging
// the failures of runs once did, because of an OR in its condition.
func TestBackgroundWorkIsLinear(t *testing.T) {
	tooltest.SkipIfShort(t)
	const few, many = 2_000, 8_000
	for name, pass := range backgroundPasses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			less, more := rowsRead(t, pass, few), rowsRead(t, pass, many)
			t.Logf("%d rows: %d read; %d rows: %d read", few, less, many, more)
			if more < few {
				t.Errorf("the pass read nothing of %d rows", many)
			}
			if float64(more) > 1.5*float64(less)*many/few {
				t.Errorf("it is not linear: %d rows cost %d, %d rows %d", few, less, many, more)
			}
		})
	}
}

// rowsRead runs a pass over n rows and returns how many rows and index entries
// were read. PostgreSQL counts them when a connection ends.
func rowsRead(t *testing.T, pass backgroundPass, n int) (count int) {
	t.Helper()
	url := dbtest.Postgres(t)
	var keys []seal.Key
	if strings.HasPrefix(t.Name(), "TestBackgroundWorkIsLinear/encrypting") {
		keys = []seal.Key{seal.NewKey()}
	}
	open := func() *sqlstore.Store {
		t.Helper()
		store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true, SearchTerms: contract.SearchTerms, Keys: keys, Connections: 4, AllowWeakDurability: true})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	prepareStore(t, store, "0")
	for _, text := range pass.seed(n) {
		force(t, store, text)
	}
	// Of the queue of a target that grew within a minute, PostgreSQL has no statistics.
	if !strings.HasSuffix(t.Name(), "deliveries_to_a_target") {
		force(t, store, `ANALYZE`)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	before := countReads(t, url)
	store = open()
	pass.run(t, store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return countReads(t, url) - before
}

// countReads waits until all other connections have ended.
func countReads(t *testing.T, url string) (count int) {
	t.Helper()
	database, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var others int
		if err := database.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others); err != nil {
			t.Fatal(err)
		}
		if others == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are still open", others)
		}
	}
	if err := database.QueryRowContext(t.Context(), `SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables)
		+ (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)`).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// TestPagesOfAPurgeStartInAnIndex checks the plans of SQLite, which does not
// count rows: every page must begin behind its cursor by means of an index, and
// none may be sorted.
func TestPagesOfAPurgeStartInAnIndex(t *testing.T) {
	store := openStore(t, dbtest.SQLite(t))
	for _, page := range sqlstore.PurgePages() {
		plan, err := store.Plan(t.Context(), page.Text, page.Args...)
		if err != nil {
			t.Fatal(page.Name, err)
		}
		starts := false
		for _, line := range plan {
			starts = starts || strings.Contains(line, "SEARCH "+page.Alias+" ") && strings.Contains(line, ">")
		}
		if told := strings.Join(plan, "\n"); !starts || strings.Contains(told, "SCAN "+page.Alias) || strings.Contains(told, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", page.Name, told)
		}
	}
}
