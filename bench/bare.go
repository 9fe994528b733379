package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the limit is measured with the driver alone
)

// bareServerArgument runs this program as the bare server, in its own process.
const bareServerArgument = "bare-server"

// rowsOf before a file name makes the server write the rows of whole accounts.
const rowsOf = "rows:"

// startBare starts a bare server that decodes JSON; with a file name one that
// stages into that file; with rowsOf before the name one that creates accounts.
func startBare(ctx context.Context, file string) (*service, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &service{address: address, command: exec.CommandContext(ctx, program, bareServerArgument, address, file)}
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	// The bare server answers GET requests, so that its start can be detected.
	return s, waitFor(ctx, "http://"+address+"/")
}

// serveBare is a server written in five minutes: net/http with encoding/json or
// SQLite.
func serveBare(address, file string) error {
	work := decodeBare
	if path, rows := strings.CutPrefix(file, rowsOf); rows {
		writer, err := openBareCreator(path)
		if err != nil {
			return err
		}
		work = writer.create
	} else if file != "" {
		writer, err := openBareWriter(file)
		if err != nil {
			return err
		}
		work = writer.stage
	}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return
		}
		// It reads whole bodies without limits. Limits are part of the overhead
		// that is compared.
		body, err := io.ReadAll(r.Body)
		if err == nil {
			body, err = work(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
}

// decodeBare decodes the JSON, the least that any server has to do.
func decodeBare(body []byte) ([]byte, error) {
	var decoded any
	return body, json.Unmarshal(body, &decoded)
}

// bareWriter is SQLite without anything around it: callers pass rows to one
// writer, which commits whatever has accumulated.
type bareWriter struct {
	db         *sql.DB
	rows       chan bareRow
	statements []*sql.Stmt         // each writes a row
	arguments  func(bareRow) []any // of each statement
	numbers    counter
}

// bareRow waits for its commit, as a caller of the service does.
type bareRow struct {
	external, document string
	done               chan error
}

// openBareWriter uses the same durability as the service: WAL with a sync at
// every commit. Otherwise the comparison would be unfair.
func openBareWriter(path string) (*bareWriter, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	// One connection, because SQLite has a single writer and others would only
	// wait.
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE raw_upsert (supplier TEXT, external TEXT, document TEXT, staged_at INTEGER, PRIMARY KEY (supplier, external)) STRICT;
		CREATE TABLE raw_identifier (process_id INTEGER, ordinal INTEGER, supplier_id INTEGER, digest INTEGER, value TEXT, from_on TEXT, to_on TEXT,
			PRIMARY KEY (process_id, ordinal)) STRICT, WITHOUT ROWID;
		CREATE INDEX raw_identifier_digest ON raw_identifier (supplier_id, digest, process_id)`); err != nil {
		return nil, err
	}
	var statements []*sql.Stmt
	for _, text := range []string{`INSERT INTO raw_upsert VALUES ('BENCH', $1, $2, 0)
		ON CONFLICT (supplier, external) DO UPDATE SET document = excluded.document, staged_at = excluded.staged_at`, identifierInsert} {
		statement, err := db.Prepare(text)
		if err != nil {
			return nil, err
		}
		statements = append(statements, statement)
	}
	return newBareWriter(db, statements, func(row bareRow) []any { return []any{row.external, row.document} }), nil
}

// identifierInsert writes the two supply points of the account that was written last, as
// staging does. SQLite takes the parameters by number, so it ignores those it does not use.
var identifierInsert = `INSERT INTO raw_identifier VALUES ` + identifierRows("last_insert_rowid()") + ` ON CONFLICT DO NOTHING`

// identifierRows returns the rows of the supply points of an account as SQL values.
func identifierRows(process string) string {
	rows := make([]string, len(supplyPoints))
	for i, point := range supplyPoints {
		rows[i] = fmt.Sprintf("(%s, %d, 1, %d, '%s', '2024-03-14', NULL)", process, i+1, point.digest, point.text)
	}
	return strings.Join(rows, ", ")
}

// openBareCreator returns a writer of all rows of an account, in a database
// with the product's schema.
func openBareCreator(path string) (*bareWriter, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	statements, err := prepareBare(context.Background(), db)
	if err != nil {
		return nil, err
	}
	return newBareWriter(db, statements, func(row bareRow) []any { return []any{row.external} }), nil
}

// checkpoint moves a file's write-ahead log into the database.
func checkpoint(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// newBareWriter queues as many rows as there are clients, so that clients only
// wait for commits.
func newBareWriter(db *sql.DB, statements []*sql.Stmt, arguments func(bareRow) []any) *bareWriter {
	w := &bareWriter{db: db, rows: make(chan bareRow, connections), statements: statements, arguments: arguments}
	go w.write()
	return w
}

// close also stops the writer. No row may be waiting any more.
func (w *bareWriter) close() {
	close(w.rows)
	_ = w.db.Close()
}

// stage stores an account. It cuts the number out of the bytes instead of
// decoding them, so that this arm is limited by writing and not by parsing.
func (w *bareWriter) stage(body []byte) ([]byte, error) {
	_, rest, found := bytes.Cut(body, []byte(`"external_account_number": "`))
	number, _, ended := bytes.Cut(rest, []byte(`"`))
	if !found || !ended {
		return nil, errors.New("no number")
	}
	return []byte("{}"), w.put(string(number), string(body), make(chan error, 1))
}

// create creates the account whose number is the body.
func (w *bareWriter) create(body []byte) ([]byte, error) {
	return []byte("{}"), w.put(string(body), "", make(chan error, 1))
}

// put returns after the commit.
func (w *bareWriter) put(external, document string, done chan error) error {
	w.rows <- bareRow{external, document, done}
	return <-done
}

// run stores accounts from as many callers as the other arm has connections.
func (w *bareWriter) run(ctx context.Context, length time.Duration) (sample, error) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	var written atomic.Int64
	var callers sync.WaitGroup
	started := time.Now()
	for range connections {
		callers.Go(func() {
			// One channel per caller: one per row would slow down what is meant
			// to be the limit.
			done := make(chan error, 1)
			for ctx.Err() == nil {
				number := w.numbers.last.Add(1)
				if w.put(strconv.FormatInt(number, 10), string(appendAccount(number, nil)), done) == nil {
					written.Add(1)
				}
			}
		})
	}
	callers.Wait()
	// Divide by the elapsed time, not the planned one: the last commits come
	// later.
	return sample{rate: float64(written.Load()) / time.Since(started).Seconds()}, nil
}

// write commits everything that is queued in one transaction, the best known
// way for a database with one writer.
func (w *bareWriter) write() {
	for first := range w.rows {
		waiting := []bareRow{first}
		// Bounded by the number of callers.
		for len(w.rows) > 0 && len(waiting) < connections {
			waiting = append(waiting, <-w.rows)
		}
		err := w.commit(waiting)
		for _, row := range waiting {
			row.done <- err
		}
	}
}

// commit uses no savepoints: a bare program does not isolate callers from each
// other.
func (w *bareWriter) commit(rows []bareRow) error {
	tx, err := w.db.Begin()
	if err != nil {
		return err
	}
	for _, row := range rows {
		arguments := w.arguments(row)
		for _, statement := range w.statements {
			if _, err := tx.Stmt(statement).Exec(arguments...); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
	}
	return tx.Commit()
}
