// Package mailtest gives tests a real mail server: aiosmtpd, with TLS and a
// login, which reads what it takes with an e-mail library that is not ours. Who
// is written to decides its mood: no…@ is refused, grey…@ put off the first
// time, full…@ always, bye…@ ends the line once, hang…@ is not answered once,
// cut…@ breaks the line within the message once, mute…@ takes the message once
// and breaks the line without an answer, deaf…@ always does, spam…@ is refused for what it says.
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

// User and Password are whom the server knows, where the line is protected.
const (
	User     = "landfall"
	Password = "s3cret, of course"
)

// Server is a running mail server.
type Server struct {
	Address string // 127.0.0.1:PORT
	CAFile  string // whom to trust
	File    string // what was taken, a line of JSON each
	folder  string
	mode    string
	t       testing.TB
	process *exec.Cmd
}

// Received is a message as another library read it.
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
// excluded are ways to log in that it does not offer.
func Start(t testing.TB, mode string, excluded ...string) *Server {
	t.Helper()
	tooltest.Debian(t, "aiosmtpd", "python3-aiosmtpd")
	server := &Server{t: t, folder: t.TempDir(), mode: mode}
	server.CAFile = filepath.Join(server.folder, "cert.pem")
	server.File = filepath.Join(server.folder, "received.jsonl")
	server.certify()
	server.write("server.py", script)
	server.run("0", excluded...)
	t.Cleanup(server.Stop)
	return server
}

// Stop ends the server, as a mail server ends that is restarted.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// Restart runs it again at the same address; it has forgotten its moods.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	_, port, _ := net.SplitHostPort(s.Address)
	s.run(port)
}

// run starts the server on its old port when it had one: a mail server that was
// away comes back where it was.
func (s *Server) run(port string, excluded ...string) {
	s.t.Helper()
	// The system's own Python: the package was installed for it.
	s.process = exec.CommandContext(context.Background(), "/usr/bin/python3", filepath.Join(s.folder, "server.py"), s.folder, port, s.mode) //nolint:gosec // a script of our own
	s.process.Env = append(os.Environ(), "EXCLUDE="+strings.Join(excluded, " "))
	var complaints bytes.Buffer
	s.process.Stderr = &complaints
	output, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	// The server says its port itself, once it listens: a port chosen here could be
	// taken by another test until then.
	line, err := bufio.NewReader(output).ReadString('\n')
	var given int
	if _, scanned := fmt.Sscanf(line, "ready %d", &given); err != nil || scanned != nil {
		s.t.Fatalf("the mail server said %q, %v\n%s", line, err, complaints.String())
	}
	s.Address = fmt.Sprintf("127.0.0.1:%d", given)
}

// Mails gives what was taken so far, in order.
func (s *Server) Mails() []Received {
	s.t.Helper()
	content, err := os.ReadFile(s.File)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	var all []Received
	for line := range bytes.Lines(content) {
		// Read while the server still writes, so the last line may be half of one.
		var mail Received
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		if err := json.Unmarshal(line, &mail); err != nil {
			s.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, mail)
	}
	return all
}

// certify makes a certificate for this machine that nobody else trusts.
func (s *Server) certify() {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail server for tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		// Its own authority, so that one file is both what it shows and whom to trust.
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
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

// write puts a file into the folder that the server is started with.
func (s *Server) write(name string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}
