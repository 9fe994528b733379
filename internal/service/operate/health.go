package operate

import (
	"context"
	"time"

	"landfall"
)

// Health is how the service does as a whole, as far as the database knows.
type Health struct {
	Replicas []landfall.Replica
	Live     []landfall.Run
	Mails    int // waiting, counted up to mostWaiting
	MailsBy  time.Time
	Webhooks landfall.WebhookFigures
	Answered time.Duration // in which the database said all this
}

const (
	// replicaSeen is how long a server that says nothing is believed to be there.
	replicaSeen = time.Minute
	// mostWaiting is how far mails that wait are counted.
	mostWaiting = 10_000
)

// Health looks at what can be counted quickly. The log of events is complete up
// to an id.
func (o *Operator) Health(ctx context.Context, complete int64) (found Health, err error) {
	began := time.Now()
	err = o.view(ctx, "health", func(view landfall.View) (err error) {
		if found.Replicas, err = view.Replicas(ctx, replicaSeen); err != nil {
			return err
		}
		if found.Live, err = view.LiveRuns(ctx); err != nil {
			return err
		}
		if found.Mails, found.MailsBy, err = view.MailsWaiting(ctx, mostWaiting); err != nil {
			return err
		}
		found.Webhooks, err = view.WebhookFigures(ctx, complete)
		return err
	})
	found.Answered = time.Since(began)
	return found, err
}

// Heartbeat notes that a server is there and how far runs are. It is nobody's act,
// so it is in no audit.
func (o *Operator) Heartbeat(ctx context.Context, self landfall.Replica, every time.Duration) error {
	return storeError("beat", o.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.TouchReplica(ctx, self); err != nil {
			return err
		}
		return tx.SampleRuns(ctx, every)
	}))
}
