package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Name identifies a database. Parse returns it.
type Name struct{ target target }

// target is a database of one kind.
type target interface {
	open(ctx context.Context, options Options) (backend, error)
	schema(ctx context.Context, options Options, create bool) (*schema, error)
	transferEnd(ctx context.Context, s *schema) (transferEnd, error)
	display() string
	masked(mask string) string
	hasPassword() bool
	withPassword(password string) (string, error)
}

// File returns the file of a SQLite database, or "".
func (n Name) File() string {
	if file, ok := n.target.(sqliteFile); ok {
		return string(file)
	}
	return ""
}

// String returns the name without secrets.
func (n Name) String() string {
	if n.target == nil {
		return ""
	}
	return n.target.display()
}

// Masked returns the whole text of the name with a mask in place of passwords.
func (n Name) Masked(mask string) string { return n.target.masked(mask) }

// HasPassword reports whether the name contains a password.
func (n Name) HasPassword() bool { return n.target != nil && n.target.hasPassword() }

// WithPassword returns the text of the name with a password. It refuses a second
// password, and one for a database that takes none.
func (n Name) WithPassword(password string) (string, error) { return n.target.withPassword(password) }

// keywords match a PostgreSQL connection string that is not a URL, by its first
// keyword or by a password, which must not be taken for a file name and shown.
var keywords = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|service|sslmode)\s*=|password\s*=`)

// Parse reads a database's name: sqlite:FILE, sqlite://FILE, a bare file name,
// postgres://… or PostgreSQL's "host=… dbname=…". Its errors never repeat the
// text, because that may contain a password.
func Parse(text string) (Name, error) {
	parsed, err := parse(text)
	return Name{parsed}, err
}

func parse(text string) (target, error) {
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case text == "":
		return nil, errors.New("the database has no name: use sqlite:FILE or postgres://…")
	case found && scheme == "sqlite":
		return parseFile(strings.TrimPrefix(rest, "//"))
	case found && (scheme == "postgres" || scheme == "postgresql"):
		return parsePostgres(text)
	case keywords.MatchString(text):
		return parsePostgres(text)
	case strings.Contains(text, "://"):
		if _, err := url.Parse(scheme + ":"); err != nil {
			scheme = "this"
		}
		return nil, fmt.Errorf("%s is not a supported kind of database: use sqlite:FILE or postgres://…", scheme)
	}
	return parseFile(text)
}

func parseFile(path string) (target, error) {
	switch {
	case path == "" || strings.HasSuffix(path, "/"):
		return nil, errors.New("the SQLite database has no file name: use sqlite:FILE")
	case strings.HasPrefix(path, ":memory:"):
		return nil, errors.New("a database in memory would lose all data: use sqlite:FILE")
	case strings.ContainsAny(path, "?\x00"):
		return nil, errors.New("a SQLite file name must not contain ? and takes no settings")
	}
	return sqliteFile(path), nil
}
