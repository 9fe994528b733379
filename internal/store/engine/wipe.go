package engine

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Wipe writes a database's files anew, so that nothing is left in them of rows
// that are gone. On SQLite that is the whole file and its log; on PostgreSQL
// the tables named, whose old files are removed: what its log and its archives
// still have goes when they do. Nobody else can write meanwhile.
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
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }() // its work is done
	if err := outwait(ctx, connection); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := connection.Exec(ctx, "VACUUM FULL "+pgx.Identifier{table}.Sanitize()); err != nil {
			return fmt.Errorf("table %s: %w", table, postgresDialect.wrap(err))
		}
	}
	return nil
}

// longestReader is how long a wipe waits for those who read since before it.
const longestReader = 30 * time.Second

// outwait waits until nobody can see any more what was there before: rows that
// somebody still sees would be written into the new files.
func outwait(ctx context.Context, connection *pgx.Conn) error {
	var mark string
	if err := connection.QueryRow(ctx, `SELECT pg_current_xact_id()::xid::text`).Scan(&mark); err != nil {
		return postgresDialect.wrap(err)
	}
	for end := time.Now().Add(longestReader); ; {
		var seen bool
		if err := connection.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND
				greatest(age(backend_xmin), age(backend_xid)) > age(CAST($1::text AS xid)))`, mark).Scan(&seen); err != nil {
			return postgresDialect.wrap(err)
		}
		if !seen {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("somebody still reads what was there before; try again when long transactions have ended: %w", ErrUnavailable)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func wipeFile(ctx context.Context, file sqliteFile) error {
	address, err := file.address(Options{}.withDefaults(), writing)
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
		return fmt.Errorf("somebody reads the database and keeps its log from being emptied; try again: %w", ErrUnavailable)
	}
	return nil
}
