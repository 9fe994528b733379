package mail_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"landfall"
	"landfall/internal/outbound/mail"
	"landfall/internal/test/mailtest"
)

func TestServerDoesNotSpeakSMTP(t *testing.T) {
	endless := func(text string) func(net.Conn) {
		return func(connection net.Conn) {
			for {
				if _, err := io.WriteString(connection, text); err != nil {
					return
				}
			}
		}
	}
	for name, say := range map[string]func(net.Conn){
		"silent":              func(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) },
		"closing":             func(net.Conn) {},
		"a line without end":  endless("220 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		"lines without end":   endless("220-more\r\n"),
		"no number":           endless("SSH-2.0-OpenSSH_9.2\r\n"),
		"numbers that differ": endless("220-a\r\n250 b\r\n"),
		"drop by drop": func(connection net.Conn) {
			for {
				if _, err := io.WriteString(connection, "2"); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		},
		"TLS injected": func(connection net.Conn) {
			_, _ = io.WriteString(connection, "220 hello\r\n")
			buffer := make([]byte, 1024)
			_, _ = connection.Read(buffer)
			_, _ = io.WriteString(connection, "250-mail\r\n250 STARTTLS\r\n")
			_, _ = connection.Read(buffer)
			_, _ = io.WriteString(connection, "220 go\r\n250 AUTH PLAIN\r\n")
			_, _ = io.Copy(io.Discard, connection)
		},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			session, err := connect(t, mail.ClientOptions{
				Server: mailtest.Fake(t, say), Mode: mail.StartTLS, Timeout: 300 * time.Millisecond, FinalTimeout: time.Second,
			})
			var failure *mail.SMTPError
			if session != nil || !errors.As(err, &failure) || failure.Kind() != mail.ServerFailure || time.Since(began) > 20*time.Second {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		})
	}
}

func TestReplyTextIsSanitized(t *testing.T) {
	address := mailtest.Fake(t, func(connection net.Conn) {
		_, _ = io.WriteString(connection, "554-\x1b[31mred\xff\r\n554 "+strings.Repeat("é", 1000)+"\r\n")
	})
	_, err := connect(t, mail.ClientOptions{Server: address, Mode: mail.StartTLS, Timeout: 20 * time.Second, FinalTimeout: 20 * time.Second})
	var failure *mail.SMTPError
	if !errors.As(err, &failure) || failure.Code != 554 || len(failure.Text) > 300 || strings.ContainsAny(failure.Text, "\x1b\r\n") || !utf8.ValidString(failure.Text) {
		t.Errorf("got %+v", failure)
	}
}

// TestAnAccountNumberWasASentenceOfOurs puts texts into an account's old number that a customer must
// not read as ours. What looks like a number is shown.
func TestAnAccountNumberWasASentenceOfOurs(t *testing.T) {
	for external, shown := range map[string]string{
		"see https://evil.example/refund now": "", "https://evil.example": "", "http:evil.example/a": "", "//evil.example": "",
		"evil.example/refund1": "", "www.evil1": "www . evil1", "refund@evil.example": "", "evil。example": "",
		"closed please call 0900123": "", "please-pay-again-1": "", "1\r\nYour bank: 2": "", "1\u202e2\u200b3\ufe0f4": "1234",
		"1001\u2028see\u2028us": "1001 see us", strings.Repeat("1", 41): "", "<a>1</a>": "", "\"1001\"": "",
		"1001": "1001", "NORTH-ELEC-1001": "NORTH-ELEC-1001", "12 345/6.7": "12 345/6.7", "A#7_x": "A#7_x", "Ä-1": "Ä-1", "1234.AB": "1234 . AB",
	} {
		outgoing := mail.Sample(landfall.NewSupplier("NORTH"))
		outgoing.Key.External = external
		written, err := newComposer(t, "").Compose(outgoing)
		if err != nil {
			t.Errorf("%q: %v", external, err)
			continue
		}
		line, found := "", false
		if _, rest, is := strings.Cut(written.Text, "Your old account number:  "); is {
			line, _, _ = strings.Cut(rest, "\n")
			found = true
		}
		if line != shown || found != (shown != "") || strings.Contains(written.HTML, "old account number") != found || strings.Contains(written.HTML, "evil.example") {
			t.Errorf("%q is shown as %q, want %q:\n%s", external, line, shown, written.HTML)
		}
	}
}

// TestABuiltInMailPromisedWhatNobodyKnew reads the built-in mail, which is sent before notes, payments
// and statements may have been added.
func TestABuiltInMailPromisedWhatNobodyKnew(t *testing.T) {
	written := compose(t, newComposer(t, ""), "NORTH", "")
	for _, promise := range []string{"verything", "nothing you need", "complete"} {
		if strings.Contains(written.Text, promise) || strings.Contains(written.HTML, promise) {
			t.Errorf("it promises %q:\n%s", promise, written.Text)
		}
	}
}
