package accountview

import (
	"regexp"

	"landfall"
)

// Mail is a message to a customer.
type Mail struct {
	ID        int64  `json:"mail"`
	Supplier  string `json:"import_supplier"`
	External  string `json:"external_account_number"`
	Kind      string `json:"kind"`
	To        string `json:"to"`
	Language  string `json:"language,omitempty"`
	State     string `json:"state"`
	QueuedAt  Maybe  `json:"queued_at"`
	DueAt     Maybe  `json:"due_at"`
	SettledAt Maybe  `json:"settled_at"`
	Attempts  int    `json:"attempts"`
	Told      bool   `json:"may_have_been_read"`
	Reply     string `json:"reply,omitempty"`
}

// MailOf paints a mail. The words of a mail server often repeat the address, so
// only their codes are shown unless more was asked for.
func MailOf(mail landfall.MailRecord, personal bool) Mail {
	painted := Mail{
		ID: mail.ID, Supplier: mail.Key.Supplier, External: mail.Key.External, Kind: string(mail.Kind), To: mail.MaskedTo(),
		Language: mail.Language, State: string(mail.State), QueuedAt: instant(mail.QueuedAt), DueAt: instant(mail.DueAt),
		SettledAt: instant(mail.SettledAt), Attempts: mail.Attempts, Told: mail.MayHaveArrived(), Reply: codes(mail),
	}
	if personal {
		painted.To, painted.Reply = mail.To, mail.Reply
	}
	return painted
}

// answered finds the codes that a mail server's words begin with.
var answered = regexp.MustCompile(`^(given up after \d+ attempts: )?[2-5]\d\d( [245]\.\d{1,3}\.\d{1,3})?\b`)

// codes is what may be shown of a reply. What the operator wrote, and what we
// wrote ourselves, holds nothing personal.
func codes(mail landfall.MailRecord) string {
	if found := answered.FindString(mail.Reply); found != "" && mail.State != landfall.MailWithdrawn && mail.State != landfall.MailBounced {
		return found
	}
	return mail.Reply
}
