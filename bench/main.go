// Command bench measures the hot paths of the built program relative to the raw
// limit of the same machine, side by side in one run. It prints ratios, because
// machines are noisy and an absolute rate says little.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// connections is the number of concurrent clients in every measurement.
const connections = 64

// main also runs the bare programs: they are the same binary with another
// argument, so that compiler and flags are equal.
func main() {
	// Before flags are parsed: the bare programs have none.
	if len(os.Args) == 4 && os.Args[1] == bareServerArgument {
		fmt.Fprintln(os.Stderr, "bench:", serveBare(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	// Bare programs that only parse.
	for name, parse := range map[string]func(string) error{bareParserArgument: parseBare, bareJSONArgument: parseBook} {
		if len(os.Args) != 3 || os.Args[1] != name {
			continue
		}
		if err := parse(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	length := flag.Duration("length", 4*time.Second, "how long each arm of a measurement runs")
	rounds := flag.Int("rounds", 3, "how often the two arms alternate; the median ratio counts")
	book := flag.Int("book", 10_000, "accounts of the book that is moved")
	long := flag.Int64("run", 250_000, "accounts of the long run")
	rows := flag.Int("rows", 1_000_000, "rows of the long list")
	whole := flag.Int("whole", 100_000, "accounts of the stream of whole accounts")
	write := flag.String("write", "", "page whose table is written from this run, which must be a whole one")
	profile := flag.String("profile", "", "file that a profile of the measured servers is written to, for the compiler; figures are worse meanwhile")
	only := flag.String("only", "", "comma-separated names of the measurements to run; all by default")
	accounts := flag.Int("scale", 0, "instead, move a book of this many accounts through the whole service")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	if *accounts > 0 {
		err := measureScale(ctx, *accounts, *write)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	err := runMeasurements(ctx, plan{length: *length, rounds: *rounds, rows: *rows, book: *book, whole: *whole, run: *long, only: *only, page: *write, profile: *profile})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// plan is what to measure and for how long.
type plan struct {
	length  time.Duration
	rounds  int
	rows    int
	book    int
	whole   int
	run     int64 // long enough to show throughput that falls with the length
	only    string
	page    string
	profile string
}

// measurement is one line of the report.
type measurement struct {
	name    string
	against string // what it is compared with
	goal    float64
	run     func(ctx context.Context, p plan, m *harness) (measured, error)
}

// measurements lists the hot paths and their goals.
var measurements = []measurement{
	{"validate", "a `net/http` server that only decodes the same JSON", 0.4, served(sqliteFile("validate"), measureValidate)},
	{"validate-with-pack", "bytes of accounts without fields of a pack", 0.8, served(sqliteFile("pack"), measurePack)},
	{"stage-postgres", "`pgbench` upserting the same bytes and identifiers, 64 clients", 0.8, served(fresh("stage"), measureStagePostgres)},
	{"stage-sqlite", "a bare group-commit writer behind a socket", 0.55, served(sqliteFile("stage"), measureStageSQLite)},
	{"stage-sqlite-inside", "the same writer called within its own process, without HTTP", 0.2, served(sqliteFile("stage-inside"), measureStageInside)},
	{"bulk-stage-postgres", "`COPY` of the same accounts into the same tables", 0.6, served(fresh("bulk"), measureBulkPostgres(1))},
	{"bulk-stage-postgres-two", "two of those `COPY` at once, all that this machine can take", 0.4, served(fresh("bulk_two"), measureBulkPostgres(2))},
	{"bulk-stage-sqlite", "a bare writer of the same bytes and identifiers, 1,000 to a transaction", 0.6, served(sqliteFile("bulk"), measureBulkSQLite)},
	{"bulk-last-tenth", "the first tenth of a million lines", 0.95, measureLastTenth},
	{"bulk-memory-mib", "memory the server may take for a million lines", 256, measureBulkMemory},
	{"beside-bulk-postgres", "the median of single calls alone, in times", 3, served(fresh("beside"), measureBeside)},
	{"beside-bulk-sqlite", "the median of single calls alone, in times", 3, served(sqliteFile("beside"), measureBeside)},
	{"stored-postgres", "the bytes of the JSON", 0.8, served(fresh("stored"), measureStored)},
	{"stored-sqlite", "the bytes of the JSON", 0.6, served(sqliteFile("stored"), measureStored)},
	{"process-postgres", "`pgbench` writing the same rows, an account to a statement", 1.1, served(fresh("process"), measureProcessPostgres)},
	{"process-sqlite", "a bare program, an account to a transaction", 1.2, served(sqliteFile("process"), measureProcessSQLite)},
	{"process-sqlite-grouped", "a bare group-commit writer of the same rows behind a socket", 0.5, served(sqliteFile("process-grouped"), measureProcessGrouped)},
	{"process-at-a-million", "the same in a new database", 0.9, measureGrown},
	{"process-with-events", "the same while the database discards events", 0.95, served(fresh("events"), measureEventCost)},
	{"process-across-postgres", "the same while the rules across accounts are off", 0.95, served(fresh("across"), measureAcross)},
	{"process-across-sqlite", "the same while the rules across accounts are off", 0.95, served(sqliteFile("across"), measureAcross)},
	{"run-postgres", "64 callers of `process`", 1.3, served(fresh("run"), measureRun)},
	{"run-sqlite", "64 callers of `process`", 1.3, served(sqliteFile("run"), measureRun)},
	{"run-postgres-bare", "`pgbench` writing the same rows, 500 accounts to a statement", 0.5, served(fresh("run_raw"), measureRunPostgres)},
	{"run-sqlite-bare", "a bare program, 500 accounts to a transaction", 0.5, served(sqliteFile("run-bare"), measureRunSQLite)},
	{"beside-run-postgres", "the median of single calls alone, in times", 3, served(fresh("beside_run"), measureBesideRun)},
	{"beside-run-sqlite", "the median of single calls alone, in times", 3, served(sqliteFile("beside-run"), measureBesideRun)},
	{"run-limit-postgres", "8 callers of `process` under the same limit of 8", 0.8, served(fresh("run_limit"), measureLimited((*service).move))},
	{"run-limit-sqlite", "8 callers of `process` under the same limit of 8", 0.8, served(sqliteFile("run-limit"), measureLimited((*service).move))},
	{"bulk-limit-postgres", "8 callers of `process` under the same limit of 8", 0.8, served(fresh("bulk_limit"), measureLimited((*service).createInBulk))},
	{"bulk-limit-sqlite", "8 callers of `process` under the same limit of 8", 0.8, served(sqliteFile("bulk-limit"), measureLimited((*service).createInBulk))},
	{"run-last-tenth", "the first tenth of a long run", 0.95, measureLongRun},
	{"validate-book", "a program that only parses the same JSON with `encoding/json`, on all cores", 0.5, measureProof},
	{"import-postgres", "`COPY` of the rows that the import wrote, 2 connections", 0.3, measureImport("postgres", fresh("import"), copyTables)},
	{"import-sqlite", "a bare program that writes the rows that the import wrote, 5,000 to a transaction", 0.3, measureImport("sqlite", sqliteFile("import"), rewriteTables)},
	{"export-postgres", "`psql` copying the same lines to a file", 0.5, measureExport(fresh("export"), "accounts by psql COPY", copyLines)},
	{"export-sqlite", "a bare program copying the exported rows as they are stored", 0.5, measureExport(sqliteFile("export"), "accounts by a bare program", copyRows)},
	{"export-memory-mib", "the command's memory, or the server's above idle", 128, measureExportMemory},
	{"webhook-postgres", "events a second to a receiver on the same machine", 2000, measureWebhook(fresh("webhook"))},
	{"webhook-sqlite", "events a second to a receiver on the same machine", 2000, measureWebhook(sqliteFile("webhook"))},
	{"process-with-target-postgres", "the same without a target", 0.9, measureTargetCost(fresh("with_target"))},
	{"process-with-target-sqlite", "the same without a target", 0.9, measureTargetCost(sqliteFile("with_target"))},
	{"delivery-postgres", "accounts a second to a target on the same machine", 2000, measureDelivery(fresh("delivery"))},
	{"delivery-sqlite", "accounts a second to a target on the same machine", 2000, measureDelivery(sqliteFile("delivery"))},
	{"dry-run-postgres", "creating as many accounts", 1, served(fresh("dry"), measureDryRun)},
	{"dry-run-sqlite", "creating as many accounts", 1, served(sqliteFile("dry"), measureDryRun)},
	{"notes-1-postgres", "`pgbench`, all rows in one statement", 0.5, measurePostPostgres(notePosting, 1)},
	{"notes-100-postgres", "`pgbench`, a batch to a transaction", 0.5, measurePostPostgres(notePosting, 100)},
	{"transactions-1-postgres", "`pgbench`, all rows in one statement", 0.5, measurePostPostgres(transactionPosting, 1)},
	{"transactions-100-postgres", "`pgbench`, a batch to a transaction", 0.5, measurePostPostgres(transactionPosting, 100)},
	{"notes-1-sqlite", "a bare program, a batch to a transaction", 0.5, measurePostSQLite(notePosting, 1)},
	{"notes-100-sqlite", "a bare program, a batch to a transaction", 0.5, measurePostSQLite(notePosting, 100)},
	{"transactions-1-sqlite", "a bare program, a batch to a transaction", 0.5, measurePostSQLite(transactionPosting, 1)},
	{"transactions-100-sqlite", "a bare program, a batch to a transaction", 0.5, measurePostSQLite(transactionPosting, 100)},
	{"stage-with-slow-vendor", "staging while nobody waits for a vendor that takes 10 s", 0.8, measureSlowVendor},
	{"flood-postgres", "what 64 callers get; 5,000 come at once", 0.8, measureFlood("postgres", fresh, true)},
	{"flood-postgres-after", "the same before the flood", 0.8, measureAfterFlood("postgres", fresh)},
	{"flood-postgres-mib", "memory the server may take meanwhile", 512, measureFloodMemory("postgres", fresh)},
	{"flood-sqlite", "what 64 callers get; 5,000 come at once", 0.8, measureFlood("sqlite", sqliteFile, true)},
	{"flood-sqlite-after", "the same before the flood", 0.8, measureAfterFlood("sqlite", sqliteFile)},
	{"flood-sqlite-mib", "memory the server may take meanwhile", 512, measureFloodMemory("sqlite", sqliteFile)},
	{"flood-impolite-postgres", "what 64 callers get; 5,000 come at once and ignore Retry-After", 0.7, measureFlood("postgres", fresh, false)},
	{"flood-impolite-sqlite", "what 64 callers get; 5,000 come at once and ignore Retry-After", 0.7, measureFlood("sqlite", sqliteFile, false)},
	{"attacked-postgres", "staging and reading while nobody attacks; the worst of all attacks", 0.5, measureAttack("postgres", fresh("attack"))},
	{"attacked-postgres-p99", "the slowest answers while nobody attacks; the worst of all attacks", 5, measureAttackDelay("postgres", fresh("attack"))},
	{"attacked-sqlite", "staging and reading while nobody attacks; the worst of all attacks", 0.5, measureAttack("sqlite", sqliteFile("attack"))},
	{"attacked-sqlite-p99", "the slowest answers while nobody attacks; the worst of all attacks", 5, measureAttackDelay("sqlite", sqliteFile("attack"))},
	{"convert", "a program that only parses the same CSV with `encoding/csv`, on all cores", 0.5, measureConvert},
	{"list", "`psql` copying the same rows", 0.5, measureList},
	{"list-memory-mib", "memory above idle for a million rows", 64, measureListMemory},
	{"whole-accounts", "`psql` copying the same bytes", 0.5, measureWhole},
	{"reconciliation-ms-postgres", "1,000 ms with a million accounts", 1000, served(fresh("reconciliation"), measureReconciliation)},
	{"reconciliation-ms-sqlite", "1,000 ms with a million accounts", 1000, served(sqliteFile("reconciliation"), measureReconciliation)},
	{"console-page-ms", "100 ms for the slowest page with a million accounts on SQLite", 100, measureConsole},
	{"console-search-ms", "50 ms for the slowest search with a million accounts on SQLite", 50, measureSearch},
}

// fresh and file create a database of either kind for measurements that exist
// for both.
func fresh(name string) func(context.Context, *harness) (string, error) {
	return func(ctx context.Context, m *harness) (string, error) { return m.freshPostgres(ctx, name) }
}

func sqliteFile(name string) func(context.Context, *harness) (string, error) {
	return func(_ context.Context, m *harness) (string, error) { return m.sqlite(name), nil }
}

// served gives a measurement its own database and server, and stops the server
// afterwards, so that the next one has the machine to itself.
func served(
	database func(context.Context, *harness) (string, error),
	measure func(ctx context.Context, p plan, m *harness, s *service) (measured, error),
) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		s, err := m.serveNew(ctx, database)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		return measure(ctx, p, m, s)
	}
}

// measured is a ratio with the two figures behind it as text.
type measured struct {
	ratio  float64
	ours   string
	raw    string
	atMost bool // the goal is an upper bound, not a lower one
}

// runMeasurements prints every line as soon as it is known, and fails when a goal was
// missed.
func runMeasurements(ctx context.Context, p plan) error {
	if p.page != "" && (p.only != "" || p.profile != "") {
		return errors.New("a page is written from a whole run, and while nobody takes profiles")
	}
	machinery, err := prepare(ctx, "8GB")
	if err != nil {
		return err
	}
	defer machinery.close()
	if p.profile != "" {
		machinery.profiler = &profiler{machinery.folder}
	}
	fmt.Printf("%-26s %7s %7s   %-44s %s\n", "measurement", "found", "goal", "landfall", "compared with")
	var lines []reportLine
	missed := 0
	for _, m := range measurements {
		// Compare whole names, so that a measurement can be run without others
		// with the same prefix.
		if p.only != "" && !slices.Contains(strings.Split(p.only, ","), m.name) {
			continue
		}
		// A measurement that fails ends the run: a page without one line would
		// look complete.
		result, err := m.run(ctx, p, machinery)
		if err == nil {
			err = machinery.clear(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		found, verdict := reportLine{m, result}, ""
		if !found.met() {
			verdict, missed = "  MISSED", missed+1
		}
		lines = append(lines, found)
		fmt.Printf("%-26s %7.2f %7.2f   %-44s %s%s\n", m.name, result.ratio, m.goal, result.ours, result.raw, verdict)
	}
	if p.page != "" {
		if err := writePage(p.page, lines, time.Now()); err != nil {
			return err
		}
	}
	// Goals are not checked while profiling, because profiling makes figures
	// worse.
	if p.profile != "" {
		return machinery.profiler.join(ctx, p.profile)
	}
	if missed > 0 {
		return fmt.Errorf("%d goals missed", missed)
	}
	return nil
}
