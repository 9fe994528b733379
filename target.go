package landfall

import (
	"context"
	"strings"
	"time"
)

// TargetState is whether accounts are delivered to a target.
type TargetState string

// The states of a target.
const (
	TargetActive TargetState = "active"
	TargetPaused TargetState = "paused" // by the operator
)

// Target is a system that created accounts are delivered to.
type Target struct {
	Code      string
	URL       string
	Secrets   []WebhookSecret // that deliveries are signed with, unless SecretEnv is set
	SecretEnv string          // the environment variable with the secret
	Shape     string          // a jq program that turns our JSON into the target's; "" changes nothing
	AtOnce    int             // accounts delivered side by side
	TakesBack bool            // an account can be deleted again
	State     TargetState

	CreatedAt   time.Time // by the database's clock, like all of these
	DueAt       time.Time // not before
	Attempts    int       // rounds that failed in a row
	FailingAt   time.Time // when the first of them was; zero while all is well
	Status      int       // of the last response that failed
	Reason      string    // a sentence for people
	Delivered   int64     // deliveries, ever
	DeliveredAt time.Time // the last time
}

// MaskedURL is the URL without its path and query, which may contain a token.
func (t *Target) MaskedURL() string { return maskedURL(t.URL) }

// TargetDeliveryKind is what a delivery has, as in its path.
type TargetDeliveryKind string

// The kinds of deliveries.
const (
	DeliverAccount      TargetDeliveryKind = "account"
	DeliverNotes        TargetDeliveryKind = "notes"
	DeliverTransactions TargetDeliveryKind = "transactions"
	DeliverStatements   TargetDeliveryKind = "statements"
	DeliverInstructions TargetDeliveryKind = "payment-instructions"
)

// TargetDeliveryState is the state of a delivery to a target.
type TargetDeliveryState string

// The states. Until it is delivered, later deliveries of the account wait.
const (
	TargetWaiting   TargetDeliveryState = "waiting"
	TargetPending   TargetDeliveryState = "pending" // the target has it and will confirm or refuse it
	TargetDelivered TargetDeliveryState = "delivered"
	TargetRefused   TargetDeliveryState = "refused" // until an operator does something
)

// TargetDeliveryStates lists the states in the order in which they are shown.
var TargetDeliveryStates = []TargetDeliveryState{TargetWaiting, TargetPending, TargetRefused, TargetDelivered}

// TargetDelivery is an account or what was posted to it, on its way to a target.
type TargetDelivery struct {
	ID        int64
	At        time.Time // when it was written; with ID it is unique for ever
	Target    string
	Key       Key
	Number    string
	Kind      TargetDeliveryKind
	State     TargetDeliveryState
	Held      bool // the account is being taken back
	Attempts  int
	DueAt     time.Time // zero: not waiting for a time
	SettledAt time.Time
	Status    int    // of the last response; 0: there was none
	Reply     string // what the target said, or why it was not reached
	TargetID  string // the name of the account at the target

	// What is delivered; only in rounds. Account has the lists as they were when
	// the delivery was written, Lists has what was posted.
	Account *WholeAccount
	Lists   AccountLists
	Problem string // why there is nothing to deliver; "": there is
}

// WaitsFor says for people what has to happen before a delivery goes on; "": nothing,
// or only its time.
func (d *TargetDelivery) WaitsFor() string {
	switch {
	case d.State == TargetDelivered:
		return ""
	case d.Held:
		return "the undo of the account, which stopped its deliveries: repeat the undo, or deliver the account again with: delivery restart"
	case d.State == TargetPending:
		return "the target, which has it and will confirm or refuse it"
	case d.State == TargetRefused:
		return "an operator: send it again, or confirm it"
	case d.DueAt.IsZero():
		return "an earlier delivery of the account"
	}
	return ""
}

// Undecided says why a delivery cannot be confirmed or refused.
func (d *TargetDelivery) Undecided(allowed string) string {
	if d.Held {
		return "The deliveries of the account are stopped, because it is being undone."
	}
	return "The delivery is " + strings.ToUpper(string(d.State)) + ". Only a " + allowed + "."
}

// TargetClaim is the sole right to deliver to a target during a lease.
type TargetClaim struct{ Code, Token string }

// TargetRound is what is to be delivered next.
type TargetRound struct {
	Target Target
	// Chains are deliveries by account, in order.
	Chains [][]TargetDelivery
	// Blocked are due deliveries whose account has an earlier one that is not due.
	Blocked []int64
	More    bool // there may be more
}

// TargetResult is the result of one delivery.
type TargetResult struct {
	Delivery *TargetDelivery
	State    TargetDeliveryState
	Pause    time.Duration // until the next attempt, when it waits
	Status   int
	Reply    string
	TargetID string
}

