package smtp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stage is how far a message had come.
type Stage string

// The stages, in their order.
const (
	Connecting Stage = "connecting"
	Greeting   Stage = "greeting"
	Protecting Stage = "starting TLS"
	Naming     Stage = "logging in"
	Sender     Stage = "naming the sender"
	Recipient  Stage = "naming the recipient"
	Beginning  Stage = "beginning the message"
	Message    Stage = "writing the message"
	Final      Stage = "ending the message"
)

// Verdict says whose trouble a failure is, and so what to do next.
type Verdict uint8

// The verdicts.
const (
	// Trouble is the server's or ours: no message can be sent, and none is to
	// blame.
	Trouble Verdict = iota + 1
	// Refused is for good: this message to this address is not wanted.
	Refused
	// PutOff is this message's trouble for now.
	PutOff
	// Unanswered means that the server had all of the message and said nothing:
	// it may have taken it.
	Unanswered
)

// Failure is why a message was not taken.
type Failure struct { //nolint:errname // callers speak of failures and their verdicts
	Stage Stage
	Code  int    // of the server's answer; 0 when it gave none
	Text  string // of it, which may name the address
	Cause error  // when there was no answer
}

// Verdict says whose trouble it is. Once the sender was accepted the server is
// well, and what goes wrong then is a matter of this message: were it the
// server's, one message it stumbles over could hold up all others for ever.
func (f *Failure) Verdict() Verdict {
	switch f.Stage {
	case Recipient, Beginning, Message, Final:
		switch {
		case f.Code >= 500:
			return Refused
		case f.Stage == Final && f.Code == 0:
			return Unanswered
		}
		return PutOff
	}
	return Trouble
}

// closing is the answer of a server that ends, whatever it was asked.
const closing = 421

// Error tells the operator. It holds no address: the server's own words may,
// and are left out.
func (f *Failure) Error() string {
	if f.Code != 0 {
		return fmt.Sprintf("%s: the mail server answered %s", f.Stage, f.Status())
	}
	return fmt.Sprintf("%s: %s", f.Stage, plain(f.Cause.Error()))
}

// Unwrap gives what broke the line.
func (f *Failure) Unwrap() error { return f.Cause }

// Status is the code of the answer and the finer one that may follow it.
func (f *Failure) Status() string { return status(f.Code, f.Text) }

// status takes the finer code (RFC 3463) off the front of the server's words.
func status(code int, text string) string {
	finer, _, _ := strings.Cut(text, " ")
	parts := strings.Split(finer, ".")
	for _, part := range parts {
		if number, err := strconv.Atoi(part); err != nil || number < 0 || number > 999 || len(parts) != 3 {
			return strconv.Itoa(code)
		}
	}
	return strconv.Itoa(code) + " " + finer
}

// longestText is how much of the server's words is worth keeping.
const longestText = 300

// plain makes the server's words harmless to keep and to show.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	for len(text) > longestText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
