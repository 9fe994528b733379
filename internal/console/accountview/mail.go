package accountview

import "landfall"

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
		SettledAt: formatInstant(mail.SettledAt), Attempts: mail.Attempts, MayHaveBeenRead: mail.MayHaveArrived(), Reply: mail.Cause(),
	}
	if personal {
		view.To, view.Reply = mail.To, mail.Reply
	}
	return view
}
