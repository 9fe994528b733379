// Package mailroom sends the mails that creations queued: it takes them from
// the store under a lease, writes the letters, hands them to the mail server and
// keeps what became of each. Any number of replicas may do so side by side. It
// fails no import: whatever goes wrong here waits here.
package mail

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/outbound/letter"
	"landfall/internal/outbound/smtp"
	"landfall/internal/outbound/webhook"
)

// The limits that do not hang on how long the mail server may take.
const (
	parting   = 10 * time.Second // what a mail under way gets when the program ends
	keeping   = 30 * time.Second // keeping what became of it, while the database is away
	look      = time.Second      // between looks for mails that are due
	counting  = 15 * time.Second // between counts of those that wait
	announce  = time.Hour        // between notes that mail is sent here
	announced = 26 * time.Hour   // how long such a note holds
)

// schedule says when a mail that was put off is tried again. Mail servers put
// strangers off for some minutes (greylisting), full mailboxes for days.
var schedule = webhook.Schedule{First: time.Minute, Longest: 4 * time.Hour, GiveUp: 72 * time.Hour}

const (
	// mostAttempts take about three days.
	mostAttempts = 28
	// mostUnanswered is how often a customer may get the same mail from a server
	// that takes it and never says so.
	mostUnanswered = 3
)

// mostCounted is where counting those that wait ends.
const mostCounted = 10_000

// Options are what a room needs.
type Options struct {
	Store   Store
	Writer  *letter.Writer
	Relay   *smtp.Relay
	Timeout time.Duration // of each exchange with the mail server
	Pace    int           // mails a minute, of all replicas together
	AtOnce  int           // mails under way in this process
	Log     *slog.Logger
}

// attempt bounds all exchanges about one mail, connecting included.
func (o Options) attempt() time.Duration { return 8 * o.Timeout }

// lease is when a mail of a dead sender is anybody's.
func (o Options) lease() time.Duration { return 10 * o.Timeout }

// Store is what a mail room needs of a store.
type Store interface {
	landfall.Transactor
	landfall.Mailroom
}

// Room sends mails.
type Room struct {
	Options
	Figures Figures
	crew    *webhook.Crew[landfall.OutgoingMail]
	lines   lines
	health  health

	mu      sync.Mutex
	last    string         // the supplier who was served last
	busy    map[string]int // mails under way, by supplier
	counted time.Time      // when those that wait were counted
}

// Figures are for the operator's dashboards.
type Figures struct {
	Sent, Refused, PutOff, Unanswered, Troubles, Waiting atomic.Int64
	oldest                                               atomic.Int64 // in microseconds since 1970; 0 when none waits
}

// Oldest is how long the oldest mail has been waiting.
func (f *Figures) Oldest() time.Duration {
	since := f.oldest.Load()
	if since == 0 {
		return 0
	}
	return max(0, time.Since(time.UnixMicro(since)))
}

// New makes a room. Nothing is sent before Run.
func New(options Options) *Room {
	room := &Room{Options: options, busy: map[string]int{}}
	room.lines.connect = options.Relay.Connect
	room.crew = &webhook.Crew[landfall.OutgoingMail]{
		Name: "mail", AtOnce: options.AtOnce, Look: look, Claim: room.take, Do: room.send, Log: options.Log,
	}
	return room
}

// Healthy says whether the mail server was reached the last time.
func (r *Room) Healthy() bool { return r.health.well() }

// Run sends until the context ends, and then waits for what is under way.
func (r *Room) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { r.announce(ctx) })
	r.crew.Run(ctx)
	r.lines.close()
	running.Wait()
}

// announce notes in the database that mail is sent from here, so that the
// operator may switch it on for a supplier.
func (r *Room) announce(ctx context.Context) {
	for {
		if err := Announce(ctx, r.Store); err != nil && ctx.Err() == nil {
			r.Log.Warn("that mail is sent here could not be noted", "error", err)
		}
		select {
		case <-time.After(announce):
		case <-ctx.Done():
			return
		}
	}
}

// Announce notes that mail is sent from here.
func Announce(ctx context.Context, store landfall.Transactor) error {
	return store.Update(ctx, func(tx landfall.Tx) error { return tx.PromiseMail(ctx, announced) })
}

// take gives mails to send, unless the mail server is to be left alone.
func (r *Room) take(ctx context.Context, most int) ([]landfall.OutgoingMail, error) {
	r.count(ctx)
	r.lines.tidy()
	if most = r.health.admits(most); most == 0 {
		return nil, nil
	}
	// Looking costs a database nothing; taking is a write.
	if due, err := r.Store.MailsDue(ctx); err != nil || !due {
		return nil, err
	}
	supply, err := r.Store.TakeMails(ctx, r.demand(most))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, mail := range supply.Mails {
		r.last = mail.Key.Supplier
		r.busy[mail.Key.Supplier]++
	}
	return supply.Mails, err
}

// demand leaves one place to others, whoever asks: a mail server that is slow
// for one supplier's customers is not slow for everybody's.
func (r *Room) demand(most int) landfall.MailDemand {
	r.mu.Lock()
	defer r.mu.Unlock()
	return landfall.MailDemand{
		Most: most, Pace: r.Pace, Lease: r.lease(), After: r.last, Each: max(1, r.AtOnce-1), Held: maps.Clone(r.busy),
	}
}

// done gives a place back.
func (r *Room) done(mail landfall.OutgoingMail) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[mail.Key.Supplier]--; r.busy[mail.Key.Supplier] <= 0 {
		delete(r.busy, mail.Key.Supplier)
	}
}

// count looks how many wait. It is for dashboards, so failing is no trouble.
func (r *Room) count(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.counted) < counting {
		return
	}
	r.counted = time.Now()
	_ = r.Store.View(ctx, func(view landfall.View) error {
		waiting, since, err := view.MailsWaiting(ctx, mostCounted)
		if err != nil {
			return err
		}
		r.Figures.Waiting.Store(int64(waiting))
		r.Figures.oldest.Store(0)
		if !since.IsZero() {
			r.Figures.oldest.Store(since.UnixMicro())
		}
		return nil
	})
}
