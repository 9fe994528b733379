package operate

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Health describes the whole service, as far as the database knows.
type Health struct {
	Replicas []landfall.Replica
	Live     []landfall.Run
	Mails    int // waiting, counted up to mostWaiting
	MailsBy  time.Time
	Webhooks landfall.WebhookFigures
	// Undelivered is how many events wait behind webhooks that fail, each counted up
	// to maxWaiting.
	Undelivered int
	Answered    time.Duration // how long the database took to answer
}

const (
	// replicaSeen is how long a server counts as running after its last
	// heartbeat.
	replicaSeen = limits.ReplicaSeen
	// maxWaiting is the number at which counting waiting mails and events stops.
	maxWaiting = 10_000
)

// Health returns what can be counted quickly. The argument complete is the id up
// to which the event log is complete.
func (o *Operator) Health(ctx context.Context, complete int64) (found Health, err error) {
	began := time.Now()
	err = o.view(ctx, "health", func(view landfall.View) (err error) {
		if found.Replicas, err = view.Replicas(ctx, replicaSeen); err != nil {
			return err
		}
		if found.Live, err = view.LiveRuns(ctx); err != nil {
			return err
		}
		if found.Mails, found.MailsBy, err = view.MailsWaiting(ctx, maxWaiting); err != nil {
			return err
		}
		if found.Webhooks, err = view.WebhookFigures(ctx, complete); err != nil || found.Webhooks.Failing == 0 {
			return err
		}
		webhooks, err := view.Webhooks(ctx, "")
		found.Undelivered = 0 // may run again
		for _, webhook := range webhooks {
			if err != nil || webhook.FailingAt.IsZero() {
				continue
			}
			var behind int
			behind, err = view.Undelivered(ctx, webhook, maxWaiting)
			found.Undelivered += behind
		}
		return err
	})
	found.Answered = time.Since(began)
	return found, err
}

// Replicas returns the servers that are running, the oldest first.
func (o *Operator) Replicas(ctx context.Context) (found []landfall.Replica, err error) {
	err = o.view(ctx, "replicas", func(view landfall.View) (err error) {
		found, err = view.Replicas(ctx, replicaSeen)
		return err
	})
	return found, err
}

// RecordBackup records that a backup was made, by this program or by other tools. An
// alert watches its age.
func (o *Operator) RecordBackup(ctx context.Context, how string) error {
	return o.change(ctx, "database.backup", "", func(tx landfall.Tx) (string, error) { return how, tx.RecordBackup(ctx) })
}

// FinishCopy allows serving a database that was copied from another one, after its check.
func (o *Operator) FinishCopy(ctx context.Context, from string, mark int64) error {
	return o.change(ctx, "database.copy", "", func(tx landfall.Tx) (string, error) { return "from " + from, tx.FinishCopy(ctx, mark) })
}

// Heartbeat records that a server is running, and samples the progress of runs.
// It is not the act of a person, so it is not audited.
func (o *Operator) Heartbeat(ctx context.Context, self landfall.Replica, every time.Duration) error {
	return storeError("beat", o.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.TouchReplica(ctx, self); err != nil {
			return err
		}
		return tx.SampleRuns(ctx, every)
	}))
}

// Farewell records that a server has stopped.
func (o *Operator) Farewell(ctx context.Context, self landfall.Replica) error {
	return storeError("farewell", o.store.Update(ctx, func(tx landfall.Tx) error { return tx.RemoveReplica(ctx, self.ID) }))
}
