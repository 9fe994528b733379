package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"landfall"
)

// sqliteFile names a SQLite database.
type sqliteFile string

// sqliteEngine has one writer and pools of readers over one file.
type sqliteEngine struct {
	lock    *fileLock
	writer  *writer
	short   *readers // for views
	long    *readers // for lists, which callers may read slowly
	closing chan struct{}
}

func (f sqliteFile) open(ctx context.Context, options Options) (_ engine, err error) {
	if err := f.create(); err != nil {
		return nil, err
	}
	e := &sqliteEngine{closing: make(chan struct{})}
	defer func() {
		if err != nil {
			_ = e.lock.close() // the error that brought us here counts
		}
	}()
	if options.Server {
		if e.lock, err = lockFile(ctx, string(f), serving); err != nil {
			return nil, err
		}
	}
	if err := f.upgrade(ctx, options, e.lock != nil); err != nil {
		return nil, err
	}
	first, err := f.connect(ctx, options, writing)
	if err != nil {
		return nil, err
	}
	e.writer = newWriter(func(ctx context.Context) (*handle, error) { return f.connect(ctx, options, writing) }, first)
	read := func(ctx context.Context) (*handle, error) { return f.connect(ctx, options, reading) }
	e.short = newReaders(max(4, 2*runtime.GOMAXPROCS(0)), read)
	e.long = newReaders(8, read)
	return e, nil
}

// create makes the file so that nobody else can read it. SQLite gives the
// files it puts beside it the same mode.
func (f sqliteFile) create() error {
	path := string(f)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("cannot create the folder of the database: %w", err)
	}
	// Only a file that is not there yet is opened: closing another one would
	// take away the locks this process may hold on it.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		// A file others can read cannot be one this process holds locks on, so
		// it may be looked into; what is no database of ours is left alone.
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 && isDatabase(path) {
			return os.Chmod(path, 0o600)
		}
		return nil
	case err != nil:
		return fmt.Errorf("cannot create the database: %w", err)
	}
	return file.Close()
}

// isDatabase reports whether a file is empty or begins as SQLite's files do.
func isDatabase(path string) bool {
	const magic = "SQLite format 3\x00"
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(file, head)
	return n == 0 && errors.Is(err, io.EOF) || string(head) == magic
}

// access says what a connection may do.
type access bool

const (
	reading access = false
	writing access = true
)

// handle is one connection with its prepared statements.
type handle struct {
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// address gives the file's URL with the settings every connection runs with.
func (f sqliteFile) address(options Options, may access) (string, error) {
	path, err := filepath.Abs(string(f))
	if err != nil {
		return "", err
	}
	pragmas := []string{
		"busy_timeout(" + strconv.FormatInt(options.LockTimeout.Milliseconds(), 10) + ")",
		"page_size(8192)", // documents of two kilobytes waste half of a smaller page
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"trusted_schema(OFF)", "cell_size_check(ON)", "mmap_size(0)",
	}
	if may == writing {
		pragmas = append(pragmas, "cache_size(-65536)", "wal_autocheckpoint(2000)")
	} else {
		pragmas = append(pragmas, "query_only(ON)")
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return address.String(), nil
}

func (f sqliteFile) connect(ctx context.Context, options Options, may access) (_ *handle, err error) {
	address, err := f.address(options, may)
	if err != nil {
		return nil, err
	}
	h := &handle{prepared: map[string]*sql.Stmt{}}
	if h.db, err = sql.Open("sqlite", address); err != nil {
		return nil, sqliteDialect.wrap(err)
	}
	h.db.SetMaxOpenConns(1)
	if h.conn, err = h.db.Conn(ctx); err != nil {
		return nil, errors.Join(sqliteDialect.wrap(err), h.close())
	}
	if err := h.check(ctx); err != nil && !options.AllowWeakDurability {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// check refuses a file system on which SQLite could not keep its promises: it
// answers such settings by quietly staying with others.
func (h *handle) check(ctx context.Context) error {
	s := h.session(false)
	var journal string
	var synchronous int
	if err := s.one(ctx, `PRAGMA journal_mode`, nil, []any{&journal}); err != nil {
		return err
	}
	if err := s.one(ctx, `PRAGMA synchronous`, nil, []any{&synchronous}); err != nil {
		return err
	}
	if journal != "wal" || synchronous != 2 {
		return fmt.Errorf("SQLite cannot keep answered writes here: journal_mode is %s, synchronous is %d", journal, synchronous)
	}
	return nil
}

func (h *handle) session(shared bool) *session {
	return &session{dialect: sqliteDialect, runner: h.conn, prepared: h.prepared, shared: shared}
}

// run executes one of the few statements that steer transactions.
func (h *handle) run(text string) error {
	_, err := (&tx{view{h.session(true)}}).exec(context.Background(), text)
	return err
}

func (h *handle) close() error {
	for _, statement := range h.prepared {
		_ = statement.Close() // the connection ends too
	}
	var err error
	if h.conn != nil {
		err = h.conn.Close()
	}
	return sqliteDialect.wrap(errors.Join(err, h.db.Close()))
}

func (e *sqliteEngine) view(ctx context.Context, fn func(*session) error) error {
	return e.short.view(ctx, fn)
}

func (e *sqliteEngine) stream(ctx context.Context, fn func(*session) error) error {
	return e.long.view(ctx, fn)
}

func (e *sqliteEngine) update(ctx context.Context, mustWrite bool, fn func(*session) error) error {
	return e.writer.update(ctx, mustWrite, fn)
}

// lanes is two: while one joined staging waits for its commit, the next is
// being collected.
func (e *sqliteEngine) lanes() int { return 2 }

func (e *sqliteEngine) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(e.writer.close(), e.short.close(ctx), e.long.close(ctx), e.lock.close())
}

// readers is a pool of connections that cannot write.
type readers struct {
	slots   chan *handle // nil: not opened yet, or given up after a fault
	connect func(context.Context) (*handle, error)
	closing chan struct{}
}

func newReaders(size int, connect func(context.Context) (*handle, error)) *readers {
	r := &readers{slots: make(chan *handle, size), connect: connect, closing: make(chan struct{})}
	for range size {
		r.slots <- nil
	}
	return r
}

func (r *readers) view(ctx context.Context, fn func(*session) error) (err error) {
	var h *handle
	select {
	case <-r.closing:
		return errClosed
	case <-ctx.Done():
		return sqliteDialect.wrap(ctx.Err())
	case h = <-r.slots:
	}
	defer func() { r.slots <- h }()
	if h == nil {
		if h, err = r.connect(ctx); err != nil {
			h = nil
			return err
		}
	}
	if err := h.run("BEGIN"); err != nil {
		return err
	}
	s := h.session(false)
	defer func() {
		// A connection that cannot even end its transaction is given up.
		if h.run("ROLLBACK") != nil {
			_ = h.close()
			h = nil
		}
	}()
	return s.verdict(fn(s))
}

func (r *readers) close(ctx context.Context) error {
	close(r.closing)
	for range cap(r.slots) {
		select {
		case h := <-r.slots:
			if h != nil {
				_ = h.close() // it only read
			}
		case <-ctx.Done():
			return landfall.ErrUnavailable
		}
	}
	return nil
}
