// Package mailtest starts a real mail server for tests: aiosmtpd with TLS and a
// login, which parses messages with Python's email library. The recipient decides
// how it behaves:
//
//   - no…@ is refused,
//   - grey…@ is deferred the first time, full…@ always,
//   - bye…@ closes the session once,
//   - hang…@ does not reply once,
//   - cut…@ breaks the connection within the message once,
//   - mute…@ accepts the message and breaks the connection without a reply once, deaf…@ always,
//   - spam…@ is refused for its content.
package mailtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

//go:embed server.py
var script []byte

// User and Password are the login that the server accepts over TLS.
const (
	User     = "landfall"
	Password = "s3cret, of course"
)

// Server is a running mail server.
type Server struct {
	Address string // 127.0.0.1:PORT
	CAFile  string // certificate to trust
	File    string // received messages, a line of JSON each
	folder  string
	mode    string
	t       testing.TB
	process *exec.Cmd
}

// Received is a message as Python's email library parsed it.
type Received struct {
	EnvelopeFrom  string   `json:"envelope_from"`
	EnvelopeTo    []string `json:"envelope_to"`
	Options       []string `json:"options"`
	TLS           bool     `json:"tls"`
	User          string   `json:"user"`
	MessageID     string   `json:"message_id"`
	Subject       string   `json:"subject"`
	Date          string   `json:"date"`
	From          string   `json:"from"`
	ReplyTo       string   `json:"reply_to"`
	To            string   `json:"to"`
	Language      string   `json:"language"`
	AutoSubmitted string   `json:"auto_submitted"`
	Headers       []string `json:"headers"`
	Text          string   `json:"text"`
	HTML          string   `json:"html"`
	Defects       []string `json:"defects"`
	LongestLine   int      `json:"longest_line"`
	PlainLetters  bool     `json:"plain_letters"`
}

// Start runs a server until the test ends. The mode is starttls, tls or plain;
// excluded lists login mechanisms that it does not offer.
func Start(t testing.TB, mode string, excluded ...string) *Server {
	t.Helper()
	tooltest.Debian(t, "aiosmtpd", "python3-aiosmtpd")
	server := &Server{t: t, folder: t.TempDir(), mode: mode}
	server.CAFile = filepath.Join(server.folder, "cert.pem")
	server.File = filepath.Join(server.folder, "received.jsonl")
	server.createCertificate()
	server.write("server.py", script)
	server.run("0", excluded...)
	t.Cleanup(server.Stop)
	return server
}

// Stop kills the server.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// Restart starts it again at the same address, with no memory of earlier recipients.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	_, port, _ := net.SplitHostPort(s.Address)
	s.run(port)
}

// run starts the server on the given port; 0 picks a free one.
func (s *Server) run(port string, excluded ...string) {
	s.t.Helper()
	// aiosmtpd is installed for the system's Python.
	s.process = exec.CommandContext(context.Background(), "/usr/bin/python3", filepath.Join(s.folder, "server.py"), s.folder, port, s.mode) // a script of our own
	s.process.Env = append(os.Environ(), "EXCLUDE="+strings.Join(excluded, " "))
	var stderr bytes.Buffer
	s.process.Stderr = &stderr
	output, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	// The server picks the port and prints it: a port chosen here could be taken by
	// another test until then.
	line, err := bufio.NewReader(output).ReadString('\n')
	var listening int
	if _, scanned := fmt.Sscanf(line, "ready %d", &listening); err != nil || scanned != nil {
		s.t.Fatalf("the mail server printed %q, %v\n%s", line, err, stderr.String())
	}
	s.Address = fmt.Sprintf("127.0.0.1:%d", listening)
}

// Mails returns the messages received so far, in order.
func (s *Server) Mails() []Received {
	s.t.Helper()
	content, err := os.ReadFile(s.File)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	var all []Received
	for line := range bytes.Lines(content) {
		var mail Received
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the server is still writing it
		}
		if err := json.Unmarshal(line, &mail); err != nil {
			s.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, mail)
	}
	return all
}

// createCertificate writes a self-signed certificate for localhost.
func (s *Server) createCertificate() {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail server for tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		// It is its own authority, so that one file is both the certificate and its root.
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		s.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	s.write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func (s *Server) write(name string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}
