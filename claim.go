package landfall

import "time"

// ClaimRequest asks for the sole right to create one account, for the time of a
// lease. A dry run only asks for the staged document.
type ClaimRequest struct {
	Key          Key
	Team         string
	Lease        time.Duration
	ServiceLimit int  // claims of the whole service at once; 0 means no limit
	DryRun       bool // block no other claim: the process stays as it is
	Limited      bool // the supplier is known to have a limit, which saves asking first
	Optimistic   bool // do not hold the process unless a limit has to be counted: the result is written soon
	By           Author
}

// ClaimVerdict is the result of a ClaimRequest.
type ClaimVerdict uint8

// The verdicts. Only Granted changes anything.
const (
	ClaimGranted         ClaimVerdict = iota + 1
	ClaimNotStaged                    // nothing was ever staged under the key
	ClaimImported                     // an account exists
	ClaimSkipped                      // the operator marked it
	ClaimTaken                        // another caller is creating it right now
	ClaimNoTeam                       // the team does not exist
	ClaimNoSupplier                   // the supplier is not Ongoing, or does not exist
	ClaimOverLimit                    // too many claims at once, of the supplier or the service
	ClaimDocumentRemoved              // the staged document was purged and has to be staged again
)

// Claim is the right to create one account until its lease ends by the
// database's clock. Its token is a fencing token: nothing is written for a
// claim whose token is no longer the process's. The claim of a dry run blocks
// no other claim; it has a token only when limits have to count it. An
// optimistic claim has no token either: its result is written if no claim holds
// the process and the staged revision has not changed, and a failure only if no
// other failure was recorded since, so that sending it again does not record it
// twice.
type Claim struct {
	Key      Key
	Token    string
	Team     string
	Revision int
	Document []byte // the staged document of that revision
	Hash     [32]byte
	Lease    time.Duration
	DryRun   bool
	Process  int64     // what the store knows the process by
	FailedAt time.Time // of an optimistic claim: when the failure on record was recorded; zero when there is none
}

// ClaimOutcome is the answer to one ClaimRequest.
type ClaimOutcome struct {
	Verdict       ClaimVerdict
	Claim         Claim         // with ClaimGranted
	AccountNumber string        // with ClaimImported
	LeaseLeft     time.Duration // of the other claim, with ClaimTaken
}

// Creation is a complete account, ready to be written in one transaction. With
// the claim of a dry run it is written and rolled back.
type Creation struct {
	Claim   Claim
	Account Account
	Mails   []Mail
	By      Author
	Run     string       // the run that creates it; "" for none
	Unique  []Identifier // the account is refused when another account has one of them
}

// CreateVerdict is the result of a Creation.
type CreateVerdict uint8

// The verdicts. Everything but Created leaves no account.
const (
	Created          CreateVerdict = iota + 1
	CreateRolledBack               // a dry run that would have succeeded
	CreateFenced                   // the claim was lost, or the process is no longer staged
	CreateNoSupplier               // the supplier is no longer Ongoing
	CreateDuplicate                // another account has one of the unique identifiers
)

// CreateOutcome is the answer to one Creation.
type CreateOutcome struct {
	Verdict   CreateVerdict
	Number    string
	At        time.Time
	Conflicts []Conflict // with CreateDuplicate
}

// Attempt is the record of a claim that ended without an account.
type Attempt struct {
	Failure *Failure // nil for a dry run that would succeed
	Event   Event
	By      Author
}
