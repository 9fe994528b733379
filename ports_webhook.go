package landfall

import "context"

// WebhookQueue delivers events to webhooks, in rounds. At most one replica
// has the claim of a webhook, by the database's clock; whoever lost it can write
// nothing any more, and an operator's change ends it too.
type WebhookQueue interface {
	// ClaimWebhooks takes webhooks that have something to deliver and are due,
	// those first that have waited longest, and says how many are active in all.
	// Webhooks of disabled organisations wait.
	ClaimWebhooks(ctx context.Context, request WebhookClaimRequest) (claims []WebhookClaim, active int, err error)
	// WebhookRound reads what comes next, at most so many new events, or answers
	// ErrFenced. What the organisation is not granted any more is left out.
	WebhookRound(ctx context.Context, claim WebhookClaim, upTo int64, most int) (WebhookRound, error)
	// SaveRound writes down what became of a round, or answers ErrFenced. It is
	// durable before it returns: no position is ever ahead of what arrived or
	// waits.
	SaveRound(ctx context.Context, claim WebhookClaim, result RoundResult) error
}

// WebhookReader reads webhooks and what became of deliveries.
type WebhookReader interface {
	Webhook(ctx context.Context, name string) (Webhook, error) // or ErrNotFound
	// Webhooks gives all of an organisation, or of everybody with "", by name.
	Webhooks(ctx context.Context, organisation string) ([]Webhook, error)
	// Rounds gives the last rounds of a webhook, newest first.
	Rounds(ctx context.Context, name string, most int) ([]RoundEntry, error)
	// Deliveries gives deliveries of a webhook in a state, in the order of the
	// log, and how many there are in all.
	Deliveries(ctx context.Context, name string, state DeliveryState, most int) ([]Delivery, int, error)
	// WebhookFigures sums up all webhooks; the log is complete up to an id.
	WebhookFigures(ctx context.Context, upTo int64) (WebhookFigures, error)
}

// WebhookWriter changes webhooks. Every change ends the claim there is.
type WebhookWriter interface {
	// CreateWebhook keeps a new one, or ErrExists. CreatedAt is set here.
	CreateWebhook(ctx context.Context, webhook Webhook) error
	// SaveWebhook replaces the settings, state and position of one, makes it due
	// at once, and forgets that it was failing; or ErrNotFound.
	SaveWebhook(ctx context.Context, webhook Webhook) error
	// RemoveWebhook forgets one with everything about it, or ErrNotFound.
	RemoveWebhook(ctx context.Context, name string) error
	// Replay makes dead deliveries of a webhook wait again, with all their
	// attempts before them: the named events, or all without names. It says how
	// many there were.
	Replay(ctx context.Context, name string, events []int64) (int, error)
}
