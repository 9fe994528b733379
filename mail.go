package landfall

import (
	"strings"
	"time"
)

// MailKind says what a message to a customer is about.
type MailKind string

// MailMigrated tells a customer that the account has moved.
const MailMigrated MailKind = "account_migrated"

// Mail is a message to a customer, kept with the fact it tells. What it says is
// decided when it is sent, from the account and the templates of that day.
type Mail struct {
	Kind     MailKind
	To       string
	Language string        // BCP 47 tag the customer is written to in; "" when nobody said
	Delay    time.Duration // before which it is not sent
}

// MailState says how far a mail is.
type MailState string

// The states. A mail is queued with its account, and sending while somebody has
// the lease on it; every other state stays until the operator changes it.
const (
	MailQueued    MailState = "queued"    // waits for its turn, or for its next one
	MailSending   MailState = "sending"   // handed to a sender; when his lease ends it is tried again
	MailSent      MailState = "sent"      // the mail server took it
	MailRefused   MailState = "refused"   // the mail server will not have it, or not after many attempts
	MailWithdrawn MailState = "withdrawn" // the operator does not want it sent
	MailBounced   MailState = "bounced"   // taken first and sent back later, as the operator noted
)

// MailStates lists the states in the order a mail goes through them.
var MailStates = []MailState{MailQueued, MailSending, MailSent, MailRefused, MailWithdrawn, MailBounced}

// MailRecord is what is known about one mail.
type MailRecord struct {
	ID            int64
	Key           Key
	AccountNumber string // "" when the account was undone
	Kind          MailKind
	To            string
	Language      string
	State         MailState
	QueuedAt      time.Time
	DueAt         time.Time // of a queued one: the next attempt; of a sending one: the end of the lease
	SettledAt     time.Time // when it came to its last state; zero before
	Attempts      int       // that the mail server answered for this mail alone
	// Uncertain says that an attempt ended without an answer: the mail may have
	// arrived although it is not sent.
	Uncertain bool
	// Gone says that it is not known any more whom it is for: it was kept long
	// enough, or the account was erased.
	RecipientRemoved bool
	// Reply is what the mail server said last, which may name the address, or
	// the operator's reason.
	Reply string
}

// MayHaveArrived says whether the customer may have read it.
func (m MailRecord) MayHaveArrived() bool {
	return m.Uncertain || m.State == MailSending || m.State == MailSent || m.State == MailBounced
}

// MaskedTo is the address for people who need not know whose it is.
func (m MailRecord) MaskedTo() string {
	_, domain, _ := strings.Cut(m.To, "@")
	return "***@" + domain
}

// MailQuery asks for mails, the oldest first.
type MailQuery struct {
	Supplier string    // "" means all
	State    MailState // "" means all
	After    int64     // the ID of the last one seen
	Limit    int
}

// MailRequest asks for mails to send.
type MailRequest struct {
	Max  int           // at once
	PerMinute  int           // mails a minute of all replicas together
	Lease time.Duration // for which they are nobody else's
	After string        // the supplier who came last; others come first
	// Each is the most that one supplier has at once, what it holds already
	// included; 0 means no limit.
	PerSupplier int
	InFlight map[string]int
}

// MailBatch is the answer to a MailDemand.
type MailBatch struct {
	Mails []OutgoingMail
	// Wait is how long the pace forbids a next mail; zero when there is none.
	Wait time.Duration
}

// OutgoingMail is a mail that its holder is to send before the lease ends.
type OutgoingMail struct {
	MailRecord
	Token        string // fences: who lost the lease settles nothing but a success
	SupplierName string
	TimeZone     string     // of the supplier
	CreatedAt    time.Time  // when the account was made
	Customers    []Customer // those of the account with this address, in their order
}

// MailResult is what became of an attempt to send a mail.
type MailResult struct {
	ID    int64
	Token string
	// State is MailSent, MailRefused, or MailQueued for another attempt.
	State     MailState
	Pause     time.Duration // until that attempt
	Attempted bool          // the mail server answered for this mail, or fell silent over it
	Uncertain bool          // it fell silent when it had everything
	Reply     string
}
