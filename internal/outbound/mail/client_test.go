package mail_test

import (
	"context"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"landfall/internal/outbound/mail"
	"landfall/internal/test/mailtest"
)

const testMessage = "From: <us@acme.example>\r\nTo: <ada@lovelace.example>\r\nSubject: dots\r\nMessage-ID: <1@acme.example>\r\n\r\n" +
	"one\r\n.\r\n..two\r\n.three\r\n"

// optionsFor returns the options to connect to a test server.
func optionsFor(t *testing.T, server *mailtest.Server, mode mail.TLSMode) mail.ClientOptions {
	t.Helper()
	pem, err := os.ReadFile(server.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	options := mail.ClientOptions{
		Server: server.Address, Mode: mode, Roots: roots, User: mailtest.User, Password: mailtest.Password,
		Timeout: 30 * time.Second, FinalTimeout: time.Minute,
	}
	if mode == mail.NoTLS {
		options.User, options.Password = "", ""
	}
	return options
}

func connect(t *testing.T, options mail.ClientOptions) (*mail.Session, error) {
	t.Helper()
	server, err := mail.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return server.Connect(t.Context())
}

// TestSendToRealServer sends to aiosmtpd with every TLS mode and login mechanism.
func TestSendToRealServer(t *testing.T) {
	for mode, kind := range map[mail.TLSMode]string{mail.StartTLS: "starttls", mail.TLS: "tls", mail.NoTLS: "plain"} {
		for _, excluded := range []string{"", "PLAIN", "LOGIN"} {
			if mode == mail.NoTLS && excluded != "" {
				continue
			}
			t.Run(kind+" without "+excluded, func(t *testing.T) {
				server := mailtest.Start(t, kind, excluded)
				session, err := connect(t, optionsFor(t, server, mode))
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				for range 2 { // in one session
					if text, err := session.Send(t.Context(), "us@acme.example", "ada@lovelace.example", []byte(testMessage)); err != nil || text != "250 2.0.0 taken" {
						t.Fatalf("%q, %v", text, err)
					}
				}
				mails := server.Mails()
				if len(mails) != 2 {
					t.Fatalf("got %d", len(mails))
				}
				got := mails[1]
				if got.Text != "one\n.\n..two\n.three\n" || got.EnvelopeFrom != "us@acme.example" || got.EnvelopeTo[0] != "ada@lovelace.example" ||
					got.TLS != (mode != mail.NoTLS) || len(got.Options) != 0 {
					t.Errorf("got %+v", got)
				}
				if mode == mail.StartTLS && got.User != mailtest.User {
					t.Errorf("logged in as %q", got.User)
				}
			})
		}
	}
}

// TestFailureKinds checks how each reply of a server is classified. A refused mail
// is not tried again, a deferred one is.
func TestFailureKinds(t *testing.T) {
	server := mailtest.Start(t, "starttls")
	options := optionsFor(t, server, mail.StartTLS)
	options.Timeout = time.Second
	for name, want := range map[string]struct {
		kind   mail.FailureKind
		stage  mail.Stage
		status string
		usable bool
	}{
		"nobody": {mail.Refused, mail.StageRecipient, "550 5.1.1", true},
		"grey":   {mail.Deferred, mail.StageRecipient, "450 4.2.0", true},
		"full":   {mail.Deferred, mail.StageRecipient, "452 4.2.2", true},
		"bye":    {mail.Deferred, mail.StageRecipient, "421 4.7.0", false},
		"hang":   {mail.Deferred, mail.StageRecipient, "0", false},
		"spam":   {mail.Refused, mail.StageEnd, "554 5.7.1", true},
		"mute":   {mail.Unanswered, mail.StageEnd, "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := connect(t, options)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			_, err = session.Send(t.Context(), "us@acme.example", name+"@lovelace.example", []byte(testMessage))
			var failure *mail.SMTPError
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			if failure.Kind() != want.kind || failure.Stage != want.stage || failure.Status() != want.status || session.Usable() != want.usable {
				t.Errorf("got %+v, kind %d, status %s, usable %v", failure, failure.Kind(), failure.Status(), session.Usable())
			}
			if strings.Contains(failure.Error(), "lovelace") {
				t.Errorf("%q contains the address", failure.Error())
			}
			if want.usable { // for the next message
				if _, err := session.Send(t.Context(), "us@acme.example", "ada@lovelace.example", []byte(testMessage)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestConnectionLostDuringMessage breaks the connection within a long message. Such
// a mail was not delivered, so a retry is not a duplicate.
func TestConnectionLostDuringMessage(t *testing.T) {
	server := mailtest.Start(t, "starttls")
	session, err := connect(t, optionsFor(t, server, mail.StartTLS))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	long := testMessage + strings.Repeat(strings.Repeat("x", 70)+"\r\n", 200_000)
	_, err = session.Send(t.Context(), "us@acme.example", "cut@lovelace.example", []byte(long))
	var failure *mail.SMTPError
	if !errors.As(err, &failure) || failure.Stage != mail.StageMessage || failure.Kind() != mail.Deferred || session.Usable() {
		t.Errorf("got %v", err)
	}
	if mails := server.Mails(); len(mails) != 0 {
		t.Errorf("got %+v", mails)
	}
}

// TestUntrustedServer connects to servers that cannot prove their identity. Neither
// the password nor a customer's mail may reach one.
func TestUntrustedServer(t *testing.T) {
	starttls, plain := mailtest.Start(t, "starttls"), mailtest.Start(t, "plain")
	untrusted := optionsFor(t, starttls, mail.StartTLS)
	untrusted.Roots = x509.NewCertPool()
	another := optionsFor(t, starttls, mail.StartTLS)
	another.Server = strings.Replace(starttls.Address, "127.0.0.1", "127.0.0.2", 1) // not in the certificate, and no server listens there
	wrong := optionsFor(t, starttls, mail.StartTLS)
	wrong.Password = "wrong"
	bare := optionsFor(t, plain, mail.StartTLS)
	nobody := optionsFor(t, starttls, mail.StartTLS)
	nobody.User, nobody.Password = "", ""
	for what, test := range map[string]struct {
		options mail.ClientOptions
		stage   mail.Stage
	}{
		"an untrusted certificate": {untrusted, mail.StageTLS},
		"a server without TLS":     {bare, mail.StageTLS},
		"a wrong password":         {wrong, mail.StageLogin},
		"no server":                {another, mail.StageConnect},
	} {
		session, err := connect(t, test.options)
		var failure *mail.SMTPError
		if !errors.As(err, &failure) || failure.Stage != test.stage || failure.Kind() != mail.ServerFailure {
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
	var failure *mail.SMTPError
	if _, err := session.Send(t.Context(), "us@acme.example", "ada@lovelace.example", []byte(testMessage)); !errors.As(err, &failure) ||
		failure.Stage != mail.StageSender || failure.Kind() != mail.ServerFailure {
		t.Errorf("without a login: %v", err)
	}
}

// TestNonASCIIAddresses sends to an address with non-ASCII letters, and to some
// that would inject commands.
func TestNonASCIIAddresses(t *testing.T) {
	server := mailtest.Start(t, "starttls")
	session, err := connect(t, optionsFor(t, server, mail.StartTLS))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Send(t.Context(), "us@acme.example", "añada@lovelace.example", []byte(testMessage)); err != nil {
		t.Error(err)
	}
	if got := server.Mails(); len(got) != 1 || got[0].EnvelopeTo[0] != "añada@lovelace.example" || len(got[0].Options) != 1 || got[0].Options[0] != "SMTPUTF8" {
		t.Errorf("got %+v", got)
	}
	for _, hostile := range []string{"a@b.co>\r\nRCPT TO:<c@d.co", "a@b.co> NOTIFY=NEVER", "a b@c.co"} {
		var failure *mail.SMTPError
		if _, err := session.Send(t.Context(), "us@acme.example", hostile, []byte(testMessage)); !errors.As(err, &failure) || failure.Kind() != mail.Refused {
			t.Errorf("%q: %v", hostile, err)
		}
	}
}

// TestInvalidOptions checks that NewClient refuses options that would send passwords
// unencrypted or wait without a limit.
func TestInvalidOptions(t *testing.T) {
	good := mail.ClientOptions{Server: "mail.example.com", Mode: mail.StartTLS, User: "u", Password: "p", Timeout: time.Second, FinalTimeout: time.Second}
	for name, change := range map[string]func(*mail.ClientOptions){
		"no TLS elsewhere":    func(o *mail.ClientOptions) { o.Mode, o.User, o.Password = mail.NoTLS, "", "" },
		"a password in clear": func(o *mail.ClientOptions) { o.Server, o.Mode = "localhost", mail.NoTLS },
		"no password":         func(o *mail.ClientOptions) { o.Password = "" },
		"no user":             func(o *mail.ClientOptions) { o.User = "" },
		"lines":               func(o *mail.ClientOptions) { o.Password = "p\r\nQUIT" },
		"no server":           func(o *mail.ClientOptions) { o.Server = "" },
		"a URL":               func(o *mail.ClientOptions) { o.Server = "smtp://mail.example.com" },
		"a bad port":          func(o *mail.ClientOptions) { o.Server = "mail.example.com:70000" },
		"another mode":        func(o *mail.ClientOptions) { o.Mode = "ssl" },
		"no limit":            func(o *mail.ClientOptions) { o.Timeout = 0 },
	} {
		options := good
		change(&options)
		if _, err := mail.NewClient(options); err == nil {
			t.Errorf("%s: want an error", name)
		} else if strings.Contains(err.Error(), "QUIT") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, server := range []string{"localhost", "127.0.0.1:2525", "[::1]:25", "::1"} {
		if _, err := mail.NewClient(mail.ClientOptions{Server: server, Mode: mail.NoTLS, Timeout: 1, FinalTimeout: 1}); err != nil {
			t.Errorf("%s: %v", server, err)
		}
	}
}

// TestSendStopsWithContext cancels the context while a server is silent. Waiting for
// it would delay the shutdown.
func TestSendStopsWithContext(t *testing.T) {
	server := mailtest.Start(t, "plain")
	options := optionsFor(t, server, mail.NoTLS)
	options.Timeout = time.Minute
	session, err := connect(t, options)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	if _, err := session.Send(ctx, "us@acme.example", "hang@lovelace.example", []byte(testMessage)); err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
