package mail

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stage is the step of an SMTP exchange at which an attempt failed.
type Stage string

// The stages, in order.
const (
	StageConnect   Stage = "connecting"
	StageGreeting  Stage = "greeting"
	StageTLS       Stage = "starting TLS"
	StageLogin     Stage = "logging in"
	StageSender    Stage = "setting the sender"
	StageRecipient Stage = "setting the recipient"
	StageData      Stage = "starting the message"
	StageMessage   Stage = "sending the message"
	StageEnd       Stage = "ending the message"
)

// FailureKind says what to do after a failed attempt.
type FailureKind uint8

// The kinds of failures.
const (
	// ServerFailure means that no message can be sent, because of the server or our
	// settings. It does not count against the message.
	ServerFailure FailureKind = iota + 1
	// Refused is permanent: the server does not accept this message.
	Refused
	// Deferred is a temporary failure of this message.
	Deferred
	// Unanswered means that the server received the whole message but did not
	// confirm it. It may have accepted the message.
	Unanswered
)

// SMTPError says why the server did not accept a message.
type SMTPError struct {
	Stage Stage
	Code  int    // of the reply; 0 when there was none
	Text  string // of the reply; it may contain the recipient's address
	Cause error  // when there was no reply
}

// Kind classifies the error. Once the server accepted the sender it works, and a
// later failure concerns only this message. Otherwise one message that the server
// always fails on could block all others.
func (e *SMTPError) Kind() FailureKind {
	switch e.Stage {
	case StageRecipient, StageData, StageMessage, StageEnd:
		switch {
		case e.Code >= 500:
			return Refused
		case e.Stage == StageEnd && e.Code == 0:
			return Unanswered
		}
		return Deferred
	}
	return ServerFailure
}

// closingCode is the reply of a server that shuts down, to any command.
const closingCode = 421

// Error does not contain the text of the reply, which may contain an address.
func (e *SMTPError) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("%s: the mail server replied %s", e.Stage, e.Status())
	}
	return fmt.Sprintf("%s: %s", e.Stage, printable(e.Cause.Error()))
}

// Unwrap returns the network error, if any.
func (e *SMTPError) Unwrap() error { return e.Cause }

// Status returns the reply code and the enhanced status code (RFC 3463) when the
// text starts with one.
func (e *SMTPError) Status() string {
	enhanced, _, _ := strings.Cut(e.Text, " ")
	parts := strings.Split(enhanced, ".")
	for _, part := range parts {
		if number, err := strconv.Atoi(part); err != nil || number < 0 || number > 999 || len(parts) != 3 {
			return strconv.Itoa(e.Code)
		}
	}
	return strconv.Itoa(e.Code) + " " + enhanced
}

// maxReplyText is how many bytes of a reply are kept.
const maxReplyText = 300

// printable makes text of a server safe to store and to show: one line, no control
// characters, limited length.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for len(s) > maxReplyText {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
