package landfall

import "context"

// Importer moves accounts onto the platform. Every method decides and writes in
// one transaction, which it may share with concurrent calls; no call can see or
// roll back another. Nothing is written for an author whose key has been revoked
// or has expired, or whose organisation has been disabled, for more than a
// second: the method returns ErrRevoked. Only Release still frees the claim in
// that case, and writes nothing else.
type Importer interface {
	// Stage stores one document durably with its author, or says why not.
	// Staging the same content again changes nothing and is StagedAgain; other
	// content becomes the next revision, and earlier revisions stay readable. Of
	// many concurrent first stagings exactly one is StagedFirst. Once a supplier
	// was set to another status than Ongoing, every Stage that begins after that
	// commit is refused; an existing account is reported whatever the status.
	Stage(ctx context.Context, staging Staging) (StageOutcome, error)

	// StageAll is Stage for many documents of different accounts. Each is stored
	// or refused as if it had been sent alone, and all together cost little more
	// than a few.
	StageAll(ctx context.Context, stagings []Staging, turn Turn) []StageResult

	// Refuse records why a staging was refused, only its codes and attributes,
	// until the account is staged; the last refusal counts. Nothing is recorded
	// for an account that exists or is marked as skipped, or for an unknown
	// supplier.
	Refuse(ctx context.Context, refusal Refusal) error

	// Claim gives the sole right to create one account, with the staged document
	// to create it from. Of many concurrent claims at most one is granted; the
	// next one is granted when the lease has ended by the database's clock or the
	// claim was released. A document that differs from the one that was staged is
	// an error, not a claim. There are never more live claims than the limits of
	// the supplier and the request allow, counted over all replicas. A granted
	// claim may be lost in a crash of the database; then the process is free. An
	// existing account is reported whatever the supplier's status. A dry run is
	// granted even while another claim holds the process, and does not change it:
	// it only counts toward the limits.
	Claim(ctx context.Context, request ClaimRequest) (ClaimOutcome, error)

	// Renew restarts the lease of a claim, or returns ErrFenced when the lease
	// has ended or another claim holds the process.
	Renew(ctx context.Context, claim Claim) error

	// Release ends a claim without an account: it durably records the attempt's
	// failure, or deletes an earlier one when there is none, and appends the
	// attempt's event. When the token is no longer the process's it returns
	// ErrFenced and writes nothing. The failure of a dry run is recorded only
	// while the process still waits with the revision that was tried; its event
	// always is.
	Release(ctx context.Context, claim Claim, attempt Attempt) error

	// Create writes a whole account with its event and mails, and assigns its
	// number: all of it or nothing. Only the holder of the process's token can
	// create; against a skip mark, another claim or a re-staging exactly one wins.
	// Once a supplier was set to another status than Ongoing, every Create that
	// begins after that commit is refused. A dry run does everything, rolls it
	// back, and records in the same transaction that it would have succeeded: it
	// appends its event and deletes the failure on record.
	Create(ctx context.Context, creation Creation) (CreateOutcome, error)

	// Post locks an account, lets the posting decide from what it finds, and
	// writes what it adds: all of it or nothing. Postings onto one account run one
	// after the other, each seeing what earlier ones added. An error of Decide is
	// returned unchanged and affects its posting alone. Once a supplier was set to
	// Paused, every Post that begins after that commit is refused; a Complete
	// supplier still accepts late postings for its accounts.
	Post(ctx context.Context, posting Posting) (PostOutcome, error)

	// RefusePosting records why a posting to an account was refused, only its codes
	// and attributes, until a posting of that kind is accepted; the last refusal of
	// each kind counts. It appends an event in the same transaction. Nothing is
	// recorded when there is no account. A refusal of the kind PostingAccount has no
	// event and is not listed among failures; without violations it deletes the one
	// on record.
	RefusePosting(ctx context.Context, refusal PostingRefusal) error

	// Undo removes an account and everything on it, including mails that no
	// sender has claimed. Its process is staged as before and keeps the number: the
	// account has it again when it is created again, and no other account gets it.
	// The event and the audit entry are written in the same transaction. It does so
	// only within the supplier's undo window by the database's clock, while
	// everything that was added to the account came with the delivery that staged it
	// (unless AllPostings) and no customer was notified; otherwise the account is
	// kept and nothing changes.
	// Against a posting, a mail being sent or another undo exactly one wins. The
	// supplier's status does not matter, because only operators undo.
	Undo(ctx context.Context, request UndoRequest) (UndoOutcome, error)
}
