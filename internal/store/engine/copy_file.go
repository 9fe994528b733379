package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// ErrNoFile means that a database is not a file.
var ErrNoFile = errors.New("this database is not a file")

// CopyFile writes a consistent snapshot of a SQLite database to a file that is
// empty or does not exist. A server may be running; it does not wait. The copy
// contains everything that was committed before it began. The schema does not
// matter, so that a newer program can copy a database before it upgrades it.
func CopyFile(ctx context.Context, name Name, file string) error {
	from, ok := name.target.(sqliteFile)
	if !ok {
		return ErrNoFile
	}
	if err := from.prepare(ctx, false); err != nil {
		return err
	}
	address, err := from.address(Options{}.withDefaults(), readWriteAccess)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return sqliteDialect.wrap(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, file); err != nil {
		return fmt.Errorf("cannot write the copy: %w", sqliteDialect.wrap(err))
	}
	return nil
}

// ExecFile changes exactly one row of a SQLite file whose schema may be older than
// this program. No other process may have the file open.
func ExecFile(ctx context.Context, file, text string, args ...any) error {
	address, err := sqliteFile(file).address(Options{}.withDefaults(), readWriteAccess)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return sqliteDialect.wrap(err)
	}
	defer db.Close()
	result, err := db.ExecContext(ctx, text, args...)
	if err != nil {
		return sqliteDialect.wrap(err)
	}
	if count, err := result.RowsAffected(); err != nil || count != 1 {
		return fmt.Errorf("%d rows of %s were changed, want 1: %w", count, file, cmp.Or(err, ErrNotFound))
	}
	// The copy is one file, without a log beside it.
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return sqliteDialect.wrap(err)
}

// CheckIntegrity reads a whole SQLite file and reports damage. It changes nothing.
// No other process may have the file open.
func CheckIntegrity(ctx context.Context, file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&immutable=1"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return sqliteDialect.wrap(err)
	}
	defer db.Close()
	for _, question := range []string{`PRAGMA integrity_check(5)`, `SELECT "table" FROM pragma_foreign_key_check LIMIT 5`} {
		said, err := queryStrings(ctx, db, question)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", file, sqliteDialect.wrap(err))
		}
		if len(said) > 0 && said[0] != "ok" {
			return fmt.Errorf("%s is damaged: %s", file, strings.Join(said, "; "))
		}
	}
	return nil
}

// queryStrings returns the rows of a query with one column.
func queryStrings(ctx context.Context, db *sql.DB, question string) (found []string, err error) {
	rows, err := db.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}
