package engine

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pressly/goose/v3"
)

// upgrade brings the file's schema up to date, or refuses the file. The first
// connections to a new file switch it to WAL. SQLite does not wait while another
// connection does the same but reports at once that the file is busy, so
// upgrade tries again for as long as it would wait for a lock.
func (f sqliteFile) upgrade(ctx context.Context, options Options, locked bool) error {
	until := time.Now().Add(options.Limits.Lock)
	for {
		err := f.upgradeOnce(ctx, options, locked)
		var fault *Fault
		if !errors.As(err, &fault) || fault.code != sqliteBusy || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPause):
		}
	}
}

// busyPause is the pause before upgrade tries a busy file again.
const busyPause = 10 * time.Millisecond

func (f sqliteFile) upgradeOnce(ctx context.Context, options Options, locked bool) error {
	s, err := f.schema(ctx, options, options.ApplySchema)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // it only read, or has committed
	if locked {
		// The server already holds the lock.
		s.lock = func(context.Context) (func() error, error) { return func() error { return nil }, nil }
	}
	return s.upgrade(ctx, options.ApplySchema)
}

func (f sqliteFile) schema(ctx context.Context, options Options, create bool) (*schema, error) {
	if err := f.prepare(ctx, create); err != nil {
		return nil, err
	}
	address, err := f.address(options, readWriteAccess)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", address+"&_txlock=immediate")
	if err != nil {
		return nil, sqliteDialect.wrap(err)
	}
	db.SetMaxOpenConns(1)
	options.BeforeSteps = nil
	return newSchema(sqliteDialect, goose.DialectSQLite3, options, db, func(ctx context.Context) (func() error, error) {
		lock, err := lockFile(ctx, string(f), lockSchemaChange)
		if err != nil {
			return nil, err
		}
		return lock.close, nil
	})
}
