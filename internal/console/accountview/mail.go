package accountview

import (
	"regexp"

	"landfall"
)

// Mail is an email to a customer.
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

// NewMail masks the address and shows only the codes of the mail server's reply,
// which often repeats the address, unless personal data is shown.
func NewMail(mail landfall.MailRecord, personal bool) Mail {
	view := Mail{
		ID: mail.ID, Supplier: mail.Key.Supplier, External: mail.Key.External, Kind: string(mail.Kind), To: mail.MaskedTo(),
		Language: mail.Language, State: string(mail.State), QueuedAt: formatInstant(mail.QueuedAt), DueAt: formatInstant(mail.DueAt),
		SettledAt: formatInstant(mail.SettledAt), Attempts: mail.Attempts, MayHaveBeenRead: mail.MayHaveArrived(), Reply: replyCodes(mail),
	}
	if personal {
		view.To, view.Reply = mail.To, mail.Reply
	}
	return view
}

// smtpCodes matches the codes at the start of a mail server's reply.
var smtpCodes = regexp.MustCompile(`^([a-z ]+ after \d+ attempts: )?[2-5]\d\d( [245]\.\d{1,3}\.\d{1,3})?\b`)

// replyCodes is the part of a reply that is not personal. Texts of operators and
// our own are not personal either.
func replyCodes(mail landfall.MailRecord) string {
	if found := smtpCodes.FindString(mail.Reply); found != "" && mail.State != landfall.MailWithdrawn && mail.State != landfall.MailBounced {
		return found
	}
	return mail.Reply
}
