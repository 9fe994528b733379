package landfall

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
)

// WebhookState is whether events are delivered to a webhook.
type WebhookState string

// The states of a webhook.
const (
	WebhookActive WebhookState = "active"
	WebhookGone   WebhookState = "gone" // its receiver answered that it is gone
	WebhookOff    WebhookState = "off"  // the operator switched it off
)

// Webhook is a URL of an organisation that events are delivered to.
type Webhook struct {
	Name         string
	Organisation string
	URL          string
	Types        []EventType // none: every type
	Suppliers    []string    // none: every supplier the organisation is granted
	IncludeData  bool        // events carry the whole account
	Secrets      []WebhookSecret
	State        WebhookState
	Position     int64     // the last event that was processed
	CreatedAt    time.Time // by the database's clock, like all of these
	DueAt        time.Time // not before
	Attempts     int       // rounds that failed in a row
	FailingAt    time.Time // when the first of them was; zero while all is well
	Delivered    int64     // events, ever
	DeliveredAt  time.Time // the last time
}

// MaskedURL is the URL without its path and query, which may contain a token of
// the receiver.
func (w *Webhook) MaskedURL() string { return maskedURL(w.URL) }

func maskedURL(text string) string {
	address, err := url.Parse(text)
	if err != nil {
		return "…"
	}
	masked := address.Scheme + "://" + address.Host
	if strings.Trim(address.Path, "/") != "" || address.RawQuery != "" || address.User != nil || address.Fragment != "" {
		masked += "/…"
	}
	return masked
}

// WebhookSecret identifies a secret that deliveries are signed with. The secret
// itself is not stored: it is derived from a key of the operator.
type WebhookSecret struct {
	Salt  string
	Key   string    // which of the operator's keys
	Until time.Time // zero: no end
}

// Wants reports whether events of a type go to the webhook.
func (w *Webhook) Wants(kind EventType) bool {
	return len(w.Types) == 0 || slices.Contains(w.Types, kind)
}

// SuppliersOf returns those of the organisation's suppliers whose events go to the
// webhook.
func (w *Webhook) SuppliersOf(granted []string) []string {
	wanted := slices.Clone(granted)
	if len(w.Suppliers) > 0 {
		wanted = slices.DeleteFunc(wanted, func(code string) bool { return !slices.Contains(w.Suppliers, code) })
	}
	return append([]string{}, wanted...) // never nil
}

// WebhookClaim is the sole right to deliver to a webhook during a lease.
type WebhookClaim struct{ Name, Token string }

// WebhookClaimRequest asks for webhooks with something to deliver.
type WebhookClaimRequest struct {
	UpTo  int64 // the log is complete up to here
	Most  int
	Lease time.Duration
}

// WebhookRound is what is to be delivered next.
type WebhookRound struct {
	Webhook Webhook
	Events  []Event // new ones, in the order of the log
	Through int64   // up to this id the log has nothing else for the webhook
	More    bool    // there may be more
	// Waiting are failed deliveries that are due again, at most one per account.
	Waiting []Delivery
	// Blocked are accounts with a waiting delivery: their newer events have to wait
	// too.
	Blocked map[Key]bool
	// Withdrawn are waiting deliveries for a supplier that is no longer granted.
	Withdrawn []int64
	Now       time.Time
}

// DeliveryState is the state of a failed delivery.
type DeliveryState string

// The states of a delivery that did not succeed at once.
const (
	DeliveryWaiting DeliveryState = "waiting"
	DeliveryDead    DeliveryState = "dead"
)

// Delivery is an event that could not be delivered to a webhook at once.
type Delivery struct {
	Event    Event
	State    DeliveryState
	Attempts int
	FirstAt  time.Time
	DueAt    time.Time     // zero: it is blocked or dead
	Pause    time.Duration // until the next attempt
	Blocked  bool          // by another delivery of its account
	Status   int           // of the last response; 0: there was none
	Reason   string        // a sentence for people
}

