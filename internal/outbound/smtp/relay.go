// Package relay hands messages to a mail server by SMTP (RFC 5321) and says
// exactly what became of each: taken, refused for good, put off, or unanswered.
// It knows nothing of accounts, and trusts the server with nothing but the mail:
// every exchange has a time limit and every answer a length limit.
package smtp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Mode says how the line to the server is protected.
type Mode string

// The modes. There is none that does without protection when the server offers
// none: that is what somebody on the line would let it look like.
const (
	StartTLS Mode = "starttls" // begins in the clear and insists on protection
	TLS      Mode = "tls"      // protected from the first byte
	Plain    Mode = "none"     // for a server on the same machine alone
)

// ports are where such servers listen unless somebody says otherwise.
var ports = map[Mode]string{StartTLS: "587", TLS: "465", Plain: "25"}

// Options say where the server is and who we are.
type Options struct {
	Server   string // HOST or HOST:PORT
	Mode     Mode
	Roots    *x509.CertPool // nil: those of the system
	User     string         // "" when the server wants nobody's name
	Password string
	Hello    string        // what we call ourselves; "" is localhost
	Timeout  time.Duration // of each exchange
	Final    time.Duration // of the answer to a whole message, which servers take long to give
}

// Relay is a mail server that takes messages.
type Relay struct {
	options Options
	host    string
	address string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// New checks the options. Nothing is sent yet.
func New(options Options) (*Relay, error) {
	host, port, err := Split(options.Server, options.Mode)
	if err != nil {
		return nil, err
	}
	if options.Mode == Plain && !onThisMachine(host) {
		return nil, errors.New("without TLS the mail server must be on this machine: localhost, 127.0.0.1 or ::1")
	}
	if options.User != "" && options.Mode == Plain {
		return nil, errors.New("a password is not sent over a line without TLS")
	}
	if (options.User == "") != (options.Password == "") {
		return nil, errors.New("a user needs a password, and a password a user")
	}
	if strings.ContainsAny(options.User+options.Password, "\x00\r\n") {
		return nil, errors.New("a user or password does not hold line breaks")
	}
	if options.Timeout <= 0 || options.Final <= 0 {
		return nil, errors.New("an exchange needs a time limit")
	}
	if options.Hello == "" {
		options.Hello = "localhost"
	}
	dialer := &net.Dialer{Timeout: options.Timeout}
	return &Relay{options: options, host: host, address: net.JoinHostPort(host, port), dial: dialer.DialContext}, nil
}

// Split reads HOST or HOST:PORT; the port is the mode's own by default.
func Split(server string, mode Mode) (host, port string, err error) {
	port, known := ports[mode]
	if !known {
		return "", "", fmt.Errorf("want %s, %s or %s", StartTLS, TLS, Plain)
	}
	host = strings.Trim(server, "[]")
	if named, numbered, err := net.SplitHostPort(server); err == nil {
		host, port = named, numbered
	}
	// Names of services differ from machine to machine: a port is a number.
	number, err := strconv.ParseUint(port, 10, 16)
	if net.ParseIP(host) == nil && !validHost(host) || err != nil || number == 0 {
		return "", "", errors.New("want a mail server such as smtp.example.com or smtp.example.com:587")
	}
	return host, port, nil
}

// validHost lets nothing through that would end a line of the protocol.
func validHost(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// onThisMachine says where a password may travel unprotected: it never leaves.
func onThisMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// Connect opens a session: greeting, protection, name and password.
func (r *Relay) Connect(ctx context.Context) (*Session, error) {
	connection, err := r.dial(ctx, "tcp", r.address)
	if err != nil {
		return nil, &Failure{Stage: Connecting, Cause: err}
	}
	if r.options.Mode == Plain {
		// A name that means this machine today may mean another tomorrow.
		if remote, ok := connection.RemoteAddr().(*net.TCPAddr); !ok || !remote.IP.IsLoopback() {
			_ = connection.Close() // nothing was said over it
			return nil, &Failure{Stage: Connecting, Cause: errors.New("the mail server is not on this machine, and TLS is off")}
		}
	}
	session := &Session{relay: r}
	if err := session.open(ctx, connection); err != nil {
		session.end()
		return nil, err
	}
	return session, nil
}

// tls names the server that was configured, so that its certificate is checked
// against what the operator typed and not against what answered.
func (r *Relay) tls() *tls.Config {
	return &tls.Config{ServerName: r.host, RootCAs: r.options.Roots, MinVersion: tls.VersionTLS12}
}
