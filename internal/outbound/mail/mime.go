package mail

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

// encode formats the message as RFC 5322 text with a plain and an HTML part, in
// ASCII and with short lines.
func (c *Composer) encode(message Message, at time.Time) ([]byte, error) {
	var raw bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&raw, "%s: %s\r\n", name, value) }
	// The date is when the mail was queued, so that a retry sends the same bytes.
	header("Date", at.UTC().Format(time.RFC1123Z))
	header("From", formatAddress(c.from))
	if c.replyTo != c.from {
		header("Reply-To", formatAddress(c.replyTo))
	}
	// The recipient's name is left out: it would put more text of a customer into a
	// header.
	header("To", "<"+message.To+">")
	header("Subject", encodeHeader(message.Subject, "-'!&+.,:;()?\"/@"))
	header("Message-ID", "<"+message.ID+">")
	// This keeps auto-responders from replying (RFC 3834).
	header("Auto-Submitted", "auto-generated")
	header("Content-Language", message.Language)
	header("MIME-Version", "1.0")
	parts := multipart.NewWriter(&raw)
	if err := parts.SetBoundary(message.boundary()); err != nil {
		return nil, err
	}
	header("Content-Type", `multipart/alternative; boundary="`+message.boundary()+`"`)
	raw.WriteString("\r\n")
	for _, part := range []struct{ mediaType, content string }{{"text/plain", message.Text}, {"text/html", message.HTML}} {
		writer, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Type": {part.mediaType + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"},
		})
		if err != nil {
			return nil, err
		}
		encoder := quotedprintable.NewWriter(writer)
		if _, err := encoder.Write([]byte(strings.ReplaceAll(part.content, "\r\n", "\n"))); err != nil {
			return nil, err
		}
		if err := encoder.Close(); err != nil {
			return nil, err
		}
	}
	if err := parts.Close(); err != nil {
		return nil, err
	}
	return raw.Bytes(), nil
}

// formatAddress formats a display name and an address for a header.
func formatAddress(address mail.Address) string {
	if address.Name == "" {
		return "<" + address.Address + ">"
	}
	return encodeHeader(address.Name, "-'!&+") + " <" + address.Address + ">"
}

// encodeHeader formats text for a header. Short text of ASCII letters, digits,
// spaces and the allowed characters is written as it is. Everything else is
// encoded (RFC 2047), including text that already looks encoded, and folded into
// short lines.
func encodeHeader(content, allowed string) string {
	const maxPlain = 60
	special := func(r rune) bool {
		return r != ' ' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(allowed, r)
	}
	if len(content) <= maxPlain && !strings.ContainsFunc(content, special) {
		return content
	}
	const maxWord = 42 // bytes: 56 in base64, and an encoded word has at most 75
	var encoded []string
	for len(content) > 0 {
		// Never split a character: each word is decoded on its own.
		length := 0
		for length < len(content) {
			_, size := utf8.DecodeRuneInString(content[length:])
			if length+size > maxWord {
				break
			}
			length += size
		}
		encoded = append(encoded, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(content[:length]))+"?=")
		content = content[length:]
	}
	return strings.Join(encoded, "\r\n ")
}
