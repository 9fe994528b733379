// Package mail sends e-mails to customers. It takes queued mails from the store
// under a lease, fills in the operator's templates, sends the messages by SMTP and
// records the result of each. Any number of replicas may do so at the same time.
// A failure here never fails an import: the mail stays queued.
package mail

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/lib/worker"
)

// retries says when a deferred mail is tried again. Greylisting lasts some minutes,
// a full mailbox may last days.
var retries = worker.Schedule{First: limits.MailFirstRetry, Longest: limits.MailMaxRetry, GiveUp: limits.MailGiveUp}

const (
	// maxAttempts take about three days.
	maxAttempts = 28
	// maxUnanswered is how often a customer may get the same mail from a server that
	// accepts it and never confirms.
	maxUnanswered = 3
)

// maxCounted is where the count of waiting mails stops.
const maxCounted = 10_000

// SenderOptions configures a Sender.
type SenderOptions struct {
	Store      Store
	Composer   *Composer
	Client     *Client
	Timeout    time.Duration // for each reply of the mail server
	PerMinute  int           // mails of all replicas together
	Concurrent int           // mails sent at the same time by this process
	Log        *slog.Logger
}

// attemptTimeout limits everything about one mail, including the connection.
func (o SenderOptions) attemptTimeout() time.Duration { return 8 * o.Timeout }

// lease is when another replica may take over a mail.
func (o SenderOptions) lease() time.Duration { return 10 * o.Timeout }

// Store is the part of the store that a Sender uses.
type Store interface {
	landfall.Transactor
	landfall.MailQueue
}

// Sender sends queued mails.
type Sender struct {
	SenderOptions
	Stats    Stats
	pool     *worker.Pool[landfall.OutgoingMail]
	sessions sessionPool
	health   serverHealth

	mu           sync.Mutex
	lastSupplier string         // served last
	sending      map[string]int // mails being sent, by supplier
	countedAt    time.Time      // when waiting mails were counted
}

// Stats holds the figures for metrics.
type Stats struct {
	Sent, Refused, Deferred, Unanswered, ServerFailures, Waiting atomic.Int64
	oldest                                                       atomic.Int64 // microseconds since 1970; 0 when none waits
}

// OldestAge returns how long the oldest mail has been waiting.
func (s *Stats) OldestAge() time.Duration {
	since := s.oldest.Load()
	if since == 0 {
		return 0
	}
	return max(0, time.Since(time.UnixMicro(since)))
}

// NewSender returns a sender. It sends nothing before Run.
func NewSender(options SenderOptions) *Sender {
	s := &Sender{SenderOptions: options, sending: map[string]int{}}
	s.sessions.connect = options.Client.Connect
	s.pool = &worker.Pool[landfall.OutgoingMail]{
		Name: "mail", Concurrency: options.Concurrent, PollInterval: limits.MailPoll, Claim: s.claim, Do: s.send, Log: options.Log,
	}
	return s
}

// Healthy reports whether the last contact with the mail server succeeded.
func (s *Sender) Healthy() bool { return s.health.ok() }

// Run sends mails until the context ends, and then waits for those being sent.
func (s *Sender) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { s.announce(ctx) })
	s.pool.Run(ctx)
	s.sessions.closeIdle(0)
	running.Wait()
}

// announce records in the database that this server sends mail, so that the
// operator can turn it on for a supplier.
func (s *Sender) announce(ctx context.Context) {
	for {
		if err := Announce(ctx, s.Store); err != nil && ctx.Err() == nil {
			s.Log.Warn("cannot record that this server sends mail", "error", err)
		}
		select {
		case <-time.After(limits.MailAnnounce):
		case <-ctx.Done():
			return
		}
	}
}

// Announce records that this server sends mail.
func Announce(ctx context.Context, store landfall.Transactor) error {
	return store.Update(ctx, func(tx landfall.Tx) error { return tx.AnnounceMailSender(ctx, limits.MailAnnounceValid) })
}

// claim takes mails to send, or none while the mail server is in a pause.
func (s *Sender) claim(ctx context.Context, limit int) ([]landfall.OutgoingMail, error) {
	s.countWaiting(ctx)
	s.sessions.closeIdle(maxIdle)
	if limit = s.health.allow(limit); limit == 0 {
		return nil, nil
	}
	// The check is a cheap read; taking mails is a write.
	if due, err := s.Store.MailsDue(ctx); err != nil || !due {
		return nil, err
	}
	supply, err := s.Store.ClaimMails(ctx, s.demand(limit))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mail := range supply.Mails {
		s.lastSupplier = mail.Key.Supplier
		s.sending[mail.Key.Supplier]++
	}
	return supply.Mails, err
}

// demand lets no supplier use all slots, so that slow mail of one supplier's
// customers does not block the others.
func (s *Sender) demand(limit int) landfall.MailRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return landfall.MailRequest{
		Max: limit, PerMinute: s.PerMinute, Lease: s.lease(), After: s.lastSupplier, PerSupplier: max(1, s.Concurrent-1), InFlight: maps.Clone(s.sending),
	}
}

// release frees the slot of a mail.
func (s *Sender) release(mail landfall.OutgoingMail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending[mail.Key.Supplier]--; s.sending[mail.Key.Supplier] <= 0 {
		delete(s.sending, mail.Key.Supplier)
	}
}

// countWaiting updates the figures of waiting mails. They are only for metrics, so
// an error is ignored.
func (s *Sender) countWaiting(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.countedAt) < limits.MailCount {
		return
	}
	s.countedAt = time.Now()
	_ = s.Store.View(ctx, func(view landfall.View) error {
		waiting, since, err := view.MailsWaiting(ctx, maxCounted)
		if err != nil {
			return err
		}
		s.Stats.Waiting.Store(int64(waiting))
		s.Stats.oldest.Store(0)
		if !since.IsZero() {
			s.Stats.oldest.Store(since.UnixMicro())
		}
		return nil
	})
}
