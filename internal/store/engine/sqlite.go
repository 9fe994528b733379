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

	"modernc.org/sqlite"

	"landfall/internal/lib/filelock"
)

func init() { sqlite.RegisterConnectionHook(keepLog) } //nolint:gochecknoinits // the driver has no other place for it

// keepLog keeps the files -wal and -shm when the last connection closes. SQLite
// cannot read a database without them, and on a full disk it could not create
// them again.
func keepLog(conn sqlite.ExecQuerierContext, _ string) error {
	_, err := conn.(sqlite.FileControl).FileControlPersistWAL("main", 1) //nolint:forcetypeassert // the driver's connections have it
	return err
}

// sqliteFile is the file name of a SQLite database.
type sqliteFile string

// display returns the name for logs. It contains no secret.
func (f sqliteFile) display() string { return "sqlite:" + string(f) }

// hasPassword is false: a file needs none.
func (f sqliteFile) masked(string) string { return f.display() }

func (sqliteFile) hasPassword() bool { return false }

// withPassword refuses a password: it was meant for another database.
func (sqliteFile) withPassword(string) (string, error) {
	return "", errors.New("a database password is set, but setting database names a SQLite file, which takes none")
}

// sqliteDB has one writer and two pools of readers on one file.
type sqliteDB struct {
	file   string
	lock   *fileLock
	writer *sqliteWriter
	reads  *readPool // for views
	lists  *readPool // for lists, which clients may read slowly
}

// open creates the file if allowed, locks it for a server, brings its schema up
// to date and opens the connections, in this order: no other process may change
// the schema while a server runs.
func (f sqliteFile) open(ctx context.Context, options Options) (_ backend, err error) {
	if err := f.prepare(ctx, options.ApplySchema); err != nil {
		return nil, err
	}
	e := &sqliteDB{file: string(f)}
	defer func() {
		if err != nil {
			_ = e.lock.close() // the first error counts
		}
	}()
	if options.Server {
		if e.lock, err = lockFile(ctx, string(f), lockServing); err != nil {
			return nil, err
		}
	}
	if err := f.upgrade(ctx, options, e.lock != nil); err != nil {
		return nil, err
	}
	first, err := f.connect(ctx, options, readWriteAccess)
	if err != nil {
		return nil, fileError(string(f), err)
	}
	e.writer = newSQLiteWriter(options, func(ctx context.Context) (*sqliteConn, error) { return f.connect(ctx, options, readWriteAccess) }, first)
	read := func(ctx context.Context) (*sqliteConn, error) { return f.connect(ctx, options, readOnlyAccess) }
	e.reads = newReadPool(max(4, 2*runtime.GOMAXPROCS(0)), options, read)
	e.lists = newReadPool(8, options, read)
	return e, nil
}

// prepare creates the file, if allowed, readable by its owner only; SQLite gives
// its other files the same mode. A file that is no database is not changed, nor
// is its mode.
func (f sqliteFile) prepare(ctx context.Context, create bool) error {
	path := string(f)
	// Only a file that does not exist is opened here: closing an existing one
	// would release the locks that this process may hold on it.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot create the folder of the database: %w", err)
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			return nil // another process created it
		}
		if err != nil {
			return fmt.Errorf("cannot create the database: %w", err)
		}
		return errors.Join(file.Close(), filelock.GiveToOwnerOf(filepath.Dir(path), path))
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database %s; create it with 'landfall schema apply'", path)
	case err != nil || info.IsDir():
		return fileError(path, err)
	}
	if info.Size() > 0 {
		if err := f.checkFormat(ctx); err != nil {
			return err
		}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(path, 0o600)
	}
	return nil
}

// checkFormat reads a file to see whether it is a database.
func (f sqliteFile) checkFormat(ctx context.Context) error {
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
	var version int // of nothing; reading it does not parse the schema
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		if err = sqliteDialect.wrap(err); errorCode(err) == sqliteNoDB {
			return fileError(path, err)
		}
	}
	return nil // opening it for writing finds other errors again
}

// access is what a connection may do.
type access bool

const (
	readOnlyAccess  access = false
	readWriteAccess access = true
)

// address returns the file's URL with the settings of every connection.
func (f sqliteFile) address(options Options, may access) (string, error) {
	path, err := filepath.Abs(string(f))
	if err != nil {
		return "", err
	}
	pragmas := []string{
		"busy_timeout(" + strconv.FormatInt(options.Limits.Lock.Milliseconds(), 10) + ")",
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"trusted_schema(OFF)", "cell_size_check(ON)", "mmap_size(0)",
		// The log stays when the last connection closes (see keepLog). With a
		// limit it is emptied then.
		"journal_size_limit(67108864)",
	}
	if may == readWriteAccess {
		// Keep what a savepoint would restore in memory; a temporary file costs a
		// system call for every page that a batch changes.
		pragmas = append(pragmas, "cache_size(-65536)", "wal_autocheckpoint(2000)", "temp_store(MEMORY)")
	} else {
		pragmas = append(pragmas, "query_only(ON)")
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return address.String(), nil
}

// connect opens one connection. database/sql may not open a second one, because a
// transaction belongs to the connection it began on.
func (f sqliteFile) connect(ctx context.Context, options Options, may access) (_ *sqliteConn, err error) {
	address, err := f.address(options, may)
	if err != nil {
		return nil, err
	}
	h := &sqliteConn{prepared: map[string]*sql.Stmt{}}
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

// view reads on a snapshot.
func (e *sqliteDB) view(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return e.reads.view(ctx, tenant, fn)
}

// stream has connections of its own, so that slow readers of lists do not block
// other reads.
func (e *sqliteDB) stream(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return e.lists.view(ctx, tenant, fn)
}

func (e *sqliteDB) start(q *queue) { go e.writer.run(q) }

// concurrency has no limits besides the one writer.
func (e *sqliteDB) concurrency() concurrency {
	return concurrency{calls: MaxBatch, batches: 1 << 20, groups: MaxBatch, groupBatches: 1 << 20, lockWaits: 1 << 20, updates: 1 << 20}
}

// embedded is true: one server uses the file.
func (e *sqliteDB) embedded() bool { return true }

// close closes everything within the limits. The lock is last, so that no other
// server starts while this one still writes.
func (e *sqliteDB) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), e.writer.options.Limits.served())
	defer cancel()
	return errors.Join(e.writer.close(ctx), e.reads.close(ctx), e.lists.close(ctx), e.lock.close())
}
