package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// ErrNoFile says that a database is no file that could be copied.
var ErrNoFile = errors.New("this database is no file")

// Copy writes one consistent snapshot of a SQLite database into a file that is
// empty or not there yet, beside whoever serves it: nobody waits for it, and
// all that was committed before it began is in it. The schema does not matter,
// so that a newer program can copy what it is about to bring up to date.
func Copy(ctx context.Context, name Name, file string) error {
	from, ok := name.target.(sqliteFile)
	if !ok {
		return ErrNoFile
	}
	if err := from.prepare(ctx, false); err != nil {
		return err
	}
	address, err := from.address(Options{}.withDefaults(), writing)
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

// Sound reads a whole SQLite file and says what is wrong with it. It changes
// nothing, and nobody else may have it open.
func Sound(ctx context.Context, file string) error {
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
		said, err := answers(ctx, db, question)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", file, sqliteDialect.wrap(err))
		}
		if len(said) > 0 && said[0] != "ok" {
			return fmt.Errorf("%s is damaged: %s", file, strings.Join(said, "; "))
		}
	}
	return nil
}

// answers gives the rows of a question that has one column.
func answers(ctx context.Context, db *sql.DB, question string) (said []string, err error) {
	rows, err := db.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		said = append(said, line)
	}
	return said, rows.Err()
}
