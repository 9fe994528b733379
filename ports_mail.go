package landfall

import (
	"context"
	"time"
)

// MailQueue hands out the mails that creations queued, at least once each: a
// sender that dies leaves its mails to the next one when the lease has ended by
// the database's clock. A mail goes queued → sending → sent, refused, or queued
// again. There is one for an account, a kind and an address, for ever: neither
// creating again after an undo nor anything else queues a second.
type MailQueue interface {
	// MailsDue says whether a mail could be sent now. It writes nothing.
	MailsDue(ctx context.Context) (bool, error)
	// ClaimMails gives mails to one sender, durably before it answers: of many
	// senders at once each mail goes to one. The suppliers that have mails due
	// share what is given, none of them more than the demand says. All takings together keep the pace. Nothing is given
	// for a supplier that is Paused or has its mails switched off.
	ClaimMails(ctx context.Context, demand MailRequest) (MailBatch, error)
	// SettleMail keeps what became of an attempt. ErrFenced says that the lease
	// has passed to somebody else, or that the operator has decided; only that
	// a mail was sent is kept whoever has the lease now.
	SettleMail(ctx context.Context, result MailResult) error
}

// MailReader reads the mails to customers.
type MailReader interface {
	Mail(ctx context.Context, id int64) (MailRecord, error)             // or ErrNotFound
	Mails(ctx context.Context, query MailQuery) ([]MailRecord, error)   // the oldest first
	MailsOf(ctx context.Context, key Key) ([]MailRecord, error)         // of one account, the oldest first
	MailsWaiting(ctx context.Context, most int) (int, time.Time, error) // queued or sending, counted up to most; since when
	// MailSenderUntil says until when a server promised to be there that has a
	// mail server to send through. Such servers renew it.
	MailSenderUntil(ctx context.Context) (time.Time, error)
}

// MailWriter changes the mails to customers. What a Tx reads of a mail by its
// ID it holds, as it holds an account's mails after RetractMails.
type MailWriter interface {
	// SetMailState gives a mail that nobody is sending another state, with the
	// operator's reason; ErrNotFound when there is no such mail, ErrFenced when
	// somebody is sending it. Queued anew it is due at once, with no attempts.
	SetMailState(ctx context.Context, id int64, state MailState, reason string) error
	// RetractMails is for whoever undoes an account. It holds the account's
	// mails until the transaction ends, so that no sender can take one, and says
	// whether a customer may have been told: a mail is sent, is being sent,
	// bounced, or an attempt ended without an answer (MailRecord.Told). If so
	// nothing is changed, and the account must stay. If not, the mails that wait
	// are gone, as if never queued; refused and withdrawn ones stay for good, so
	// that the account created again queues none for their addresses.
	RetractMails(ctx context.Context, key Key) (told bool, err error)
	// AnnounceMailSender notes that a server can send mail for so long from now; a
	// shorter time than was noted before changes nothing. Zero ends the promise.
	AnnounceMailSender(ctx context.Context, length time.Duration) error
}
