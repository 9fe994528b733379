package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// target is a database somebody named.
type target interface {
	open(ctx context.Context, options Options) (engine, error)
	schema(options Options) (*schema, error)
}

// parse reads a database's name. Its errors never repeat what was given, since
// that may hold a password.
func parse(text string) (target, error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case text == "":
		return nil, errors.New("the database has no name: use sqlite:FILE or postgres://…")
	case found && scheme == "sqlite":
		return parseFile(strings.TrimPrefix(rest, "//"))
	case found && (scheme == "postgres" || scheme == "postgresql"):
		return parsePostgres(text)
	case strings.Contains(text, "://"):
		if _, err := url.Parse(scheme + ":"); err != nil {
			scheme = "this"
		}
		return nil, fmt.Errorf("%s is no kind of database we know: use sqlite:FILE or postgres://…", scheme)
	}
	return parseFile(text)
}

func parseFile(path string) (target, error) {
	switch {
	case path == "" || strings.HasSuffix(path, "/"):
		return nil, errors.New("the SQLite database has no file name: use sqlite:FILE")
	case strings.HasPrefix(path, ":memory:"):
		return nil, errors.New("a database in memory would forget answered writes: use sqlite:FILE")
	case strings.ContainsAny(path, "?\x00"):
		return nil, errors.New("a SQLite file name holds no ? and takes no settings")
	}
	return sqliteFile(path), nil
}
