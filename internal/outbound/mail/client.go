package mail

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
	"sync/atomic"
	"time"
)

// TLSMode says how the connection to the server is encrypted.
type TLSMode string

// The modes. There is no opportunistic mode: an attacker on the network could
// remove the server's offer of TLS.
const (
	StartTLS TLSMode = "starttls" // starts unencrypted and requires STARTTLS
	TLS      TLSMode = "tls"      // encrypted from the first byte
	NoTLS    TLSMode = "none"     // only for a server on this machine
)

// defaultPorts are the usual ports of mail servers.
var defaultPorts = map[TLSMode]string{StartTLS: "587", TLS: "465", NoTLS: "25"}

// ClientOptions configures a Client.
type ClientOptions struct {
	Server       string // HOST or HOST:PORT
	Mode         TLSMode
	Roots        *x509.CertPool // nil: the system's
	User         string         // "": no login
	Password     string
	Hello        string        // our host name; "" means localhost
	Timeout      time.Duration // for each reply
	FinalTimeout time.Duration // for the reply to a whole message, which servers take longer for
}

// Client sends messages to one mail server by SMTP (RFC 5321). Every exchange has
// a time limit and every reply a size limit.
type Client struct {
	options  ClientOptions
	password atomic.Pointer[string]
	host     string
	address  string
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewClient checks the options. It does not connect.
func NewClient(options ClientOptions) (*Client, error) {
	host, port, err := SplitServer(options.Server, options.Mode)
	if err != nil {
		return nil, err
	}
	if options.Mode == NoTLS && !isLoopback(host) {
		return nil, errors.New("without TLS the mail server must be on this machine: localhost, 127.0.0.1 or ::1")
	}
	if options.User != "" && options.Mode == NoTLS {
		return nil, errors.New("a login requires TLS")
	}
	if (options.User == "") != (options.Password == "") {
		return nil, errors.New("a login needs both a user and a password")
	}
	if strings.ContainsAny(options.User+options.Password, "\x00\r\n") {
		return nil, errors.New("the user and the password must not contain line breaks")
	}
	if options.Timeout <= 0 || options.FinalTimeout <= 0 {
		return nil, errors.New("timeouts must be positive")
	}
	if options.Hello == "" {
		options.Hello = "localhost"
	}
	dialer := &net.Dialer{Timeout: options.Timeout}
	client := &Client{options: options, host: host, address: net.JoinHostPort(host, port), dial: dialer.DialContext}
	client.SetPassword(options.Password)
	return client, nil
}

// SetPassword sets the password for future connections.
func (c *Client) SetPassword(password string) { c.password.Store(&password) }

// SplitServer parses HOST or HOST:PORT. The default port depends on the mode.
func SplitServer(server string, mode TLSMode) (host, port string, err error) {
	port, known := defaultPorts[mode]
	if !known {
		return "", "", fmt.Errorf("want %s, %s or %s", StartTLS, TLS, NoTLS)
	}
	host = strings.Trim(server, "[]")
	if hostPart, portPart, err := net.SplitHostPort(server); err == nil {
		host, port = hostPart, portPart
	}
	// Only numbers: service names differ between machines.
	number, err := strconv.ParseUint(port, 10, 16)
	if net.ParseIP(host) == nil && !isHostName(host) || err != nil || number == 0 {
		return "", "", errors.New("want a mail server such as smtp.example.com or smtp.example.com:587")
	}
	return host, port, nil
}

// isHostName refuses everything that could break out of a line of the protocol.
func isHostName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// Connect opens a session: greeting, TLS and login.
func (c *Client) Connect(ctx context.Context) (*Session, error) {
	conn, err := c.dial(ctx, "tcp", c.address)
	if err != nil {
		return nil, &SMTPError{Stage: StageConnect, Cause: err}
	}
	if c.options.Mode == NoTLS {
		// The host name may resolve to another machine now.
		if remote, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !remote.IP.IsLoopback() {
			_ = conn.Close() // nothing was sent
			return nil, &SMTPError{Stage: StageConnect, Cause: errors.New("the mail server is not on this machine, and TLS is off")}
		}
	}
	session := &Session{client: c}
	if err := session.open(ctx, conn); err != nil {
		session.abort()
		return nil, err
	}
	return session, nil
}

// tlsConfig verifies the certificate against the configured host name.
func (c *Client) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: c.host, RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12}
}
