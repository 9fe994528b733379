package landfall

import (
	"context"
	"iter"
)

// Store keeps everything. Its comments are promises: each has a case in the
// suite that every store must pass.
//
// All methods answer ErrUnavailable when the database is away, too busy or too
// slow, and never leak a driver's text; ErrOverloaded with it says that so much
// was waiting that nothing was tried. Who asks for whom (OnBehalf) takes turns,
// so that no organisation holds up another. Times that order or expire things come
// from the database's clock, so that replicas with wrong clocks agree.
type Store interface {
	Transactor
	Importer
	RunQueue
	Lister
	Inspector
	MailQueue
	Purger
	Rekeyer
	EventLog
	AuditChainer
	WebhookQueue
	Searcher

	// Ping says whether the database answers and can be written to.
	Ping(ctx context.Context) error

	// Close ends running work and gives back every resource.
	Close() error
}

// Transactor reads and writes whatever a transaction can. Rooms that need no
// more of a store than this ask for no more.
type Transactor interface {
	// View runs fn over one consistent snapshot. Nothing can be written. When it
	// answers with an error of the store's, fn may still be stuck in a database
	// that says nothing: what fn fills in must not be looked at then.
	View(ctx context.Context, fn func(View) error) error

	// Update runs fn in one transaction and commits it durably: when Update
	// returns nil, the effect survives a crash of this program and of the
	// database. When fn returns an error, nothing of it remains and the same
	// error comes back. fn may run more than once, so it must have no effect
	// outside its Tx. A commit whose answer was lost is looked up: nil means it
	// is there; ErrUnknownOutcome means even that could not be found out.
	//
	// What a Tx reads by its name or key (a supplier, process, organisation, key
	// or vendor) it holds until it ends: another update that reads or changes
	// the same waits, and then sees what this one left. Lists hold nothing.
	// Whatever Update answers, a refusal included, rests on a commit of its own.
	Update(ctx context.Context, fn func(Tx) error) error
}

// Importer moves accounts onto the platform. Every method decides and writes in
// one transaction, which it may share with concurrent calls; no call can see or
// undo another's. None writes anything for an author whose key has been revoked,
// has ended or is of a disabled organisation for more than a second: ErrRevoked
// then. Release alone still frees what was claimed, and keeps nothing else.
type Importer interface {
	// Stage keeps one document durably with its author, or says why not. Staging the
	// same content again changes nothing and is StagedAgain; other content
	// becomes the next revision, and the earlier one stays readable. Of many
	// first stagings at once exactly one is StagedFirst. A supplier set to
	// another status than Ongoing refuses every Stage that begins after the
	// change was committed; an account that exists is told whatever the status.
	Stage(ctx context.Context, staging Staging) (StageOutcome, error)

	// StageAll is Stage for many documents of different accounts: each is kept
	// or refused as if it had come alone, and all of them cost little more
	// than a few.
	StageAll(ctx context.Context, stagings []Staging) []StageResult

	// Refuse keeps why a staging was refused, its codes and places alone, until
	// the account is staged; the last one counts. Of an account that exists or
	// is marked to be skipped nothing is kept, nor of an unknown supplier's.
	Refuse(ctx context.Context, refusal Refusal) error

	// Claim gives the sole right to create one account, with the staged
	// document to make it from. Of many claims at once at most one is granted,
	// and the next one only when its lease has ended by the database's clock or
	// it was released. A document that is not the one that was staged is an
	// error and no claim. Never more claims are alive than the supplier's limit and
	// the request's allow, counted over all replicas. A granted claim may be
	// forgotten in a crash of the database, and then nobody holds it. An account
	// that exists is told whatever the supplier's status. A dry run is granted
	// whoever holds the process, and changes nothing about it: it only counts
	// toward the limits.
	Claim(ctx context.Context, request ClaimRequest) (ClaimOutcome, error)

	// Renew starts the lease of a claim anew, or answers ErrFenced when it has
	// ended or somebody else holds the process.
	Renew(ctx context.Context, claim Claim) error

	// Release ends a claim without an account: it keeps the attempt's failure,
	// or forgets an earlier one when there is none, and appends its event, as
	// durably as anything else. A claim whose token is no longer the process's
	// is ErrFenced, and nothing is written for it. The failure of a dry run is
	// kept only while the process still waits with the revision it tried; its
	// event always is.
	Release(ctx context.Context, claim Claim, attempt Attempt) error

	// Create writes a whole account with its event and mails, and gives it its
	// number: all of it or nothing. Only the holder of the process's token can;
	// against a skip mark, another claim or a re-staging exactly one wins. A
	// supplier set to another status than Ongoing refuses every Create that
	// begins after the change was committed. A dry run does everything, rolls
	// it back, and keeps in the same transaction that it would have succeeded:
	// its event, and no failure any more.
	Create(ctx context.Context, creation Creation) (CreateOutcome, error)

	// Post locks an account, lets the posting decide about what it finds, and
	// writes what it adds: all of it or nothing. Postings onto one account
	// happen one after the other, each seeing what the ones before it added. An
	// error of Decide comes back as it is and concerns its posting alone. A
	// supplier set to Paused refuses every Post that begins after the change was
	// committed; a Complete one goes on taking what comes late for its accounts.
	Post(ctx context.Context, posting Posting) (PostOutcome, error)

	// Undo takes an account back: everything of it goes, mails that nobody has
	// begun to send included, its number is retired and never given again, and
	// its process is staged as before, with the event and the audit entry of it
	// in the same transaction. It does so only within the supplier's undo window
	// by the database's clock, while nothing was added to the account and no
	// customer was told; otherwise it is kept, and nothing changes. Against a
	// posting, a mail being sent or another undo exactly one wins. The
	// supplier's status does not matter: it is the operator who asks.
	Undo(ctx context.Context, undoing UndoRequest) (UndoOutcome, error)
}

