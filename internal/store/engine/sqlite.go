package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// sqliteFile names a SQLite database.
type sqliteFile string

// shown is the name as it may appear in a log: there is nothing secret in it.
func (f sqliteFile) shown() string { return "sqlite:" + string(f) }

// exposed is false: nobody listens on a wire.
func (sqliteFile) exposed() bool { return false }

// unlocked refuses a password: who gave one believes to talk to another
// database.
func (sqliteFile) unlocked(string) (string, error) {
	return "", errors.New("a database password is given, but setting database names none that takes one")
}

// embedded has one writer and pools of readers over one file.
type embeddedFile struct {
	file   string
	lock   *fileLock
	writer *writer
	short  *readers // for views
	long   *readers // for lists, which callers may read slowly
}

// open makes the file where it may, locks it for a server, brings its schema
// up to date and opens the connections, in this order: nobody may change the
// schema below a server that runs.
func (f sqliteFile) open(ctx context.Context, options Options) (_ machine, err error) {
	if err := f.prepare(ctx, options.ApplySchema); err != nil {
		return nil, err
	}
	e := &embeddedFile{file: string(f)}
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
		return nil, fileTrouble(string(f), err)
	}
	e.writer = newWriter(options, func(ctx context.Context) (*handle, error) { return f.connect(ctx, options, writing) }, first)
	read := func(ctx context.Context) (*handle, error) { return f.connect(ctx, options, reading) }
	e.short = newReaders(max(4, 2*runtime.GOMAXPROCS(0)), options, read)
	e.long = newReaders(8, options, read)
	return e, nil
}

// prepare makes the file, if it may, so that nobody else can read it; SQLite
// gives the files it puts beside it the same mode. A file that is no database
// is left alone, its mode included.
func (f sqliteFile) prepare(ctx context.Context, create bool) error {
	path := string(f)
	// Only a file that is not there yet is opened here: closing another one
	// would take away the locks this process may hold on it.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot create the folder of the database: %w", err)
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			return nil // somebody else was faster
		}
		if err != nil {
			return fmt.Errorf("cannot create the database: %w", err)
		}
		return file.Close()
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database %s; make one with 'landfall schema apply'", path)
	case err != nil || info.IsDir():
		return fileTrouble(path, err)
	}
	if info.Size() > 0 {
		if err := f.recognise(ctx); err != nil {
			return err
		}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, 0o600)
	}
	return nil
}

// recognise looks into a file without changing anything.
func (f sqliteFile) recognise(ctx context.Context) error {
	path, err := filepath.Abs(string(f))
	if err != nil {
		return err
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return sqliteDialect.wrap(err)
	}
	defer db.Close()
	var count int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&count); err != nil {
		if err = sqliteDialect.wrap(err); code(err) == sqliteNoDB {
			return fileTrouble(path, err)
		}
	}
	return nil // other trouble is met again when it is opened for writing
}

// access says what a connection may do.
type access bool

const (
	reading access = false
	writing access = true
)

// address gives the file's URL with the settings every connection runs with.
func (f sqliteFile) address(options Options, may access) (string, error) {
	path, err := filepath.Abs(string(f))
	if err != nil {
		return "", err
	}
	pragmas := []string{
		"busy_timeout(" + strconv.FormatInt(options.Limits.Lock.Milliseconds(), 10) + ")",
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"trusted_schema(OFF)", "cell_size_check(ON)", "mmap_size(0)",
	}
	if may == writing {
		// What a savepoint would put back is kept in memory; a file of its own cost
		// a system call for every page that a batch touched.
		pragmas = append(pragmas, "cache_size(-65536)", "wal_autocheckpoint(2000)", "temp_store(MEMORY)")
	} else {
		pragmas = append(pragmas, "query_only(ON)")
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return address.String(), nil
}

// connect opens one connection. database/sql is kept from opening a second
// behind our back, since a transaction is on the connection it began on.
func (f sqliteFile) connect(ctx context.Context, options Options, may access) (_ *handle, err error) {
	address, err := f.address(options, may)
	if err != nil {
		return nil, err
	}
	h := &handle{prepared: map[string]*sql.Stmt{}}
	if h.db, err = sql.Open(options.driver, address); err != nil {
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

// view reads over a snapshot, with the places for what is short.
func (e *embeddedFile) view(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return e.short.view(ctx, tenant, fn)
}

// stream has places of its own, so that slow readers of lists keep nobody
// from a look.
func (e *embeddedFile) stream(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return e.long.view(ctx, tenant, fn)
}

// start lets the one lane run.
func (e *embeddedFile) start(q *queue) { go e.writer.lane(q) }

// share has one lane over everything, so nothing else limits anybody.
func (e *embeddedFile) share() share {
	return share{calls: LongestBatch, batches: 1 << 20, groups: LongestBatch, grouped: 1 << 20, patient: 1 << 20, updates: 1 << 20}
}

// embedded is true: one server has the file to itself.
func (e *embeddedFile) embedded() bool { return true }

// close ends everything within the limits; the lock goes last, so that no
// other server begins while this one still writes.
func (e *embeddedFile) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), e.writer.options.Limits.served())
	defer cancel()
	return errors.Join(e.writer.close(ctx), e.short.close(ctx), e.long.close(ctx), e.lock.close())
}