// RoundResult is the result of a round.
type RoundResult struct {
	Position    int64      // the last event processed
	Delivered   int        // events that arrived
	Settled     []int64    // waiting deliveries that are done
	Failed      []Delivery // deliveries that wait or are dead from now on
	Pause       time.Duration
	RoundFailed bool // the round failed as a whole
	Gone        bool // the receiver is gone
	KeepClaim   bool // another round follows under the same claim
	Lease       time.Duration
	Status      int // the last one of interest
	Reason      string
	Took        time.Duration
}

// RoundEntry is an entry in the log of a webhook's rounds.
type RoundEntry struct {
	At                      time.Time
	Position                int64
	Delivered, Failed, Dead int
	Status                  int
	Reason                  string
	Took                    time.Duration
}

// WebhookFigures sums up all webhooks.
type WebhookFigures struct {
	Active, Failing, Gone int
	Waiting, Dead         int
	Oldest                time.Time // event that some webhook has not received; zero: none
}

// WebhookQueue delivers events to webhooks, in rounds. At most one replica
// holds the claim of a webhook, by the database's clock; a replica that lost it
// can no longer write anything. A change by an operator ends the claim too.
type WebhookQueue interface {
	// ClaimWebhooks claims webhooks that have something to deliver and are due,
	// those that have waited longest first, and returns how many are active in all.
	// Webhooks of disabled organisations wait.
	ClaimWebhooks(ctx context.Context, request WebhookClaimRequest) (claims []WebhookClaim, active int, err error)
	// WebhookRound reads what to deliver next, at most limit new events, or returns
	// ErrFenced. Events of suppliers that the organisation is no longer granted are
	// left out.
	WebhookRound(ctx context.Context, claim WebhookClaim, upTo int64, limit int) (WebhookRound, error)
	// SaveRound records the result of a round, or returns ErrFenced. It is durable
	// before it returns: the position is never ahead of what was delivered or is
	// waiting.
	SaveRound(ctx context.Context, claim WebhookClaim, result RoundResult) error
}

// WebhookReader reads webhooks and their deliveries.
type WebhookReader interface {
	Webhook(ctx context.Context, name string) (Webhook, error) // or ErrNotFound
	// Webhooks returns all of an organisation, or everyone's with "", by name.
	Webhooks(ctx context.Context, organisation string) ([]Webhook, error)
	// Rounds returns the last rounds of a webhook, newest first.
	Rounds(ctx context.Context, name string, limit int) ([]RoundEntry, error)
	// Deliveries returns the deliveries of a webhook in a state, in the order of the
	// log, and how many there are in all.
	Deliveries(ctx context.Context, name string, state DeliveryState, limit int) ([]Delivery, int, error)
	// Undelivered returns how many events that a webhook gets are after its position,
	// counted up to a limit.
	Undelivered(ctx context.Context, webhook Webhook, limit int) (int, error)
	// WebhookFigures sums up all webhooks; the log is complete up to an id.
	WebhookFigures(ctx context.Context, upTo int64) (WebhookFigures, error)
}

// WebhookWriter changes webhooks. Every change ends the current claim.
type WebhookWriter interface {
	// CreateWebhook stores a new one, or returns ErrExists. It sets CreatedAt.
	CreateWebhook(ctx context.Context, webhook Webhook) error
	// SaveWebhook replaces the settings, state and position of one, makes it due at
	// once and clears its failures; or returns ErrNotFound.
	SaveWebhook(ctx context.Context, webhook Webhook) error
	// RemoveWebhook deletes one and everything about it, or returns ErrNotFound.
	RemoveWebhook(ctx context.Context, name string) error
	// Replay makes dead deliveries of a webhook wait again, with a fresh set of
	// attempts: the given events, or all when none are given. It returns how many
	// there were.
	Replay(ctx context.Context, name string, events []int64) (int, error)
}
