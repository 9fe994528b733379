package accountview

import (
	"regexp"

	"landfall"
)

// Mail is a message to a customer.
type Mail struct {
	ID              int64      `json:"mail"`
	Supplier        string     `json:"import_supplier"`
	External        string     `json:"external_account_number"`
	Kind            string     `json:"kind"`
	To              string     `json:"to"`
	Language        string     `json:"language,omitempty"`
	State           string     `json:"state"`
	QueuedAt        NullString `json:"queued_at"`
	DueAt           NullString `json:"due_at"`
	SettledAt       NullString `json:"settled_at"`
	Attempts        int        `json:"attempts"`
	MayHaveBeenRead bool       `json:"may_have_been_read"`
	Reply           string     `json:"reply,omitempty"`
}

// NewMail paints a mail. The words of a mail server often repeat the address, so
// only their codes are shown unless more was asked for.
func NewMail(mail landfall.MailRecord, personal bool) Mail {
	painted := Mail{
		ID: mail.ID, Supplier: mail.Key.Supplier, External: mail.Key.External, Kind: string(mail.Kind), To: mail.MaskedTo(),
		Language: mail.Language, State: string(mail.State), QueuedAt: formatInstant(mail.QueuedAt), DueAt: formatInstant(mail.DueAt),
		SettledAt: formatInstant(mail.SettledAt), Attempts: mail.Attempts, MayHaveBeenRead: mail.MayHaveArrived(), Reply: replyCodes(mail),
	}
	if personal {
		painted.To, painted.Reply = mail.To, mail.Reply
	}
	return painted
}

// smtpCodes finds the codes that a mail server's words begin with.
var smtpCodes = regexp.MustCompile(`^(given up after \d+ attempts: )?[2-5]\d\d( [245]\.\d{1,3}\.\d{1,3})?\b`)

// replyCodes is what may be shown of a reply. What the operator wrote, and what we
// wrote ourselves, holds nothing personal.
func replyCodes(mail landfall.MailRecord) string {
	if found := smtpCodes.FindString(mail.Reply); found != "" && mail.State != landfall.MailWithdrawn && mail.State != landfall.MailBounced {
		return found
	}
	return mail.Reply
}
