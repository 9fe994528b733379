package landfall

import (
	"context"
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
	Max       int           // at once
	PerMinute int           // mails a minute of all replicas together
	Lease     time.Duration // for which they are nobody else's
	After     string        // the supplier who came last; others come first
	// Each is the most that one supplier has at once, what it holds already
	// included; 0 means no limit.
	PerSupplier int
	InFlight    map[string]int
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

// MailQueue hands out the mails that creations queued, each at least once: when
// a sender dies, the next one gets its mails once the lease has ended by the
// database's clock. A mail goes from queued to sending, and then to sent,
// refused, or queued again. There is never more than one mail for an account, a
// kind and an address, not even when the account is created again after an undo.
type MailQueue interface {
	// MailsDue reports whether a mail could be sent now. It writes nothing.
	MailsDue(ctx context.Context) (bool, error)
	// ClaimMails leases mails to one sender, durably before it returns: each mail
	// goes to one of many concurrent senders. The suppliers with due mails share
	// the batch, none with more than the request allows. All claims together keep
	// the rate limit. Nothing is given for a supplier that is Paused or has its
	// mails switched off.
	ClaimMails(ctx context.Context, request MailRequest) (MailBatch, error)
	// SettleMail records the result of an attempt. ErrFenced means that the lease
	// has passed to another sender or that the operator has decided; only the
	// result that a mail was sent is recorded whoever holds the lease.
	SettleMail(ctx context.Context, result MailResult) error
}

// MailReader reads the mails to customers.
type MailReader interface {
	Mail(ctx context.Context, id int64) (MailRecord, error)              // or ErrNotFound
	Mails(ctx context.Context, query MailQuery) ([]MailRecord, error)    // oldest first
	MailsOf(ctx context.Context, key Key) ([]MailRecord, error)          // of one account, oldest first
	MailsWaiting(ctx context.Context, limit int) (int, time.Time, error) // queued or sending, counted up to limit; since when
	// MailSenderUntil returns until when a server has announced that it can send
	// mail. Such servers renew the announcement.
	MailSenderUntil(ctx context.Context) (time.Time, error)
}

// MailWriter changes the mails to customers. A Tx locks a mail that it reads by
// its ID, and an account's mails after RetractMails.
type MailWriter interface {
	// SetMailState gives a mail that nobody is sending another state, with the
	// operator's reason; ErrNotFound when there is no such mail, ErrFenced while
	// somebody is sending it. A mail that is queued again is due at once, with no
	// attempts.
	SetMailState(ctx context.Context, id int64, state MailState, reason string) error
	// RetractMails prepares the undo of an account. It locks the account's mails
	// until the transaction ends, so that no sender can claim one, and reports
	// whether a customer may have been told (MailRecord.MayHaveArrived). If so,
	// nothing changes and the account must stay. If not, waiting mails are deleted
	// as if they had never been queued; refused and withdrawn ones stay, so that
	// creating the account again queues none for their addresses.
	RetractMails(ctx context.Context, key Key) (told bool, err error)
	// AnnounceMailSender records that a server can send mail for a duration from
	// now. A shorter duration than announced before changes nothing. Zero ends the
	// announcement.
	AnnounceMailSender(ctx context.Context, length time.Duration) error
}
