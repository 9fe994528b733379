package engine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// connectError says in one sentence why a server cannot be used, without
// secrets. Errors that may pass by themselves are ErrUnavailable.
func connectError(err error) error {
	reason, passes := connectReason(err)
	switch {
	case reason == "":
		return fmt.Errorf("cannot connect to the PostgreSQL server: %w", postgresDialect.wrap(err))
	case passes:
		return fmt.Errorf("%w: %s", ErrUnavailable, reason)
	}
	return errors.New(reason)
}

// connectReason says why a connection could not be opened, and whether waiting
// may help. It returns "" if it does not know.
func connectReason(err error) (reason string, passes bool) {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "55000":
			return "the database takes no connections (see ALLOW_CONNECTIONS of ALTER DATABASE)", false
		case "28P01", "28000", "3D000":
			return PostgresWords[refused.Code], false
		case "53300", "57P03", "57P01", "57P02":
			return PostgresWords[refused.Code], true
		}
		return "", false
	}
	var name *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		return "the name of the PostgreSQL server's host does not resolve", true
	case errors.As(err, &host):
		return "the PostgreSQL server's certificate is for another host", false
	case errors.As(err, &authority), errors.As(err, &certificate):
		return "the PostgreSQL server's certificate is not trusted (see sslrootcert)", false
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no PostgreSQL server listens there (connection refused)", true
	case errors.Is(err, os.ErrNotExist):
		return "there is no such socket of a PostgreSQL server", true
	case errors.Is(err, os.ErrPermission):
		return "this user may not open the PostgreSQL server's socket", false
	case timedOut(err):
		return "the PostgreSQL server does not answer", true
	case strings.Contains(err.Error(), "server refused TLS connection"): // the driver has no type for it
		return "the PostgreSQL server offers no TLS, which sslmode asks for", false
	}
	return "", false
}

// fileError says in one sentence why a SQLite file cannot be used.
func fileError(path string, err error) error {
	info, stat := os.Stat(path)
	switch {
	case stat == nil && info.IsDir():
		return fmt.Errorf("%s is a directory, not a SQLite file", path)
	case errorCode(err) == sqliteNoDB:
		return fmt.Errorf("%s is not a SQLite database; it was not changed", path)
	case errors.Is(err, os.ErrPermission), errors.Is(stat, os.ErrPermission), denied(path), denied(filepath.Dir(path)):
		return fmt.Errorf("cannot open %s: permission denied for user %s, who must be able to write the file and its folder", path, userName())
	}
	return fmt.Errorf("cannot use %s: %w", path, err)
}

// userName returns the name of the user of this process, or its number.
func userName() string {
	if me, err := user.Current(); err == nil {
		return me.Username
	}
	return strconv.Itoa(os.Getuid())
}

// notConnected is the fault of a connection that could not be opened, with the
// reason.
func notConnected(err error) error {
	wrapped := postgresDialect.wrap(err)
	if fault, ok := errors.AsType[*Fault](wrapped); ok {
		fault.reason, _ = connectReason(err)
	}
	return wrapped
}