// TargetRoundResult is the result of a round.
type TargetRoundResult struct {
	Results     []TargetResult
	Blocked     []int64 // as in the round
	Pause       time.Duration
	RoundFailed bool // the target as a whole is failing
	Delivered   int
	KeepClaim   bool // another round follows under the same claim
	Lease       time.Duration
	Status      int
	Reason      string
}

// TargetQueue delivers to targets, in rounds. At most one replica holds the claim
// of a target, by the database's clock; a replica that lost it can no longer write
// anything. A change by an operator ends the claim too.
type TargetQueue interface {
	// ClaimTargets claims active targets that have something to deliver and are due,
	// those that have waited longest first.
	ClaimTargets(ctx context.Context, limit int, lease time.Duration) ([]TargetClaim, error)
	// TargetRound reads what to deliver next, at most limit deliveries and as much as
	// fits into memory, or returns ErrFenced.
	TargetRound(ctx context.Context, claim TargetClaim, limit int) (TargetRound, error)
	// SaveTargetRound records the result of a round with its events and figures, or
	// returns ErrFenced.
	SaveTargetRound(ctx context.Context, claim TargetClaim, result TargetRoundResult) error
	// SettleDelivery confirms or refuses a delivery that is pending or refused, with
	// its event and figures. It returns ErrNotFound for another delivery, or one that
	// is in another state than those given, and the delivery as it is.
	SettleDelivery(ctx context.Context, settlement TargetSettlement) (TargetDelivery, error)
	// HoldDeliveries stops the deliveries of an account, so that it can be taken back
	// from its target. It is repeated until nothing is under way any more.
	HoldDeliveries(ctx context.Context, key Key) (TakeBack, error)
	// ReleaseDeliveries ends what HoldDeliveries began: the account is not taken back.
	ReleaseDeliveries(ctx context.Context, key Key) error
	// RestartDeliveries replaces the deliveries of accounts by one of each whole
	// account as it is now: of the account with a key, or, when external is "", of at
	// most limit accounts of a supplier that have none. It returns how many there
	// were. Without a target it returns ErrNotFound.
	RestartDeliveries(ctx context.Context, key Key, limit int) (int, error)
}

// TargetSettlement decides about a delivery.
type TargetSettlement struct {
	ID       int64
	At       time.Time
	From     []TargetDeliveryState
	Supplier []string // the delivery must be of one of these; none: of any
	State    TargetDeliveryState
	Reply    string
	TargetID string
	By       Author
}

// TakeBack is what has to be done before an account that has deliveries is undone.
type TakeBack struct {
	Target Target
	Number string
	Busy   bool // a request may be under way: ask again
	// Sent says that the target has the account, or may have it.
	Sent bool
}

// TargetDeliveryQuery asks for deliveries, oldest first.
type TargetDeliveryQuery struct {
	Target string // "": any
	Key    *Key   // of this account only
	State  TargetDeliveryState
	After  int64
	Limit  int
}

// TargetFigures sums up a target.
type TargetFigures struct {
	Target   Target
	Waiting  int
	Pending  int
	Refused  int
	OldestAt time.Time // of the waiting ones; zero: none
}

// AccountDelivery is how far the deliveries of an account are.
type AccountDelivery struct {
	State    TargetDeliveryState // the worst; "": there are none
	TargetID string
	Target   string
}

// TargetReader reads targets and their deliveries.
type TargetReader interface {
	Target(ctx context.Context, code string) (Target, error) // or ErrNotFound
	Targets(ctx context.Context) ([]Target, error)           // by code
	// TargetFigures sums up every target, by code.
	TargetFigures(ctx context.Context) ([]TargetFigures, error)
	TargetDeliveries(ctx context.Context, query TargetDeliveryQuery) ([]TargetDelivery, error)
	// TargetDelivery returns one, or ErrNotFound.
	TargetDelivery(ctx context.Context, id int64) (TargetDelivery, error)
	// AccountDelivery returns how far the deliveries of an account are.
	AccountDelivery(ctx context.Context, key Key) (AccountDelivery, error)
}

// TargetWriter changes targets. Every change ends the current claim.
type TargetWriter interface {
	// SaveTarget creates a target or replaces its settings and state, makes it due
	// at once and clears its failures.
	SaveTarget(ctx context.Context, target Target) error
	// RemoveTarget deletes a target with its deliveries, or returns ErrNotFound, or
	// ErrExists when suppliers still name it.
	RemoveTarget(ctx context.Context, code string) error
	// RetryDeliveries makes refused deliveries of a target wait again: those given,
	// or all when none are. It returns how many there were.
	RetryDeliveries(ctx context.Context, code string, ids []int64) (int, error)
}
