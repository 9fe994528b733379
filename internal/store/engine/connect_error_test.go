package engine

import (
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"landfall/internal/test/pgtest"
)

// TestConnectErrorsNameTheCause opens databases that cannot be used. Each error
// names the problem in a sentence and contains no secret, and only errors that
// may pass by themselves are ErrUnavailable.
func TestConnectErrorsNameTheCause(t *testing.T) {
	server, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*url.URL)) string {
		other := *server
		change(&other)
		return other.String()
	}
	const secret = "hunter2"
	folder := t.TempDir()
	text, link := filepath.Join(folder, "text"), filepath.Join(folder, "db")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(text, link+".lock"); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	closed, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	beside, err := pgx.Connect(t.Context(), server.String())
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close(t.Context())
	if _, err := beside.Exec(t.Context(), `ALTER DATABASE "`+strings.TrimPrefix(closed.Path, "/")+`" ALLOW_CONNECTIONS false`); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		database, says string
		passes         bool
	}{
		"password":  {with(func(u *url.URL) { u.User = url.UserPassword("postgres", secret) }), "user and password", false},
		"database":  {with(func(u *url.URL) { u.Path = "/nowhere" }), "no database of this name", false},
		"closed":    {closed.String(), "takes no connections", false},
		"host":      {with(func(u *url.URL) { u.Host = "no.such.host.invalid:5432"; u.User = url.UserPassword("u", secret) }), "does not resolve", true},
		"refused":   {with(func(u *url.URL) { u.Host = nobody; u.User = url.UserPassword("u", secret) }), "connection refused", true},
		"TLS":       {with(func(u *url.URL) { u.RawQuery = "sslmode=require" }), "offers no TLS", false},
		"socket":    {"postgres:///x?host=" + folder, "no such socket", true},
		"no SQLite": {text, "not a SQLite database", false},
		"a folder":  {folder, "is a directory", false},
		"a link":    {link, "is a symbolic link", false},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(c.database)
			if err != nil {
				t.Fatal(err)
			}
			db, err := Open(t.Context(), parsed, Options{Steps: steps, ApplySchema: true, Server: true, Limits: shortLimits})
			if err == nil {
				db.Close()
				t.Fatal("the database was opened")
			}
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
				t.Errorf("it says %q", err)
			}
			if errors.Is(err, ErrUnavailable) != c.passes {
				t.Errorf("%q may pass: %v", err, errors.Is(err, ErrUnavailable))
			}
		})
	}
	if kept, err := os.ReadFile(text); err != nil || !strings.HasPrefix(string(kept), "no database") {
		t.Errorf("the foreign file holds %.20q, %v", kept, err)
	}
	if info, err := os.Stat(text); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the foreign file has mode %v, %v", info, err)
	}
}

// codedError is an error of SQLite with a code.
type codedError int

func (c codedError) Error() string { return "a text that may contain data" }
func (c codedError) Code() int     { return int(c) }

// TestFaultsSayWhatACodeMeans wraps errors of both databases.
func TestFaultsSayWhatACodeMeans(t *testing.T) {
	for err, want := range map[error]string{
		sqliteDialect.wrap(codedError(13)):                                                         "database unavailable: the disk is full (code 13)",
		sqliteDialect.wrap(codedError(4874)):                                                       "database unavailable: the disk is full (code 4874)",
		sqliteDialect.wrap(codedError(8)):                                                          "database unavailable: the file or its file system is read only (code 8)",
		sqliteDialect.wrap(codedError(266)):                                                        "database unavailable: the disk reports an error (code 266)",
		postgresDialect.wrap(&pgconn.PgError{Code: "53100", Message: "secret"}):                    "database unavailable: the disk of the server is full (code 53100)",
		postgresDialect.wrap(&pgconn.PgError{Code: "XX000", Message: "could not write init file"}): "database unavailable: the disk of the server is full (code 53100)",
		postgresDialect.wrap(&pgconn.PgError{Code: "XX000", Message: "secret"}):                    "database error: the server reports an internal error (see its log) (code XX000)",
		postgresDialect.wrap(&pgconn.PgError{Code: "42501"}):                                       "database error: the role lacks a permission: it must own the tables, and may create tables in the schema (code 42501)",
		postgresDialect.wrap(&pgconn.PgError{Code: "22012", Message: "secret"}):                    "database error (code 22012)",
	} {
		if err.Error() != want {
			t.Errorf("it says %q instead of %q", err, want)
		}
	}
}

