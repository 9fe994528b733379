package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"landfall/internal/lib/limits"
)

// Wipe rewrites a database's files, so that nothing of deleted rows is left in
// them: on SQLite the whole file and its log, on PostgreSQL the given tables and
// what the planner knows about them. PostgreSQL's log and archives keep their copies
// until they are removed themselves. No other process can write meanwhile.
func Wipe(ctx context.Context, name Name, tables ...string) error {
	if file, ok := name.target.(sqliteFile); ok {
		return wipeFile(ctx, file)
	}
	server, ok := name.target.(*postgresServer)
	if !ok {
		return ErrNoFile
	}
	w := &wiper{}
	config := server.config.Copy()
	// The server skips a table of another owner, and only warns.
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		if notice.SeverityUnlocalized == "WARNING" {
			w.warnings = append(w.warnings, notice.Message)
		}
	}
	connection, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return postgresDialect.wrap(err)
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }() // the work is done
	w.connection = connection
	// While a statement waits for the lock of a table, nobody else gets one.
	if _, err := connection.Exec(ctx, "SET lock_timeout = '1s'"); err != nil {
		return postgresDialect.wrap(err)
	}
	var now string
	if err := connection.QueryRow(ctx, `SELECT pg_current_xact_id()::xid::text`).Scan(&now); err != nil {
		return postgresDialect.wrap(err)
	}
	if err := waitForReaders(ctx, connection, now); err != nil {
		return err
	}
	for _, table := range tables {
		if err := w.run(ctx, "VACUUM FULL", pgx.Identifier{table}); err != nil {
			return err
		}
	}
	// The planner keeps samples of the columns.
	for _, table := range tables {
		if err := w.run(ctx, "ANALYZE", pgx.Identifier{table}); err != nil {
			return err
		}
	}
	if err := w.run(ctx, "VACUUM FULL", pgx.Identifier{"pg_catalog", "pg_statistic"}); err != nil {
		return err
	}
	// A standby may have reported an old reader in the meantime.
	blockers, err := findBlockers(ctx, connection, now)
	if err == nil && len(blockers) > 0 {
		err = errStillSeen(blockers)
	}
	return err
}

// wiper rewrites tables of PostgreSQL.
type wiper struct {
	connection *pgx.Conn
	warnings   []string
}

// run runs a statement on a table once nobody else uses the table.
func (w *wiper) run(ctx context.Context, statement string, table pgx.Identifier) error {
	name := strings.Join(table, ".")
	var held error
	for end := time.Now().Add(maxReaderWait); ; {
		w.warnings = nil
		_, err := w.connection.Exec(ctx, statement+" "+table.Sanitize())
		switch {
		case err == nil && len(w.warnings) == 0:
			return nil
		case err == nil:
			return fmt.Errorf("table %s: %s was not possible: %s. Run it as the owner of the tables and of the database", name, statement, strings.Join(w.warnings, "; "))
		}
		var holders []string
		if err = postgresDialect.wrap(err); errorCode(err) == codeLockTimeout {
			holders, err = w.findHolders(ctx, table)
		}
		switch {
		case err != nil && ctx.Err() != nil && held != nil: // interrupted while it tried again
			return errors.Join(held, ctx.Err())
		case err != nil:
			return fmt.Errorf("table %s: %w", name, err)
		}
		if held = heldUpError("table " + name + " is in use by " + joinFew(holders) + ": end these and try again"); time.Now().After(end) {
			return held
		}
		select {
		case <-time.After(limits.LockFilePoll):
		case <-ctx.Done():
			return errors.Join(held, ctx.Err())
		}
	}
}

// findHolders names the transactions that have locked a table.
func (w *wiper) findHolders(ctx context.Context, table pgx.Identifier) ([]string, error) {
	return collectTexts(ctx, w.connection, `SELECT DISTINCT coalesce(`+openTransaction+`, 'a prepared transaction')
		FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.relation = to_regclass($1::text) AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()`, table.Sanitize())
}

