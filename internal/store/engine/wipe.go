package engine

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"landfall/internal/lib/limits"
)

// Wipe rewrites a database's files, so that nothing of deleted rows is left in
// them: on SQLite the whole file and its log, on PostgreSQL the given tables.
// PostgreSQL's log and archives keep their copies until they are removed
// themselves. No other process can write meanwhile.
func Wipe(ctx context.Context, name Name, tables ...string) error {
	if file, ok := name.target.(sqliteFile); ok {
		return wipeFile(ctx, file)
	}
	server, ok := name.target.(*postgresServer)
	if !ok {
		return ErrNoFile
	}
	connection, err := pgx.ConnectConfig(ctx, server.config.Copy())
	if err != nil {
		return postgresDialect.wrap(err)
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }() // the work is done
	if err := waitForReaders(ctx, connection); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := connection.Exec(ctx, "VACUUM FULL "+pgx.Identifier{table}.Sanitize()); err != nil {
			return fmt.Errorf("table %s: %w", table, postgresDialect.wrap(err))
		}
	}
	return nil
}

// maxReaderWait is how long Wipe waits for older readers.
const maxReaderWait = 30 * time.Second

// waitForReaders waits until no transaction can still see deleted rows, because
// those would be copied into the new files.
func waitForReaders(ctx context.Context, connection *pgx.Conn) error {
	var current string
	if err := connection.QueryRow(ctx, `SELECT pg_current_xact_id()::xid::text`).Scan(&current); err != nil {
		return postgresDialect.wrap(err)
	}
	for end := time.Now().Add(maxReaderWait); ; {
		var seen bool
		if err := connection.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND
				greatest(age(backend_xmin), age(backend_xid)) > age(CAST($1::text AS xid)))`, current).Scan(&seen); err != nil {
			return postgresDialect.wrap(err)
		}
		if !seen {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("other transactions still see deleted rows; try again when they have ended: %w", ErrUnavailable)
		}
		select {
		case <-time.After(limits.LockFilePoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func wipeFile(ctx context.Context, file sqliteFile) error {
	address, err := file.address(Options{}.withDefaults(), readWriteAccess)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return sqliteDialect.wrap(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, text := range []string{`PRAGMA secure_delete = ON`, `VACUUM`} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return sqliteDialect.wrap(err)
		}
	}
	var busy, frames, done int
	if err := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &done); err != nil {
		return sqliteDialect.wrap(err)
	}
	if busy != 0 {
		return fmt.Errorf("another process is reading the database, so its log cannot be emptied; try again: %w", ErrUnavailable)
	}
	return nil
}
