package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/mail"
)

// MailSettings configures e-mails to customers. Without a Server none are sent.
type MailSettings struct {
	Server       string
	TLS          string
	CAFile       string // further certificates to trust
	User         string
	Password     string
	PasswordFile string
	Timeout      time.Duration // for each reply
	Connections  int
	From         string
	ReplyTo      string
	PerMinute    int           // mails of all replicas together
	Delay        time.Duration // between the creation of an account and its mail
	Templates    string        // folder of the operator's own templates
}

// mailSettings lists the settings about e-mail.
var mailSettings = []setting{
	{"smtp-server", "mail server for e-mails to customers, HOST or HOST:PORT; empty to send none", func(s *Settings) settingValue {
		return textSetting(&s.Mail.Server, "", optional(checkMailServer))
	}},
	{"smtp-tls", "encryption of the connection to the mail server: starttls, tls, or none for a server on this machine", func(s *Settings) settingValue {
		return textSetting(&s.Mail.TLS, string(mail.StartTLS), choice(string(mail.StartTLS), string(mail.TLS), string(mail.NoTLS)))
	}},
	{"smtp-ca-file", "PEM file with certificates to trust for the mail server in addition to the system's", func(s *Settings) settingValue {
		return textSetting(&s.Mail.CAFile, "", optional(anything))
	}},
	{"smtp-user", "user for the login to the mail server, only over TLS; empty for no login", func(s *Settings) settingValue {
		return textSetting(&s.Mail.User, "", optional(anything))
	}},
	{"smtp-password-file", "file whose first line is the password of the mail server", func(s *Settings) settingValue {
		return textSetting(&s.Mail.PasswordFile, "", optional(anything))
	}},
	{"smtp-password", "password of the mail server; only as an environment variable", func(s *Settings) settingValue {
		return secretSetting(&s.Mail.Password)
	}},
	{"smtp-timeout", "time for each reply of the mail server", func(s *Settings) settingValue {
		return durationSetting(&s.Mail.Timeout, limits.Mail, 100*time.Millisecond, time.Minute)
	}},
	{"smtp-connections", "maximum connections of this process to the mail server", func(s *Settings) settingValue {
		return countSetting(&s.Mail.Connections, 4, 1, 64)
	}},
	{"mail-from", "sender of e-mails to customers: an address, or Name <address>", func(s *Settings) settingValue {
		return textSetting(&s.Mail.From, "", optional(checkMailAddress))
	}},
	{"mail-reply-to", "address for replies of customers; empty for mail-from", func(s *Settings) settingValue {
		return textSetting(&s.Mail.ReplyTo, "", optional(checkMailAddress))
	}},
	{"mail-pace", "maximum e-mails per minute of all replicas together", func(s *Settings) settingValue {
		return countSetting(&s.Mail.PerMinute, 600, 1, 60_000)
	}},
	{"mail-delay", "delay between the creation of an account and its e-mail, so that you can undo it first", func(s *Settings) settingValue {
		return durationSetting(&s.Mail.Delay, 0, 0, 30*day)
	}},
	{"mail-templates", "folder with your own templates; see docs/mail.md", func(s *Settings) settingValue {
		return textSetting(&s.Mail.Templates, "", optional(anything))
	}},
}

// checkMailServer checks the syntax only; the doctor connects to the server.
func checkMailServer(text string) error {
	_, _, err := mail.SplitServer(text, mail.StartTLS)
	return err
}

// checkMailAddress wants one address, with or without a display name.
func checkMailAddress(text string) error {
	_, err := mail.ParseAddress(text)
	return err
}

// complete checks settings that depend on each other.
func (m *MailSettings) complete() (mistakes []error) {
	if m.Password != "" && m.PasswordFile != "" {
		return []error{errors.New("set either smtp-password or smtp-password-file, not both")}
	}
	if m.PasswordFile != "" {
		password, err := readPassword(m.PasswordFile)
		if err != nil {
			return []error{fmt.Errorf("setting smtp-password-file: %w", err)}
		}
		m.Password = password
	}
	// Without a server the other settings are ignored.
	if m.Server == "" {
		return nil
	}
	if m.From == "" {
		mistakes = append(mistakes, errors.New("setting mail-from: required with smtp-server"))
	}
	if _, err := m.client(); err != nil {
		mistakes = append(mistakes, fmt.Errorf("settings smtp-…: %w", err))
	}
	return mistakes
}

// finalTimeoutFactor gives the mail server more time to confirm a whole message than
// for other replies: giving up too early sends the mail twice.
const finalTimeoutFactor = 6

// client returns the client for the configured mail server.
func (m *MailSettings) client() (*mail.Client, error) {
	roots, err := m.roots()
	if err != nil {
		return nil, err
	}
	hello, err := os.Hostname()
	if err != nil {
		hello = ""
	}
	return mail.NewClient(mail.ClientOptions{
		Server: m.Server, Mode: mail.TLSMode(m.TLS), Roots: roots, User: m.User, Password: m.Password,
		Hello: hello, Timeout: m.Timeout, FinalTimeout: finalTimeoutFactor * m.Timeout,
	})
}

// roots returns the certificates to trust; nil means the system's.
func (m *MailSettings) roots() (*x509.CertPool, error) {
	if m.CAFile == "" {
		return nil, nil //nolint:nilnil // nil means the system's
	}
	pem, err := os.ReadFile(m.CAFile)
	if err != nil {
		return nil, err
	}
	// A container image may have no system certificates.
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s contains no certificate", m.CAFile)
	}
	return pool, nil
}

// Composer returns a composer with the configured templates. It works without a
// configured sender, so that templates can be previewed.
func (m *MailSettings) Composer() (*mail.Composer, error) {
	templates, err := mail.OpenTemplates(m.Templates)
	if err != nil {
		return nil, fmt.Errorf("setting mail-templates: %s: %w", m.Templates, err)
	}
	from := m.From
	if from == "" {
		from = "nobody@example.com"
	}
	return mail.NewComposer(templates, from, m.ReplyTo)
}

// Send sends one mail immediately, without the queue, as a test for the operator.
func (m *MailSettings) Send(ctx context.Context, outgoing landfall.OutgoingMail) (string, error) {
	composer, err := m.Composer()
	if err != nil {
		return "", err
	}
	message, err := composer.Compose(outgoing)
	if err != nil {
		return "", err
	}
	client, err := m.client()
	if err != nil {
		return "", err
	}
	session, err := client.Connect(ctx)
	if err != nil {
		return "", err
	}
	defer session.Close()
	return session.Send(ctx, message.From, message.To, message.Raw)
}
