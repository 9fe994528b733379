package landfall

import "time"

// ClaimRequest asks for the sole right to create one account for a while, or,
// for a dry run, for what it would be created from.
type ClaimRequest struct {
	Key          Key
	Team         string
	Lease        time.Duration
	ServiceLimit int  // claims of the whole service at once; 0 means no limit
	DryRun       bool // keep nobody away: the process stays as it is
	Optimistic   bool // hold nothing where nothing has to be counted: what comes of it is written soon
	By           Author
}

// ClaimVerdict says what became of a ClaimRequest.
type ClaimVerdict uint8

// The verdicts. Only Granted changes anything.
const (
	ClaimGranted         ClaimVerdict = iota + 1
	ClaimNotStaged                    // nothing was ever staged under the key
	ClaimImported                     // an account exists
	ClaimSkipped                      // the operator marked it
	ClaimTaken                        // somebody else is creating it right now
	ClaimNoTeam                       // the team does not exist
	ClaimNoSupplier                   // the supplier is not Ongoing, or gone
	ClaimOverLimit                    // too many claims at once, of the supplier or the service
	ClaimDocumentRemoved              // what was staged was kept long enough, and is to be staged again
)

// Claim is the right to create one account until its lease ends by the
// database's clock. The token fences: nothing is written for a claim whose
// token is no longer the process's. The claim of a dry run fences nobody; it
// has a token only where limits make it count. A loose claim has no token
// either: something is written for it while nobody holds the process and what
// is staged is still what was looked at; and a failure only while no other was
// kept since, or one that is sent again would be told twice.
type Claim struct {
	Key      Key
	Token    string
	Team     string
	Revision int
	Document []byte // the staged document of that revision
	Hash     [32]byte
	Lease    time.Duration
	DryRun   bool
	FailedAt time.Time // of one that holds nothing: when the failure on record was kept, zero when there is none
}

// ClaimOutcome is the answer to one ClaimRequest.
type ClaimOutcome struct {
	Verdict       ClaimVerdict
	Claim         Claim         // with ClaimGranted
	AccountNumber string        // with ClaimImported
	LeaseLeft     time.Duration // of the lease that is in the way, with ClaimTaken
}

// Creation is everything one created account consists of, ready to be written
// in one transaction. With the claim of a dry run all of it is done and then
// rolled back.
type Creation struct {
	Claim   Claim
	Account Account
	Mails   []Mail
	By      Author
	Run     string // in which run it happens; "" for none
}

// CreateVerdict says what became of a Creation.
type CreateVerdict uint8

// The verdicts. Everything but Created leaves no account.
const (
	Created          CreateVerdict = iota + 1
	CreateRolledBack               // a dry run that would have succeeded
	CreateFenced                   // the claim was lost, or the process is no longer one to create from
	CreateNoSupplier               // the supplier stopped being Ongoing meanwhile
)

// CreateOutcome is the answer to one Creation.
type CreateOutcome struct {
	Verdict CreateVerdict
	Number  string
	At      time.Time
}

// Attempt is what is kept of a claim that ended without an account.
type Attempt struct {
	Failure *Failure // nil when nothing was wrong: a dry run that would succeed
	Event   Event
	By      Author
}
