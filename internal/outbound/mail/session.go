package mail

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

	"landfall/internal/lib/limits"
)

// Session is an open connection to the server that sends one message after the
// other. It is not safe for concurrent use.
type Session struct {
	client     *Client
	conn       *smtpConn
	extensions map[string]string // from the EHLO reply, by upper-case name
	encrypted  bool
	closed     bool
}

// Usable reports whether the session can send another message.
func (s *Session) Usable() bool { return !s.closed }

// Close sends QUIT and closes the connection.
func (s *Session) Close() {
	if !s.closed {
		_ = s.conn.SetDeadline(time.Now().Add(limits.MailQuit))
		if _, err := s.conn.Write([]byte("QUIT\r\n")); err == nil {
			_, _ = s.conn.readReply() // the reply does not matter
		}
	}
	s.abort()
}

// abort closes the connection without QUIT. After a failure the state of the
// protocol is unknown.
func (s *Session) abort() {
	s.closed = true
	if s.conn != nil {
		_ = s.conn.Close() // it is not used again
	}
}

// open prepares a new connection for sending messages.
func (s *Session) open(ctx context.Context, conn net.Conn) error {
	s.conn = newConn(conn)
	if s.client.options.Mode == TLS {
		if err := s.handshake(ctx); err != nil {
			return err
		}
	}
	greeting, err := s.conn.greeting(ctx, s.client.options.Timeout)
	if err := checkReply(StageGreeting, greeting, err, 220); err != nil {
		return err
	}
	if err := s.hello(ctx); err != nil {
		return err
	}
	if s.client.options.Mode == StartTLS {
		if err := s.startTLS(ctx); err != nil {
			return err
		}
	}
	return s.login(ctx)
}

// checkReply returns an SMTPError unless the reply has one of the expected codes.
func checkReply(stage Stage, got reply, err error, expected ...int) error {
	switch {
	case err != nil:
		return &SMTPError{Stage: stage, Cause: err}
	case slices.Contains(expected, got.code):
		return nil
	}
	return &SMTPError{Stage: stage, Code: got.code, Text: got.text()}
}

// command sends a command and expects one of the codes.
func (s *Session) command(ctx context.Context, stage Stage, line string, expected ...int) (reply, error) {
	got, err := s.conn.command(ctx, s.client.options.Timeout, line)
	return got, checkReply(stage, got, err, expected...)
}

// hello sends EHLO and keeps the server's extensions. It is sent again after
// STARTTLS, because an attacker could have changed the earlier reply.
func (s *Session) hello(ctx context.Context) error {
	got, err := s.command(ctx, StageGreeting, "EHLO "+s.client.options.Hello, 250)
	if err != nil {
		return err
	}
	s.extensions = map[string]string{}
	for _, line := range got.lines[1:] {
		name, parameters, _ := strings.Cut(line, " ")
		s.extensions[strings.ToUpper(name)] = parameters
	}
	return nil
}

// startTLS fails when the server does not offer TLS, because removing the offer is
// how an attacker would make us send the password unencrypted.
func (s *Session) startTLS(ctx context.Context) error {
	if _, offered := s.extensions["STARTTLS"]; !offered {
		return &SMTPError{Stage: StageTLS, Cause: errors.New("the mail server does not offer TLS")}
	}
	if _, err := s.command(ctx, StageTLS, "STARTTLS", 220); err != nil {
		return err
	}
	// Data that arrived with the reply is unencrypted, so an attacker may have
	// injected it.
	if s.conn.reader.Buffered() > 0 {
		return &SMTPError{Stage: StageTLS, Cause: errors.New("the mail server sent data before TLS started")}
	}
	if err := s.handshake(ctx); err != nil {
		return err
	}
	return s.hello(ctx)
}

// handshake encrypts the connection and verifies the server's certificate.
func (s *Session) handshake(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.client.options.Timeout)
	defer cancel()
	encrypted := tls.Client(s.conn.Conn, s.client.tlsConfig())
	if err := encrypted.HandshakeContext(limited); err != nil {
		return &SMTPError{Stage: StageTLS, Cause: err}
	}
	s.conn, s.encrypted = newConn(encrypted), true
	return nil
}

