package landfall

import (
	"context"
	"regexp"
	"strings"
	"time"
)

// MailKind is what a mail to a customer is about.
type MailKind string

// MailMigrated tells a customer that the account has moved.
const MailMigrated MailKind = "account_migrated"

// Mail is a message to a customer, stored with the account. Its text is rendered
// when it is sent, from the account and the current templates.
type Mail struct {
	Kind     MailKind
	To       string
	Language string        // BCP 47 tag of the customer's language; "" when unknown
	Delay    time.Duration // before it is sent
}

// MailState is the state of a mail.
type MailState string

// The states. A mail is queued with its account, and sending while a sender holds
// its lease; every other state stays until the operator changes it.
const (
	MailQueued    MailState = "queued"    // waits for its first or next attempt
	MailSending   MailState = "sending"   // leased to a sender; when the lease ends it is tried again
	MailSent      MailState = "sent"      // the mail server accepted it
	MailRefused   MailState = "refused"   // the mail server rejected it, or too many attempts failed
	MailWithdrawn MailState = "withdrawn" // the operator does not want it to be sent
	MailBounced   MailState = "bounced"   // accepted and returned later, as the operator recorded
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
	Attempts      int       // that the mail server answered for this mail
	// Uncertain is set when an attempt ended without an answer: the mail may have
	// arrived although its state is not sent.
	Uncertain bool
	// RecipientRemoved is set when the recipient was purged or the account erased.
	RecipientRemoved bool
	// Reply is the last reply of the mail server, which may contain the address, or
	// the operator's reason.
	Reply string
}

// MayHaveArrived reports whether the customer may have received it.
func (m MailRecord) MayHaveArrived() bool {
	return m.Uncertain || m.State == MailSending || m.State == MailSent || m.State == MailBounced
}

// MaskedTo returns the address without the part that identifies a person.
func (m MailRecord) MaskedTo() string {
	_, domain, _ := strings.Cut(m.To, "@")
	return "***@" + domain
}

// smtpCodes matches the codes at the start of a mail server's reply.
var smtpCodes = regexp.MustCompile(`^([a-z ]+ after \d+ attempts: )?[2-5]\d\d( [245]\.\d{1,3}\.\d{1,3})?\b`)

// Cause is the part of the reply that is not personal: the codes of a mail server,
// whose text often repeats the address. Texts of operators and our own are not personal
// either.
func (m MailRecord) Cause() string {
	if found := smtpCodes.FindString(m.Reply); found != "" && m.State != MailWithdrawn && m.State != MailBounced {
		return found
	}
	return m.Reply
}

// MailQuery asks for mails, oldest first.
type MailQuery struct {
	Supplier string    // "" means all
	Except   []string  // suppliers whose mails are left out
	State    MailState // "" means all
	After    int64     // the ID of the last one seen; 0 starts at the beginning
	Newest   bool      // newest first
	Limit    int
}

// MailRequest asks for mails to send.
type MailRequest struct {
	Max       int           // mails in the batch
	PerMinute int           // mails per minute of all replicas together
	Lease     time.Duration // during which no other sender gets them
	After     string        // the last supplier served; others come first
	// PerSupplier limits the mails that one supplier has in flight, InFlight included;
	// 0 means no limit.
	PerSupplier int
	InFlight    map[string]int
}

// MailBatch is the answer to a MailRequest.
type MailBatch struct {
	Mails []OutgoingMail
	// Wait is how long the rate limit delays the next mail; zero when there is none.
	Wait time.Duration
}

// OutgoingMail is a mail that its holder must send before the lease ends.
type OutgoingMail struct {
	MailRecord
	Token        string // fencing token: after the lease ended only a success can be recorded
	SupplierName string
	TimeZone     string     // of the supplier
	CreatedAt    time.Time  // when the account was created
	Customers    []Customer // those of the account with this address, in their order
}

// MailResult is the result of an attempt to send a mail.
type MailResult struct {
	ID    int64
	Token string
	// State is MailSent, MailRefused, or MailQueued for another attempt.
	State     MailState
	Pause     time.Duration // until that attempt
	Attempted bool          // the mail server answered for this mail, or stopped answering during it
	Uncertain bool          // it stopped answering after it had received everything
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
	Mail(ctx context.Context, id int64) (MailRecord, error) // or ErrNotFound
	Mails(ctx context.Context, query MailQuery) ([]MailRecord, error)
	MailsOf(ctx context.Context, key Key) ([]MailRecord, error)          // of one account, oldest first
	MailsWaiting(ctx context.Context, limit int) (int, time.Time, error) // queued or sending, counted up to limit; since when
	// MailSenderUntil returns until when a server has announced that it can send
	// mail. Such servers renew the announcement.
	MailSenderUntil(ctx context.Context) (time.Time, error)
}

// MailWriter changes the mails to customers. A Tx locks a mail that it reads by
// its ID, and an account's mails after RetractMails.
type MailWriter interface {
	// SetMailState gives a mail that is not being sent another state, with the
	// operator's reason; ErrNotFound when there is no such mail, ErrFenced while
	// it is being sent. A mail that is queued again is due at once, with no
	// attempts.
	SetMailState(ctx context.Context, id int64, state MailState, reason string) error
	// RetractMails prepares the undo of an account. It locks the account's mails
	// until the transaction ends, so that no sender can claim one, and reports
	// whether a customer may have been notified (MailRecord.MayHaveArrived). If
	// so, nothing changes and the account must stay. If not, waiting mails are
	// deleted as if they had never been queued; refused and withdrawn ones stay,
	// so that creating the account again queues none for their addresses.
	RetractMails(ctx context.Context, key Key) (told bool, err error)
	// AnnounceMailSender records that a server can send mail for a duration from
	// now. A shorter duration than announced before changes nothing. Zero ends the
	// announcement.
	AnnounceMailSender(ctx context.Context, length time.Duration) error
}