// Lister reads what may be long, a batch at a time: memory does not grow with
// the number of rows, and however slowly a caller reads, no transaction stays
// open for him. Every row that stood throughout appears exactly once and in
// order; one that went or changed meanwhile appears at most once; what is
// staged after a list began is not in it. An unknown supplier is an empty
// list: who may ask is the caller's question.
type Lister interface {
	// List streams a supplier's processes in the order of first staging, then
	// external number by bytes. Imported ones come with what their accounts
	// come to when the query asks for it, as AccountFigures gives it.
	List(ctx context.Context, query ProcessQuery) iter.Seq2[ProcessEntry, error]

	// Failed streams every account of a supplier that does not get on, by
	// external number: its last failed attempt, dry runs included, or its last
	// refused staging, whichever is newer. Skipped ones are left out.
	Failed(ctx context.Context, query FailureQuery) iter.Seq2[FailedProcess, error]

	// FailureSummary groups what Failed streams by code and place. A failure
	// without violations counts by its own code.
	FailureSummary(ctx context.Context, supplier string) (FailureSummary, error)

	// Contributions streams the accounts behind a figure of a reconciliation: those
	// that are pending or skipped in the order of first staging, the others by
	// external number. An account that has no part in the measure is left out.
	Contributions(ctx context.Context, query ContributionQuery) iter.Seq2[Contribution, error]
}

// View is what can be read.
type View interface {
	SupplierReader
	ProcessReader
	CredentialReader
	TeamReader
	RecordReader
	AccountReader
	VendorReader
	MailReader
	EventReader
	AuditReader
	WebhookReader
	RunReader
	TallyReader
	ReconciliationReader
	AccountPageReader
	OperatorReader
	SurveyReader
}

// Tx is what can be read and written in one transaction.
type Tx interface {
	View
	SupplierWriter
	ProcessWriter
	CredentialWriter
	TeamWriter
	RecordWriter
	VendorWriter
	WebhookWriter
	ReconciliationWriter
	MailWriter
	RunWriter
	RestoreWriter
	OperatorWriter
}

