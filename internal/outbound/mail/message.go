package mail

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/mail"
	"strings"
	"time"

	"landfall"
)

// Composer turns queued mails into messages. The same mail always results in
// the same message, byte for byte.
type Composer struct {
	templates *Templates
	from      mail.Address
	replyTo   mail.Address // from when the operator set none
	domain    string       // of from, for Message-IDs
}

// NewComposer returns a composer for a sender such as "Acme <hello@acme.example>".
// replyTo may be "".
func NewComposer(templates *Templates, from, replyTo string) (*Composer, error) {
	sender, err := ParseAddress(from)
	if err != nil {
		return nil, err
	}
	answers := sender
	if replyTo != "" {
		if answers, err = ParseAddress(replyTo); err != nil {
			return nil, err
		}
	}
	_, domain, _ := strings.Cut(sender.Address, "@")
	return &Composer{templates: templates, from: sender, replyTo: answers, domain: domain}, nil
}

// Message is a mail that is ready to be sent.
type Message struct {
	ID       string // Message-ID; the same for every attempt
	From, To string // envelope addresses
	Subject  string
	Text     string
	HTML     string
	Language string // of the template
	Raw      []byte // the whole message as it is sent
}

// Compose fills in the template for a mail. It returns ErrBadAddress when the mail
// can never be sent.
func (c *Composer) Compose(outgoing landfall.OutgoingMail) (Message, error) {
	to, err := asciiDomain(outgoing.To)
	if err != nil {
		return Message{}, err
	}
	template := c.templates.find(outgoing.Key.Supplier, outgoing.Language)
	content, err := template.execute(fieldsOf(outgoing, c.replyTo.Address, template.language))
	if err != nil {
		return Message{}, fmt.Errorf("template %s: %w", template.language, err)
	}
	message := Message{
		ID: c.messageID(outgoing.MailRecord), From: c.from.Address, To: to,
		Subject: content.subject, Text: content.plain, HTML: content.html, Language: template.language,
	}
	message.Raw, err = c.encode(message, outgoing.QueuedAt)
	return message, err
}

// Notice returns a message to an operator, from the same sender as mails to customers.
func (c *Composer) Notice(address, subject, text string, at time.Time) (Message, error) {
	to, err := asciiDomain(address)
	if err != nil {
		return Message{}, err
	}
	message := Message{
		ID: rand.Text() + "@" + c.domain, From: c.from.Address, To: to, Subject: subject, Text: text,
		HTML: "<pre>" + html.EscapeString(text) + "</pre>", Language: "en",
	}
	message.Raw, err = c.encode(message, at)
	return message, err
}

// messageID combines the mail's number with the account number, because mail
// numbers of different databases overlap.
func (c *Composer) messageID(record landfall.MailRecord) string {
	return fmt.Sprintf("%d.%s@%s", record.ID, strings.ToLower(record.AccountNumber), c.domain)
}

// boundary returns the MIME boundary. It depends only on the ID, so that every
// attempt is the same, and it is a hash, so that no customer's name can contain it.
func (m Message) boundary() string {
	sum := sha256.Sum256([]byte("boundary of " + m.ID))
	return hex.EncodeToString(sum[:16])
}
