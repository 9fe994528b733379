package smtp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"landfall/internal/outbound/smtp"
	"landfall/internal/test/mailtest"
)

const message = "From: <us@acme.example>\r\nTo: <ada@lovelace.example>\r\nSubject: dots\r\nMessage-ID: <1@acme.example>\r\n\r\n" +
	"one\r\n.\r\n..two\r\n.three\r\n"

// to gives the options that reach a server.
func to(t *testing.T, server *mailtest.Server, mode smtp.Mode) smtp.Options {
	t.Helper()
	pem, err := os.ReadFile(server.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	options := smtp.Options{
		Server: server.Address, Mode: mode, Roots: roots, User: mailtest.User, Password: mailtest.Password,
		Timeout: 30 * time.Second, Final: time.Minute,
	}
	if mode == smtp.Plain {
		options.User, options.Password = "", ""
	}
	return options
}

func connect(t *testing.T, options smtp.Options) (*smtp.Session, error) {
	t.Helper()
	server, err := smtp.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return server.Connect(t.Context())
}

// TestARealServerTakesMessages sends to a server that is not ours, with every
// way to protect the line and to log in that servers offer.
func TestARealServerTakesMessages(t *testing.T) {
	for mode, kind := range map[smtp.Mode]string{smtp.StartTLS: "starttls", smtp.TLS: "tls", smtp.Plain: "plain"} {
		for _, excluded := range []string{"", "PLAIN", "LOGIN"} {
			if mode == smtp.Plain && excluded != "" {
				continue
			}
			t.Run(kind+" without "+excluded, func(t *testing.T) {
				server := mailtest.Start(t, kind, excluded)
				session, err := connect(t, to(t, server, mode))
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				for range 2 { // over one line
					if words, err := session.Send(t.Context(), "us@acme.example", "ada@lovelace.example", []byte(message)); err != nil || words != "250 2.0.0 taken" {
						t.Fatalf("%q, %v", words, err)
					}
				}
				mails := server.Mails()
				if len(mails) != 2 {
					t.Fatalf("got %d", len(mails))
				}
				got := mails[1]
				if got.Text != "one\n.\n..two\n.three\n" || got.EnvelopeFrom != "us@acme.example" || got.EnvelopeTo[0] != "ada@lovelace.example" ||
					got.TLS != (mode != smtp.Plain) || len(got.Options) != 0 {
					t.Errorf("got %+v", got)
				}
				if mode == smtp.StartTLS && got.User != mailtest.User {
					t.Errorf("logged in as %q", got.User)
				}
			})
		}
	}
}

// TestWhatServersSayIsUnderstood meets each mood of a server. Refused and put
// off look alike and must not be mixed up: one is over, the other comes again.
func TestWhatServersSayIsUnderstood(t *testing.T) {
	server := mailtest.Start(t, "starttls")
	options := to(t, server, smtp.StartTLS)
	options.Timeout = time.Second
	for name, want := range map[string]struct {
		verdict smtp.Verdict
		stage   smtp.Stage
		status  string
		usable  bool
	}{
		"nobody": {smtp.Refused, smtp.Recipient, "550 5.1.1", true},
		"grey":   {smtp.PutOff, smtp.Recipient, "450 4.2.0", true},
		"full":   {smtp.PutOff, smtp.Recipient, "452 4.2.2", true},
		"bye":    {smtp.PutOff, smtp.Recipient, "421 4.7.0", false},
		"hang":   {smtp.PutOff, smtp.Recipient, "0", false},
		"spam":   {smtp.Refused, smtp.Final, "554 5.7.1", true},
		"mute":   {smtp.Unanswered, smtp.Final, "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := connect(t, options)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			_, err = session.Send(t.Context(), "us@acme.example", name+"@lovelace.example", []byte(message))
			var failure *smtp.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			if failure.Verdict() != want.verdict || failure.Stage != want.stage || failure.Status() != want.status || session.Usable() != want.usable {
				t.Errorf("got %+v, verdict %d, status %s, usable %v", failure, failure.Verdict(), failure.Status(), session.Usable())
			}
			if strings.Contains(failure.Error(), "lovelace") {
				t.Errorf("%q holds the address", failure.Error())
			}
			if want.usable { // for the next one
				if _, err := session.Send(t.Context(), "us@acme.example", "ada@lovelace.example", []byte(message)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestACutWithinTheMessageToldNobody breaks the line within a long message. Such
// a mail was not delivered, and can be sent again without being the second.
func TestACutWithinTheMessageToldNobody(t *testing.T) {
	server := mailtest.Start(t, "starttls")
	session, err := connect(t, to(t, server, smtp.StartTLS))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	long := message + strings.Repeat(strings.Repeat("x", 70)+"\r\n", 200_000)
	_, err = session.Send(t.Context(), "us@acme.example", "cut@lovelace.example", []byte(long))
	var failure *smtp.Failure
	if !errors.As(err, &failure) || failure.Stage != smtp.Message || failure.Verdict() != smtp.PutOff || session.Usable() {
		t.Errorf("got %v", err)
	}
	if mails := server.Mails(); len(mails) != 0 {
		t.Errorf("got %+v", mails)
	}
}

// TestWhoCannotBeTrustedGetsNothing meets servers that cannot prove who they
// are. Neither the password nor a customer's letter may reach one.
func TestWhoCannotBeTrustedGetsNothing(t *testing.T) {
	starttls, plain := mailtest.Start(t, "starttls"), mailtest.Start(t, "plain")
	unknown := to(t, starttls, smtp.StartTLS)
	unknown.Roots = x509.NewCertPool()
	another := to(t, starttls, smtp.StartTLS)
	another.Server = strings.Replace(starttls.Address, "127.0.0.1", "127.0.0.2", 1) // not in the certificate, and nobody there
	wrong := to(t, starttls, smtp.StartTLS)
	wrong.Password = "wrong"
	bare := to(t, plain, smtp.StartTLS)
	nobody := to(t, starttls, smtp.StartTLS)
	nobody.User, nobody.Password = "", ""
	for what, test := range map[string]struct {
		options smtp.Options
		stage   smtp.Stage
	}{
		"a certificate nobody vouches for": {unknown, smtp.Protecting},
		"a server without TLS":             {bare, smtp.Protecting},
		"a wrong password":                 {wrong, smtp.Naming},
		"no server":                        {another, smtp.Connecting},
	} {
		session, err := connect(t, test.options)
		var failure *smtp.Failure
		if !errors.As(err, &failure) || failure.Stage != test.stage || failure.Verdict() != smtp.Trouble {
			t.Errorf("%s: %v", what, err)
		}
		if session != nil {
			session.Close()
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", what, err)
		}
	}
	session, err := connect(t, nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var failure *smtp.Failure
	if _, err := session.Send(t.Context(), "us@acme.example", "ada@lovelace.example", []byte(message)); !errors.As(err, &failure) ||
		failure.Stage != smtp.Sender || failure.Verdict() != smtp.Trouble {
		t.Errorf("without a login: %v", err)
	}
}

// TestAddressesOfOtherScripts writes to an address with letters of its own, and
// to some that would add commands to the line.
func TestAddressesOfOtherScripts(t *testing.T) {
	server := mailtest.Start(t, "starttls")
	session, err := connect(t, to(t, server, smtp.StartTLS))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Send(t.Context(), "us@acme.example", "añada@lovelace.example", []byte(message)); err != nil {
		t.Error(err)
	}
	if got := server.Mails(); len(got) != 1 || got[0].EnvelopeTo[0] != "añada@lovelace.example" || len(got[0].Options) != 1 || got[0].Options[0] != "SMTPUTF8" {
		t.Errorf("got %+v", got)
	}
	for _, hostile := range []string{"a@b.co>\r\nRCPT TO:<c@d.co", "a@b.co> NOTIFY=NEVER", "a b@c.co"} {
		var failure *smtp.Failure
		if _, err := session.Send(t.Context(), "us@acme.example", hostile, []byte(message)); !errors.As(err, &failure) || failure.Verdict() != smtp.Refused {
			t.Errorf("%q: %v", hostile, err)
		}
	}
}

// TestOptionsThatCannotBeMeant sets up mail in ways that would send passwords in
// clear or wait for ever; each is told at the start.
func TestOptionsThatCannotBeMeant(t *testing.T) {
	good := smtp.Options{Server: "mail.example.com", Mode: smtp.StartTLS, User: "u", Password: "p", Timeout: time.Second, Final: time.Second}
	for name, change := range map[string]func(*smtp.Options){
		"no TLS elsewhere":    func(o *smtp.Options) { o.Mode, o.User, o.Password = smtp.Plain, "", "" },
		"a password in clear": func(o *smtp.Options) { o.Server, o.Mode = "localhost", smtp.Plain },
		"no password":         func(o *smtp.Options) { o.Password = "" },
		"no user":             func(o *smtp.Options) { o.User = "" },
		"lines":               func(o *smtp.Options) { o.Password = "p\r\nQUIT" },
		"no server":           func(o *smtp.Options) { o.Server = "" },
		"a URL":               func(o *smtp.Options) { o.Server = "smtp://mail.example.com" },
		"a bad port":          func(o *smtp.Options) { o.Server = "mail.example.com:70000" },
		"another mode":        func(o *smtp.Options) { o.Mode = "ssl" },
		"no limit":            func(o *smtp.Options) { o.Timeout = 0 },
	} {
		options := good
		change(&options)
		if _, err := smtp.New(options); err == nil {
			t.Errorf("%s is fine", name)
		} else if strings.Contains(err.Error(), "QUIT") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, server := range []string{"localhost", "127.0.0.1:2525", "[::1]:25", "::1"} {
		if _, err := smtp.New(smtp.Options{Server: server, Mode: smtp.Plain, Timeout: 1, Final: 1}); err != nil {
			t.Errorf("%s: %v", server, err)
		}
	}
}

// TestAnEndedContextEndsTheWait ends the program while a server is silent.
// Waiting for it would keep the whole program from ending.
func TestAnEndedContextEndsTheWait(t *testing.T) {
	server := mailtest.Start(t, "plain")
	options := to(t, server, smtp.Plain)
	options.Timeout = time.Minute
	session, err := connect(t, options)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	if _, err := session.Send(ctx, "us@acme.example", "hang@lovelace.example", []byte(message)); err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