// heldUpError says what a wipe waits for.
type heldUpError string

func (e heldUpError) Error() string { return string(e) }
func (e heldUpError) Unwrap() error { return ErrUnavailable }

// maxReaderWait is how long Wipe waits for older readers, and for the lock of a table.
const maxReaderWait = 30 * time.Second

// maxBlockers is how many of them an error names.
const maxBlockers = 5

// waitForReaders waits until nobody on the server can see rows that were deleted
// before a transaction id: such rows would be copied into the new files.
func waitForReaders(ctx context.Context, connection *pgx.Conn, before string) error {
	var blockers []string
	for end := time.Now().Add(maxReaderWait); ; {
		found, err := findBlockers(ctx, connection, before)
		switch {
		case err != nil && ctx.Err() != nil && len(blockers) > 0: // interrupted while it asked again
			return errors.Join(errStillSeen(blockers), ctx.Err())
		case err != nil || len(found) == 0:
			return err
		}
		if blockers = found; time.Now().After(end) {
			return errStillSeen(blockers)
		}
		select {
		case <-time.After(limits.LockFilePoll):
		case <-ctx.Done():
			return errors.Join(errStillSeen(blockers), ctx.Err())
		}
	}
}

// errStillSeen says what keeps deleted rows in the files, so that someone can end
// it.
func errStillSeen(blockers []string) error {
	return heldUpError("deleted rows are still visible to " + joinFew(blockers) + ": end these and try again")
}

// joinFew lists the first blockers.
func joinFew(blockers []string) string {
	rest := ""
	if more := len(blockers) - maxBlockers; more > 0 {
		blockers, rest = blockers[:maxBlockers], fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(blockers, "; ") + rest
}

// openTransaction describes the transaction of a row a of pg_stat_activity. Without
// the right pg_read_all_stats the server hides some of it.
const openTransaction = `'a transaction in database ' || coalesce(a.datname, '-') || ' (process ' || a.pid || ', user ' || coalesce(a.usename, '-') ||
	', application ' || coalesce(nullif(a.application_name, ''), '-') || ', open since ' || coalesce(to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), '-') || ' UTC)'`

// findBlockers names everything on the server that can still see rows deleted
// before a transaction id. A transaction of any database counts, because each
// snapshot in ours is as old as the oldest running transaction of the whole
// server. Prepared transactions, replication slots and standbys that report their
// readers are in no list of connections.
func findBlockers(ctx context.Context, connection *pgx.Conn, before string) ([]string, error) {
	return collectTexts(ctx, connection, `
		SELECT `+openTransaction+`
		FROM pg_stat_activity a WHERE a.pid <> pg_backend_pid() AND a.backend_type IS DISTINCT FROM 'walsender' AND
			greatest(age(a.backend_xmin), age(a.backend_xid)) > age(CAST($1::text AS xid))
		UNION ALL SELECT 'prepared transaction ' || p.gid || ' in database ' || p.database || ' (of ' || to_char(p.prepared AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC)'
		FROM pg_prepared_xacts p WHERE age(p.transaction) > age(CAST($1::text AS xid))
		UNION ALL SELECT 'a reader on standby ' || coalesce(nullif(r.application_name, ''), '-') || ' (hot_standby_feedback)'
		FROM pg_stat_replication r WHERE age(r.backend_xmin) > age(CAST($1::text AS xid))
		UNION ALL SELECT 'replication slot ' || s.slot_name
		FROM pg_replication_slots s WHERE age(s.xmin) > age(CAST($1::text AS xid))`, before)
}

// collectTexts returns the first column of a query.
func collectTexts(ctx context.Context, connection *pgx.Conn, text string, args ...any) ([]string, error) {
	rows, err := connection.Query(ctx, text, args...)
	if err != nil {
		return nil, postgresDialect.wrap(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return found, postgresDialect.wrap(err)
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
