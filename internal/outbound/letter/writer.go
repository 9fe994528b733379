package letter

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"golang.org/x/net/idna"

	"landfall"
)

// Writer writes letters in somebody's name.
type Writer struct {
	library *Library
	from    mail.Address
	replyTo mail.Address // the sender's own when nobody else is named
	domain  string       // of the sender, for names of messages
}

// NewWriter takes who writes and who is answered, such as
// "Acme <hello@acme.example>"; the latter may be "".
func NewWriter(library *Library, from, replyTo string) (*Writer, error) {
	sender, err := ParseAddress(from)
	if err != nil {
		return nil, err
	}
	answered := sender
	if replyTo != "" {
		if answered, err = ParseAddress(replyTo); err != nil {
			return nil, err
		}
	}
	_, domain, _ := strings.Cut(sender.Address, "@")
	return &Writer{library: library, from: sender, replyTo: answered, domain: domain}, nil
}

// ParseAddress reads the address of a sender, with or without a name.
func ParseAddress(text string) (mail.Address, error) {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Name != oneLine(parsed.Name) {
		return mail.Address{}, errors.New("want an address such as hello@example.com or Acme <hello@example.com>")
	}
	address, err := deliverable(parsed.Address)
	if err != nil || !ascii(address) {
		return mail.Address{}, errors.New("want an address in plain letters, such as hello@example.com")
	}
	return mail.Address{Name: parsed.Name, Address: address}, nil
}

// deliverable writes an address as mail servers know it: the domain in the
// letters of the domain name system. What stands before the @ is the
// recipient's own and stays.
func deliverable(address string) (string, error) {
	at := strings.LastIndexByte(address, '@')
	if at <= 0 {
		return "", ErrNoAddress
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil || strings.Contains("."+domain+".", "..") || strings.ContainsAny(address, "<>\r\n\t \x00\"\\") {
		return "", ErrNoAddress
	}
	return address[:at+1] + domain, nil
}

// ErrNoAddress means that a mail can never be sent.
var ErrNoAddress = errors.New("no mail server would know this address")

// Letter is ready to be sent.
type Letter struct {
	ID       string // of the message; a repetition has the same
	From, To string // for the mail server
	Subject  string
	Text     string
	HTML     string
	Language string // of the template
	Message  []byte
}

// Write makes the letter of a mail.
func (w *Writer) Write(outgoing landfall.OutgoingMail) (Letter, error) {
	to, err := deliverable(outgoing.To)
	if err != nil {
		return Letter{}, err
	}
	template := w.library.find(outgoing.Key.Supplier, outgoing.Language)
	filled, err := template.fill(fieldsOf(outgoing, w.replyTo.Address, template.language))
	if err != nil {
		return Letter{}, fmt.Errorf("template %s: %w", template.language, err)
	}
	letter := Letter{
		ID: w.messageID(outgoing.MailRecord), From: w.from.Address, To: to,
		Subject: filled.subject, Text: filled.plain, HTML: filled.rich, Language: template.language,
	}
	letter.Message, err = w.envelope(letter, outgoing.QueuedAt)
	return letter, err
}

// messageID names a message for good: the mail's own number, and the account's,
// which no other database has given.
func (w *Writer) messageID(mail landfall.MailRecord) string {
	return fmt.Sprintf("%d.%s@%s", mail.ID, strings.ToLower(mail.AccountNumber), w.domain)
}

// boundary parts a message from itself: the same for the same message, and
// nothing a customer's name could hold.
func (l Letter) boundary() string {
	sum := sha256.Sum256([]byte("boundary of " + l.ID))
	return hex.EncodeToString(sum[:16])
}

// ascii says whether a header needs no encoding.
func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