// login sends the user and password, only over an encrypted connection.
func (s *Session) login(ctx context.Context) error {
	user, password := s.client.options.User, *s.client.password.Load()
	if user == "" {
		return nil
	}
	if !s.encrypted {
		return &SMTPError{Stage: StageLogin, Cause: errors.New("a login requires TLS")}
	}
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	mechanisms := strings.Fields(strings.ToUpper(s.extensions["AUTH"]))
	switch {
	case slices.Contains(mechanisms, "PLAIN"):
		_, err := s.command(ctx, StageLogin, "AUTH PLAIN "+encode("\x00"+user+"\x00"+password), 235)
		return err
	case slices.Contains(mechanisms, "LOGIN"):
		if _, err := s.command(ctx, StageLogin, "AUTH LOGIN", 334); err != nil {
			return err
		}
		if _, err := s.command(ctx, StageLogin, encode(user), 334); err != nil {
			return err
		}
		_, err := s.command(ctx, StageLogin, encode(password), 235)
		return err
	}
	return &SMTPError{Stage: StageLogin, Cause: errors.New("the mail server offers neither AUTH PLAIN nor AUTH LOGIN")}
}

// Send sends one message, whose lines end with CRLF, and returns the server's
// reply. The error is an *SMTPError.
func (s *Session) Send(ctx context.Context, from, to string, message []byte) (string, error) {
	text, err := s.send(ctx, from, to, message)
	var failure *SMTPError
	if err == nil || !errors.As(err, &failure) {
		return text, err
	}
	if failure.Code == 0 || failure.Code == closingCode {
		s.abort()
	} else if _, err := s.command(ctx, StageGreeting, "RSET", 250); err != nil {
		s.abort() // the first failure is the one to report
	}
	return "", failure
}

// send sends to one recipient only, so that the reply concerns exactly that mail.
func (s *Session) send(ctx context.Context, from, to string, message []byte) (string, error) {
	if strings.ContainsAny(from+to, "<> \t\r\n\x00") {
		return "", &SMTPError{Stage: StageRecipient, Code: 553, Text: "5.1.3 not an e-mail address"}
	}
	parameters := ""
	if !isASCII(from + to) {
		if _, offered := s.extensions["SMTPUTF8"]; !offered {
			return "", &SMTPError{Stage: StageRecipient, Code: 553, Text: "5.6.7 the mail server does not accept such addresses (SMTPUTF8)"}
		}
		parameters = " SMTPUTF8"
	}
	if _, err := s.command(ctx, StageSender, fmt.Sprintf("MAIL FROM:<%s>%s", from, parameters), 250); err != nil {
		return "", err
	}
	if _, err := s.command(ctx, StageRecipient, fmt.Sprintf("RCPT TO:<%s>", to), 250, 251); err != nil {
		return "", err
	}
	if _, err := s.command(ctx, StageData, "DATA", 354); err != nil {
		return "", err
	}
	if err := s.conn.write(ctx, s.client.options.FinalTimeout, dotStuff(message)); err != nil {
		return "", &SMTPError{Stage: StageMessage, Cause: err}
	}
	// From here on the server may have accepted the message, even without a reply.
	got, err := s.conn.command(ctx, s.client.options.FinalTimeout, ".")
	if err := checkReply(StageEnd, got, err, 250); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s", got.code, got.text()), nil
}

// dotStuff doubles a dot at the start of a line, because a line with only a dot
// ends the message.
func dotStuff(message []byte) []byte {
	message = bytes.ReplaceAll(message, []byte("\r\n."), []byte("\r\n.."))
	if bytes.HasPrefix(message, []byte(".")) {
		message = append([]byte("."), message...)
	}
	if !bytes.HasSuffix(message, []byte("\r\n")) {
		message = append(bytes.Clone(message), "\r\n"...)
	}
	return message
}