// TestNames parses names of databases and formats them without secrets.
func TestNames(t *testing.T) {
	for given, want := range map[string]struct{ file, shown string }{
		"x.db":                {"x.db", "sqlite:x.db"},
		"sqlite:x.db":         {"x.db", "sqlite:x.db"},
		"sqlite://x.db":       {"x.db", "sqlite:x.db"},
		"sqlite:///srv/x.db":  {"/srv/x.db", "sqlite:/srv/x.db"},
		"a=b.db":              {"a=b.db", "sqlite:a=b.db"},
		"postgres://u:p@h/d":  {"", "postgres://u@h/d"},
		"postgres://h:6432/d": {"", "postgres://" + me() + "h:6432/d"},
		"postgresql:///d?user=u&host=/run/pg&password=p":       {"", "postgres://u@/d?host=/run/pg"},
		"postgres://u:p@%2Frun%2Fpg:6432/d?sslmode=disable":    {"", "postgres://u@/d?host=/run/pg&port=6432"},
		"application_name=x password=p host=h dbname=d user=u": {"", "postgres://u@h/d"},
		"host=h dbname=d user=u password=p":                    {"", "postgres://u@h/d"},
	} {
		name, err := Parse(given)
		if err != nil || name.File() != want.file || name.String() != want.shown {
			t.Errorf("%s: file %q, shown %q, %v", given, name.File(), name.String(), err)
		}
	}
}

// TestUnescapedPasswordIsNotShownAsHost uses passwords with an unescaped @ or
// slash. The driver takes the text after the first @ for the host, and hosts
// are shown.
func TestUnescapedPasswordIsNotShownAsHost(t *testing.T) {
	for _, given := range []string{"postgres://u:hu@nter2@h/d", "postgres://u:hu@nter2@h:5432/d", "postgres://u:hu/nter2@h/d"} {
		if name, err := Parse(given); err == nil || strings.Contains(err.Error(), "nter2") {
			t.Errorf("%s: shown %s, %v", given, name, err)
		}
	}
}

// me returns the user that the driver assumes when the name has none, as it is
// shown before the host.
func me() string {
	name, err := Parse("postgres://h/d")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(name.String(), "postgres://"), "h/d")
}

// TestSweepUsesDatabaseClock sorts fresh marks of a replica whose clock is slow
// before old ones. The old ones must be deleted all the same.
func TestSweepUsesDatabaseClock(t *testing.T) {
	for _, server := range []string{tempFile(t), pgtest.URL(t)} {
		r := openTest(t, server, Options{})
		const each = sweepBatch + 200
		err := r.Update(t.Context(), "t", func(tx *Tx) error {
			for i := range 2 * each {
				m := newMark()
				age := int64(3600_000_000)
				if i < each { // from a clock that is a year slow
					age = 0
					m[0] = 0
				}
				if _, err := tx.Exec(t.Context(), `INSERT INTO commit_mark (id, at, void, step) VALUES ($1, {now} - $2, FALSE, 1)`, m[:], age); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.DeleteOldMarks(t.Context()); err != nil {
			t.Fatal(err)
		}
		var old, all int
		if err := r.View(t.Context(), "", func(tx *Tx) error {
			return tx.One(t.Context(), `SELECT count(*), sum(CASE WHEN at < {now} - 900000000 THEN 1 ELSE 0 END) FROM commit_mark`,
				nil, []any{&all, &old})
		}); err != nil {
			t.Fatal(err)
		}
		if old != 0 || all < each {
			t.Errorf("%d old events are left of %d", old, all)
		}
	}
}
