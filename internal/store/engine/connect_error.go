package engine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// connectError says in one sentence why a server cannot be used, without
// secrets. Errors that may pass by themselves are ErrUnavailable.
func connectError(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "28P01":
			return errors.New("the PostgreSQL server does not accept this user and password")
		case "28000":
			return errors.New("the PostgreSQL server does not accept this user from this host, or not without TLS (see its pg_hba.conf)")
		case "3D000":
			return errors.New("the PostgreSQL server has no database of this name")
		case "55000":
			return errors.New("the database takes no connections (see ALLOW_CONNECTIONS of ALTER DATABASE)")
		case "53300":
			return fmt.Errorf("%w: the PostgreSQL server has no connection left", ErrUnavailable)
		case "57P03", "57P01", "57P02":
			return fmt.Errorf("%w: the PostgreSQL server is starting or stopping", ErrUnavailable)
		}
		wrapped := postgresDialect.wrap(err)
		return fmt.Errorf("the PostgreSQL server refuses the connection: %w", wrapped)
	}
	var name *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		return fmt.Errorf("%w: the name of the PostgreSQL server's host does not resolve", ErrUnavailable)
	case errors.As(err, &host):
		return errors.New("the PostgreSQL server's certificate is for another host")
	case errors.As(err, &authority), errors.As(err, &certificate):
		return errors.New("the PostgreSQL server's certificate is not trusted (see sslrootcert)")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: no PostgreSQL server listens there (connection refused)", ErrUnavailable)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: there is no such socket of a PostgreSQL server", ErrUnavailable)
	case errors.Is(err, os.ErrPermission):
		return errors.New("this user may not open the PostgreSQL server's socket")
	case timedOut(err):
		return fmt.Errorf("%w: the PostgreSQL server does not answer", ErrUnavailable)
	case strings.Contains(err.Error(), "server refused TLS connection"): // the driver has no type for it
		return errors.New("the PostgreSQL server offers no TLS, which sslmode asks for")
	}
	return fmt.Errorf("cannot connect to the PostgreSQL server: %w", postgresDialect.wrap(err))
}

// fileError says in one sentence why a SQLite file cannot be used.
func fileError(path string, err error) error {
	info, stat := os.Stat(path)
	switch {
	case stat == nil && info.IsDir():
		return fmt.Errorf("%s is a directory, not a SQLite file", path)
	case errors.Is(err, os.ErrPermission) || errors.Is(stat, os.ErrPermission):
		return fmt.Errorf("this user may not read and write %s", path)
	case errorCode(err) == sqliteNoDB:
		return fmt.Errorf("%s is not a SQLite database; it was not changed", path)
	case errorCode(err) == sqliteCant:
		return fmt.Errorf("cannot open %s: check that this user may write it and its folder: %w", path, err)
	}
	return fmt.Errorf("cannot use %s: %w", path, err)
}
