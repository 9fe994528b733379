package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Name says which database is meant. Parse is the only reader of such names.
type Name struct{ target target }

// target is a database somebody named.
type target interface {
	open(ctx context.Context, options Options) (machine, error)
	schema(ctx context.Context, options Options, create bool) (*schema, error)
	shown() string
	exposed() bool
	unlocked(password string) (string, error)
}

// File gives the file of a SQLite database, or nothing.
func (n Name) File() string {
	if file, ok := n.target.(sqliteFile); ok {
		return string(file)
	}
	return ""
}

// String gives the name as it may be shown and logged: without secrets.
func (n Name) String() string {
	if n.target == nil {
		return ""
	}
	return n.target.shown()
}

// Exposed says that the name itself has a password in it.
func (n Name) Exposed() bool { return n.target != nil && n.target.exposed() }

// Unlocked gives the name's text with a password put where the driver looks for
// one. A database without passwords and a second password are refused.
func (n Name) Unlocked(password string) (string, error) { return n.target.unlocked(password) }

// keywords begin a connection string of PostgreSQL that is no URL. One that
// begins otherwise is known by its password, which no file name may give away.
var keywords = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|service|sslmode)\s*=|password\s*=`)

// Parse reads a database's name: sqlite:FILE, sqlite://FILE, a bare file name,
// postgres://… or PostgreSQL's "host=… dbname=…". Its errors never repeat what
// was given, since that may hold a password.
func Parse(text string) (Name, error) {
	target, err := parse(text)
	return Name{target}, err
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
