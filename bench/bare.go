package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the raw limit is measured with the driver alone
)

// bareServerArgument makes this program the bare server, in a process of its own.
const bareServerArgument = "bare-server"

// rowsOf before a file asks for the rows of whole accounts.
const rowsOf = "rows:"

// startBare runs the bare server: one that decodes, or with the name of a file
// one that stages into it, or with that and rowsOf before it one that creates.
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
	// The bare server answers a GET with nothing, so that it can be waited for as ours is.
	return s, waitFor(ctx, "http://"+address+"/")
}

// serveBare is what one would write in five minutes: net/http, and behind it
// encoding/json or SQLite.
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
		// It reads whole bodies as everybody does; limits and their cost are part of what we do
		// on top.
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

// decodeBare does what nobody can do without: it reads the JSON. What we do on top is
// what the comparison shows.
func decodeBare(body []byte) ([]byte, error) {
	var decoded any
	return body, json.Unmarshal(body, &decoded)
}

// bareWriter is SQLite with nothing around it: callers hand rows to one writer,
// which commits whatever has gathered.
type bareWriter struct {
	db         *sql.DB
	rows       chan bareRow
	statements []*sql.Stmt         // that write a row, one after the other
	arguments  func(bareRow) []any // of each of them
	numbers    counter
}

// bareRow waits for the commit that carries it, as a caller of the service does.
type bareRow struct {
	external, document string
	done               chan error
}

// openBareWriter promises as much as the service does and not less: WAL, and a sync
// at every commit. A comparison with a writer that may forget would flatter nobody.
func openBareWriter(path string) (*bareWriter, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	// One connection is one writer: SQLite has no use for more, and would make them wait for each
	// other.
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE raw_upsert (supplier TEXT, external TEXT, document TEXT, staged_at INTEGER, PRIMARY KEY (supplier, external)) STRICT`); err != nil {
		return nil, err
	}
	statement, err := db.Prepare(`INSERT INTO raw_upsert VALUES ('BENCH', $1, $2, 0)
		ON CONFLICT (supplier, external) DO UPDATE SET document = excluded.document, staged_at = excluded.staged_at`)
	if err != nil {
		return nil, err
	}
	return newBareWriter(db, []*sql.Stmt{statement}, func(row bareRow) []any { return []any{row.external, row.document} }), nil
}

// openBareCreator makes a writer of all the rows of an account, in a database
// with our schema.
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

// checkpoint works a file's write-ahead log off.
func checkpoint(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// newBareWriter lets as many rows wait as there are clients, so that no client waits
// for anything but the commit.
func newBareWriter(db *sql.DB, statements []*sql.Stmt, arguments func(bareRow) []any) *bareWriter {
	w := &bareWriter{db: db, rows: make(chan bareRow, connections), statements: statements, arguments: arguments}
	go w.write()
	return w
}

// close ends the writer, too; nothing may wait any more.
func (w *bareWriter) close() {
	close(w.rows)
	_ = w.db.Close()
}

// stage keeps an account whose number it cuts out of the bytes.
// Cut and not decoded, so that this arm is the limit of writing and not of parsing.
func (w *bareWriter) stage(body []byte) ([]byte, error) {
	_, rest, found := bytes.Cut(body, []byte(`"external_account_number": "`))
	number, _, ended := bytes.Cut(rest, []byte(`"`))
	if !found || !ended {
		return nil, errors.New("no number")
	}
	return []byte("{}"), w.put(string(number), string(body), make(chan error, 1))
}

// create makes the account whose number the body is.
func (w *bareWriter) create(body []byte) ([]byte, error) {
	return []byte("{}"), w.put(string(body), "", make(chan error, 1))
}

// put answers only after the commit.
func (w *bareWriter) put(external, document string, done chan error) error {
	w.rows <- bareRow{external, document, done}
	return <-done
}

// run puts accounts from as many callers as the other arm has connections.
func (w *bareWriter) run(ctx context.Context, length time.Duration) (sample, error) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	var written atomic.Int64
	var callers sync.WaitGroup
	started := time.Now()
	for range connections {
		callers.Go(func() {
			// Made once for each caller: a channel for every row would slow down what is to be
			// the limit.
			done := make(chan error, 1)
			for ctx.Err() == nil {
				number := w.numbers.last.Add(1)
				if w.put(strconv.FormatInt(number, 10), string(account(number, nil)), done) == nil {
					written.Add(1)
				}
			}
		})
	}
	callers.Wait()
	// By the time that passed and not by the time that was planned: the last commits come after
	// it.
	return sample{rate: float64(written.Load()) / time.Since(started).Seconds()}, nil
}

// write commits together what has come together, which is the best that is known for
// a database with one writer.
func (w *bareWriter) write() {
	for first := range w.rows {
		waiting := []bareRow{first}
		// Bounded by the number of callers, which is as many as can wait.
		for len(w.rows) > 0 && len(waiting) < connections {
			waiting = append(waiting, <-w.rows)
		}
		err := w.commit(waiting)
		for _, row := range waiting {
			row.done <- err
		}
	}
}

// commit has no savepoints: a bare program does not protect callers from each other.
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
