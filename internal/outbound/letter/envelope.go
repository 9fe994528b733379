package letter

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"time"
	"unicode/utf8"
)

// envelope puts a letter into a message (RFC 5322) of two parts that say the
// same, all of it in plain letters and short lines.
func (w *Writer) envelope(letter Letter, at time.Time) ([]byte, error) {
	var message bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&message, "%s: %s\r\n", name, value) }
	// The time is the one at which the mail was queued, so that a repetition is the
	// same message.
	header("Date", at.UTC().Format(time.RFC1123Z))
	header("From", named(w.from))
	if w.replyTo != w.from {
		header("Reply-To", named(w.replyTo))
	}
	// The address stands alone: a name would be one more text of a customer's in a
	// header.
	header("To", "<"+letter.To+">")
	header("Subject", words(letter.Subject, "-'!&+.,:;()?\"/@"))
	header("Message-ID", "<"+letter.ID+">")
	// No machine answers a machine.
	header("Auto-Submitted", "auto-generated")
	header("Content-Language", letter.Language)
	header("MIME-Version", "1.0")
	parts := multipart.NewWriter(&message)
	if err := parts.SetBoundary(letter.boundary()); err != nil {
		return nil, err
	}
	header("Content-Type", `multipart/alternative; boundary="`+letter.boundary()+`"`)
	message.WriteString("\r\n")
	for _, part := range []struct{ kind, text string }{{"text/plain", letter.Text}, {"text/html", letter.HTML}} {
		into, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Type": {part.kind + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"},
		})
		if err != nil {
			return nil, err
		}
		encoder := quotedprintable.NewWriter(into)
		if _, err := encoder.Write([]byte(strings.ReplaceAll(part.text, "\r\n", "\n"))); err != nil {
			return nil, err
		}
		if err := encoder.Close(); err != nil {
			return nil, err
		}
	}
	if err := parts.Close(); err != nil {
		return nil, err
	}
	return message.Bytes(), nil
}

// named writes a name and an address.
func named(address mail.Address) string {
	if address.Name == "" {
		return "<" + address.Address + ">"
	}
	return words(address.Name, "-'!&+") + " <" + address.Address + ">"
}

// words writes text for a header. What is not plain letters, digits, blanks and
// the marks that mean nothing there is encoded (RFC 2047), and so is what looks
// encoded already. No line becomes long.
func words(text, marks string) string {
	const plain = 60
	odd := func(r rune) bool {
		return r != ' ' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(marks, r)
	}
	if len(text) <= plain && !strings.ContainsFunc(text, odd) {
		return text
	}
	const most = 42 // bytes: 56 when encoded, and 75 is the most
	var encoded []string
	for len(text) > 0 {
		// A part ends between two characters, because each is decoded by itself.
		length := 0
		for length < len(text) {
			_, size := utf8.DecodeRuneInString(text[length:])
			if length+size > most {
				break
			}
			length += size
		}
		encoded = append(encoded, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:length]))+"?=")
		text = text[length:]
	}
	return strings.Join(encoded, "\r\n ")
}
