// Package notary keeps the audit honest: it lets its entries be chained soon
// after they were written, says at intervals how far the chain had got in words
// that can be signed, and finds out whether the chain is still what it was.
package audit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"landfall"
)

const (
	// sealEvery is how long an entry waits at most for its place, while there is
	// somebody who serves.
	sealEvery = 500 * time.Millisecond
	// soon is how long somebody who has just written an entry waits for it to be
	// chained; longer than any transaction that may be in its way usually takes.
	soon      = 2 * time.Second
	soonEvery = 10 * time.Millisecond
	// patience bounds a round that nobody waits for.
	patience = 10 * time.Second
)

// SealSoon chains what was written a moment ago. When that does not succeed
// somebody else will do it: the entry is there.
func SealSoon(ctx context.Context, store landfall.AuditChainer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), soon)
	defer cancel()
	var mark landfall.Watermark
	var newest int64
	for {
		var err error
		if mark, _, err = store.ChainAudit(ctx, mark); err != nil {
			return
		}
		// Only what was there at the first look is waited for: others go on writing,
		// and whoever waited for them too would never be done.
		if newest == 0 {
			newest = mark.Newest
		}
		if mark.Complete >= newest {
			return
		}
		select {
		case <-time.After(soonEvery):
		case <-ctx.Done():
			return
		}
	}
}

// Options say how a notary works.
type Options struct {
	Log *slog.Logger
	// Witness is given a checkpoint whenever the chain has grown and Every has
	// passed, and at the end; nil: none.
	Witness *Witness
	Every   time.Duration
}

// Store is what a notary needs of a store.
type Store interface {
	landfall.Transactor
	landfall.AuditChainer
}

// Notary chains entries while a server runs.
type Notary struct {
	store   Store
	options Options
	sealed  atomic.Int64
	noted   atomic.Int64
	failed  atomic.Int64
	placed  int64 // the last checkpoint's
}

// New gives a notary over a store.
func New(store Store, options Options) *Notary {
	return &Notary{store: store, options: options}
}

// Counts are what a notary has done.
type Counts struct{ Sealed, Checkpoints, Failures int64 }

// Counts gives them.
func (n *Notary) Counts() Counts { return Counts{n.sealed.Load(), n.noted.Load(), n.failed.Load()} }

// Run chains entries until the context ends, and once more then: what was
// written last is not left for the next start.
func (n *Notary) Run(ctx context.Context) {
	if n.options.Witness != nil {
		n.compare(ctx)
	}
	var mark landfall.Watermark
	next := time.Now().Add(n.options.Every)
	for ended, well := false, true; !ended; {
		select {
		case <-time.After(sealEvery):
		case <-ctx.Done():
			ended = true
		}
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		after, sealed, err := n.store.ChainAudit(work, mark)
		mark = after
		n.sealed.Add(int64(sealed))
		if err != nil {
			n.failed.Add(1)
			// Told once until it works again: a round comes twice a second.
			if well {
				n.options.Log.Warn("audit entries wait to be chained", "error", err)
			}
		}
		well = err == nil
		if n.options.Witness != nil && (ended || time.Now().After(next)) {
			n.checkpoint(work)
			next = time.Now().Add(n.options.Every)
		}
		cancel()
	}
}

// checkpoint lets the witness know how far the chain is, if it has grown.
func (n *Notary) checkpoint(ctx context.Context) {
	chain, err := n.chain(ctx)
	if err == nil && (chain.Position == 0 || chain.Position == n.placed) {
		return
	}
	if err == nil {
		err = n.options.Witness.note(chain, time.Now())
	}
	if err != nil {
		n.failed.Add(1)
		n.options.Log.Error("no checkpoint of the audit could be kept", "error", err)
		return
	}
	n.placed = chain.Position
	n.noted.Add(1)
}

// compare looks at the start whether the chain still has what the last
// checkpoint says: a database that was put back to an earlier state has not.
func (n *Notary) compare(ctx context.Context) {
	last, err := n.options.Witness.last()
	if err != nil {
		n.options.Log.Warn("the last checkpoint of the audit cannot be read", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	chain, chainErr := n.chain(ctx)
	if err != nil || chainErr != nil || last == nil {
		return
	}
	switch {
	case last.Chain != chain.Name:
		n.options.Log.Warn("the checkpoints of the audit are about another database so far", "checkpoint_chain", last.Chain, "chain", chain.Name)
	case last.Place > chain.Position:
		n.options.Log.Error("the audit is shorter than its last checkpoint says: entries were cut off, or an earlier state of the database was restored",
			"checkpoint_place", last.Place, "place", chain.Position)
	}
}

// chain gives nothing beside an error: what a failed look had filled in is no chain.
func (n *Notary) chain(ctx context.Context) (landfall.AuditChain, error) {
	var chain landfall.AuditChain
	err := n.store.View(ctx, func(view landfall.View) (err error) {
		chain, err = view.AuditChain(ctx)
		return err
	})
	if err != nil {
		return landfall.AuditChain{}, err
	}
	return chain, nil
}