// ProcessReader reads account import processes.
type ProcessReader interface {
	// Process gives one by its key, or ErrNotFound. A claim whose lease has
	// ended by the database's clock reads as Staged.
	Process(ctx context.Context, key Key) (Process, error)
	// Revisions gives the staging history, oldest first, documents included.
	// A document that is not the one that was staged is an error; one that
	// is gone is none.
	Revisions(ctx context.Context, key Key) ([]StagedRevision, error)
	// UndoneAccounts gives the accounts of a process that were taken back,
	// oldest first.
	UndoneAccounts(ctx context.Context, key Key) ([]UndoneAccount, error)
	// UndoFigures says how many accounts were ever taken back, and how often one
	// was kept for each reason.
	UndoFigures(ctx context.Context) (undone int, kept map[KeptReason]int, err error)
}

// ProcessWriter changes account import processes.
type ProcessWriter interface {
	// Skip marks an account so that it is neither staged nor created any more,
	// also one that was never staged: its process then has revision 0.
	// ErrNotFound when there is no such supplier; when the process is Imported,
	// Claimed or Skipped already nothing changes and the state found is
	// returned with ErrExists.
	Skip(ctx context.Context, key Key, reason string) (ProcessState, error)
	// Unskip takes the mark away; ErrNotFound when there is no mark. A process
	// that was never staged is gone with it.
	Unskip(ctx context.Context, key Key) error
	// Erase takes away for good what is personal of an account: what was staged,
	// people, addresses, what somebody wrote, mails, what it is found by. Its
	// numbers, its books and that it was there stay. An account that was
	// never created is marked to be skipped, so that it does not come back. Again
	// erases what was added since. Of an account that was only ever refused the
	// refusal goes. ErrNotFound when there is not even that;
	// ErrExists while it is being created.
	Erase(ctx context.Context, key Key) (Erasure, error)
}

// RecordReader reads what happened.
type RecordReader interface {
	// Events gives the events about one process, oldest first.
	Events(ctx context.Context, key Key) ([]Event, error)
	// Audit gives the audit entries about one subject, oldest first.
	Audit(ctx context.Context, subject string) ([]AuditEntry, error)
}

// RecordWriter writes down what happened, in the transaction that made it so.
type RecordWriter interface {
	AppendEvent(ctx context.Context, event Event) error      // At is set here
	AppendAudit(ctx context.Context, entry AuditEntry) error // At and ID are set here
}

// AccountReader reads created accounts.
type AccountReader interface {
	// Account gives the account of a process with everything on it, or
	// ErrNotFound. Its transactions are in the ledger; the two lists of them
	// in its data stay empty.
	Account(ctx context.Context, key Key) (Account, error)
	// AccountFigures gives what the account of a process comes to, or
	// ErrNotFound. It costs the same however long the ledger is.
	AccountFigures(ctx context.Context, key Key) (AccountFigures, error)
	// AccountState gives what a posting of transactions with these ids would be
	// decided by if it came now, or ErrNotFound: number, clock, open period,
	// balance, length of the ledger and the entries with those ids. Nothing is
	// held, so it decides nothing that is written.
	AccountState(ctx context.Context, key Key, transactionIDs []string) (AccountState, error)
	// AccountByNumber is Account by the number the account was given.
	AccountByNumber(ctx context.Context, number string) (Account, error)
	// UndoneInRun says how many of the accounts that a run created were taken
	// back.
	UndoneInRun(ctx context.Context, run string) (int, error)
	// UndoForecast says what Undo would answer now for the accounts that a run
	// created, for a part of its members at a time: those from one on, counted
	// from 0, and at most so many. Behind the last it counts nothing.
	UndoForecast(ctx context.Context, run string, from, most int) (UndoForecast, error)
	// UndoneAccount gives the account that had a number and was taken back, or
	// ErrNotFound.
	UndoneAccount(ctx context.Context, number string) (UndoneAccount, error)
}
