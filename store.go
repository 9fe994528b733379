package landfall

import "context"

// Store stores everything. The comments of its interfaces are promises: each
// has a case in the suite that every store must pass.
//
// Every method returns ErrUnavailable when the database cannot be reached, is
// too busy or too slow, and never shows a driver's text. ErrOverloaded comes
// with it when so much work was waiting that nothing was tried. Callers
// (For) take turns, so that none blocks another. Times that order or expire
// things come from the database's clock, so that replicas with wrong clocks
// agree.
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
	TargetQueue
	Searcher
	ClockKeeper

	// For returns the same store for work of a caller.
	For(caller Caller) Store

	// Ping checks that the database answers and can be written to.
	Ping(ctx context.Context) error

	// Close stops running work and releases every resource.
	Close() error
}

// Transactor runs transactions. Packages that need nothing else of a store
// depend on this alone.
type Transactor interface {
	// View runs fn over one consistent snapshot. Nothing can be written. When
	// View returns one of the store's errors, fn may still be blocked in a
	// database that does not answer: do not read what fn fills in.
	View(ctx context.Context, fn func(View) error) error

	// Update runs fn in one transaction and commits it durably: when Update
	// returns nil, the effect survives a crash of this program and of the
	// database. When fn returns an error, everything is rolled back and Update
	// returns the same error. fn may run more than once, so it must have no
	// effect outside its Tx. When the answer to a commit is lost, Update looks up
	// the outcome: nil means it was committed; ErrUnknownOutcome means the outcome
	// could not be found out.
	//
	// A Tx locks what it reads by name or key (a supplier, process, organisation,
	// key or vendor) until it ends: another update that reads or changes the same
	// row waits and then sees the result. Lists lock nothing. Whatever Update
	// returns, a refusal included, is based on a commit of its own.
	Update(ctx context.Context, fn func(Tx) error) error
}

// View is everything that can be read.
type View interface {
	SupplierReader
	ProcessReader
	CredentialReader
	TeamReader
	AccountReader
	DuplicateReader
	WholeAccountReader
	UndoReader
	VendorReader
	MailReader
	EventReader
	AuditReader
	WebhookReader
	TargetReader
	RunReader
	TallyReader
	ReconciliationReader
	OperatorReader
	ReplicaReader
	PurgeReader
	PackReader
	ScrubReader
}

// Tx is everything that can be read and written in one transaction.
type Tx interface {
	View
	Writer
}

// Writer is everything that can be written.
type Writer interface {
	SupplierWriter
	ProcessWriter
	CredentialWriter
	TeamWriter
	EventWriter
	AuditWriter
	VendorWriter
	WebhookWriter
	TargetWriter
	ReconciliationWriter
	MailWriter
	RunWriter
	OperatorWriter
	ReplicaWriter
	TallyWriter
	RestoreWriter
	PackWriter
}

// RestoreWriter prepares a database that was restored from a copy. A store
// refuses to serve a copy that was not admitted, where it can tell.
type RestoreWriter interface {
	// EndTokens deletes every service token and login, console sessions included,
	// and returns how many tokens there were. Keys and operators stay.
	EndTokens(ctx context.Context) (int, error)
	// AdmitCopy allows serving a copy from its current location.
	AdmitCopy(ctx context.Context) error
	// FinishCopy allows serving a complete copy of another database.
	FinishCopy(ctx context.Context, mark int64) error
}
