package smtp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Session is an open line to the server, for one message after the other. It is
// not for several goroutines.
type Session struct {
	relay   *Relay
	line    *line
	offers  map[string]string // what the server can do, in capitals
	guarded bool              // the line is protected
	broken  bool              // nothing more can be sent over it
}

// Usable says whether another message can be tried.
func (s *Session) Usable() bool { return !s.broken }

// leave is how long a server has to say goodbye.
const leave = time.Second

// Close takes leave of the server, who need not answer.
func (s *Session) Close() {
	if !s.broken {
		_ = s.line.SetDeadline(time.Now().Add(leave))
		if _, err := s.line.Write([]byte("QUIT\r\n")); err == nil {
			_, _ = s.line.read() // whatever it says
		}
	}
	s.end()
}

// end gives the connection up without a farewell: after a failure nobody knows what
// the other side still expects.
func (s *Session) end() {
	s.broken = true
	if s.line != nil {
		_ = s.line.Close() // nothing more is wanted of it
	}
}

// open brings a new line to where messages can be sent.
func (s *Session) open(ctx context.Context, connection net.Conn) error {
	s.line = newLine(connection)
	if s.relay.options.Mode == TLS {
		if err := s.guard(ctx); err != nil {
			return err
		}
	}
	answer, err := s.line.hear(ctx, s.relay.options.Timeout)
	if err := failed(Greeting, answer, err, 220); err != nil {
		return err
	}
	if err := s.hello(ctx); err != nil {
		return err
	}
	if s.relay.options.Mode == StartTLS {
		if err := s.startTLS(ctx); err != nil {
			return err
		}
	}
	return s.login(ctx)
}

// failed makes a failure of any answer that is not one of the wanted.
func failed(stage Stage, answer reply, err error, wanted ...int) error {
	switch {
	case err != nil:
		return &Failure{Stage: stage, Cause: err}
	case slices.Contains(wanted, answer.code):
		return nil
	}
	return &Failure{Stage: stage, Code: answer.code, Text: answer.text()}
}

// do asks at a stage and wants one of a few answers.
func (s *Session) do(ctx context.Context, stage Stage, command string, wanted ...int) (reply, error) {
	answer, err := s.line.ask(ctx, s.relay.options.Timeout, command)
	return answer, failed(stage, answer, err, wanted...)
}

// hello keeps what the server offers. It is said again once TLS is on: offers of
// before may have been put there by somebody in between.
func (s *Session) hello(ctx context.Context) error {
	answer, err := s.do(ctx, Greeting, "EHLO "+s.relay.options.Hello, 250)
	if err != nil {
		return err
	}
	s.offers = map[string]string{}
	for _, offer := range answer.lines[1:] {
		name, rest, _ := strings.Cut(offer, " ")
		s.offers[strings.ToUpper(name)] = rest
	}
	return nil
}

// startTLS goes on protected or not at all: a missing offer is how an attacker
// would ask for the password in the clear.
func (s *Session) startTLS(ctx context.Context) error {
	if _, offered := s.offers["STARTTLS"]; !offered {
		return &Failure{Stage: Protecting, Cause: errors.New("the mail server offers no TLS")}
	}
	if _, err := s.do(ctx, Protecting, "STARTTLS", 220); err != nil {
		return err
	}
	// What came with the answer was not protected: somebody put it there.
	if s.line.reader.Buffered() > 0 {
		return &Failure{Stage: Protecting, Cause: errors.New("the mail server spoke before TLS began")}
	}
	if err := s.guard(ctx); err != nil {
		return err
	}
	return s.hello(ctx)
}

// guard protects the line and makes sure who is at its end.
func (s *Session) guard(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.relay.options.Timeout)
	defer cancel()
	guarded := tls.Client(s.line.Conn, s.relay.tls())
	if err := guarded.HandshakeContext(limited); err != nil {
		return &Failure{Stage: Protecting, Cause: err}
	}
	s.line, s.guarded = newLine(guarded), true
	return nil
}

// login shows name and password, over a protected line alone.
func (s *Session) login(ctx context.Context) error {
	user, password := s.relay.options.User, s.relay.options.Password
	if user == "" {
		return nil
	}
	if !s.guarded {
		return &Failure{Stage: Naming, Cause: errors.New("a password is not sent over a line without TLS")}
	}
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	ways := strings.Fields(strings.ToUpper(s.offers["AUTH"]))
	switch {
	case slices.Contains(ways, "PLAIN"):
		_, err := s.do(ctx, Naming, "AUTH PLAIN "+encode("\x00"+user+"\x00"+password), 235)
		return err
	case slices.Contains(ways, "LOGIN"):
		if _, err := s.do(ctx, Naming, "AUTH LOGIN", 334); err != nil {
			return err
		}
		if _, err := s.do(ctx, Naming, encode(user), 334); err != nil {
			return err
		}
		_, err := s.do(ctx, Naming, encode(password), 235)
		return err
	}
	return &Failure{Stage: Naming, Cause: errors.New("the mail server offers neither PLAIN nor LOGIN")}
}

// Send hands over one message, whose lines end with CRLF, and gives the
// server's words when it was taken. Any other end is a *Failure.
func (s *Session) Send(ctx context.Context, from, to string, message []byte) (string, error) {
	words, err := s.send(ctx, from, to, message)
	var failure *Failure
	if err == nil || !errors.As(err, &failure) {
		return words, err
	}
	if failure.Code == 0 || failure.Code == closing {
		s.end()
	} else if _, err := s.do(ctx, Greeting, "RSET", 250); err != nil {
		s.end() // the failure stands; only this line does not
	}
	return "", failure
}

// send hands over one message to one recipient, so that the answer is about exactly
// that mail.
func (s *Session) send(ctx context.Context, from, to string, message []byte) (string, error) {
	if strings.ContainsAny(from+to, "<> \t\r\n\x00") {
		return "", &Failure{Stage: Recipient, Code: 553, Text: "5.1.3 this is no address"}
	}
	parameters := ""
	if !ascii(from + to) {
		if _, offered := s.offers["SMTPUTF8"]; !offered {
			return "", &Failure{Stage: Recipient, Code: 553, Text: "5.6.7 the mail server takes no such address (SMTPUTF8)"}
		}
		parameters = " SMTPUTF8"
	}
	if _, err := s.do(ctx, Sender, fmt.Sprintf("MAIL FROM:<%s>%s", from, parameters), 250); err != nil {
		return "", err
	}
	if _, err := s.do(ctx, Recipient, fmt.Sprintf("RCPT TO:<%s>", to), 250, 251); err != nil {
		return "", err
	}
	if _, err := s.do(ctx, Beginning, "DATA", 354); err != nil {
		return "", err
	}
	if err := s.line.give(ctx, s.relay.options.Final, stuffed(message)); err != nil {
		return "", &Failure{Stage: Message, Cause: err}
	}
	// From here on the server may have it, whatever we hear.
	answer, err := s.line.ask(ctx, s.relay.options.Final, ".")
	if err := failed(Final, answer, err, 250); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", answer.code, answer.text()), nil
}

// stuffed doubles the dot at the beginning of a line: a lone one is the end.
func stuffed(message []byte) []byte {
	message = bytes.ReplaceAll(message, []byte("\r\n."), []byte("\r\n.."))
	if bytes.HasPrefix(message, []byte(".")) {
		message = append([]byte("."), message...)
	}
	if !bytes.HasSuffix(message, []byte("\r\n")) {
		message = append(bytes.Clone(message), "\r\n"...)
	}
	return message
}

// ascii says whether an address needs no extension of the protocol.
func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
