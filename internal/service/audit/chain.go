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
	// chainInterval is how long an entry waits at most for its place, while there is
	// somebody who serves.
	chainInterval = 500 * time.Millisecond
	// chainSoonTimeout is how long somebody who has just written an entry waits for it to be
	// chained; longer than any transaction that may be in its way usually takes.
	chainSoonTimeout  = 2 * time.Second
	chainSoonInterval = 10 * time.Millisecond
	// roundTimeout bounds a round that nobody waits for.
	roundTimeout = 10 * time.Second
)

// ChainSoon chains what was written a moment ago. When that does not succeed
// somebody else will do it: the entry is there.
func ChainSoon(ctx context.Context, store landfall.AuditChainer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chainSoonTimeout)
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
		case <-time.After(chainSoonInterval):
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
	Checkpoints *CheckpointWriter
	Every       time.Duration
}

// Store is what a notary needs of a store.
type Store interface {
	landfall.Transactor
	landfall.AuditChainer
}

// Chainer chains entries while a server runs.
type Chainer struct {
	store        Store
	options      Options
	chained      atomic.Int64
	checkpoints  atomic.Int64
	failed       atomic.Int64
	lastPosition int64 // the last checkpoint's
}

// New gives a notary over a store.
func New(store Store, options Options) *Chainer {
	return &Chainer{store: store, options: options}
}

// Counts are what a notary has done.
type Counts struct{ Chained, Checkpoints, Failures int64 }

// Counts gives them.
func (n *Chainer) Counts() Counts {
	return Counts{n.chained.Load(), n.checkpoints.Load(), n.failed.Load()}
}

// Run chains entries until the context ends, and once more then: what was
// written last is not left for the next start.
func (n *Chainer) Run(ctx context.Context) {
	if n.options.Checkpoints != nil {
		n.compare(ctx)
	}
	var mark landfall.Watermark
	next := time.Now().Add(n.options.Every)
	for ended, well := false, true; !ended; {
		select {
		case <-time.After(chainInterval):
		case <-ctx.Done():
			ended = true
		}
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout)
		after, sealed, err := n.store.ChainAudit(work, mark)
		mark = after
		n.chained.Add(int64(sealed))
		if err != nil {
			n.failed.Add(1)
			// Told once until it works again: a round comes twice a second.
			if well {
				n.options.Log.Warn("audit entries wait to be chained", "error", err)
			}
		}
		well = err == nil
		if n.options.Checkpoints != nil && (ended || time.Now().After(next)) {
			n.checkpoint(work)
			next = time.Now().Add(n.options.Every)
		}
		cancel()
	}
}

// checkpoint lets the witness know how far the chain is, if it has grown.
func (n *Chainer) checkpoint(ctx context.Context) {
	chain, err := n.chain(ctx)
	if err == nil && (chain.Position == 0 || chain.Position == n.lastPosition) {
		return
	}
	if err == nil {
		err = n.options.Checkpoints.write(chain, time.Now())
	}
	if err != nil {
		n.failed.Add(1)
		n.options.Log.Error("no checkpoint of the audit could be kept", "error", err)
		return
	}
	n.lastPosition = chain.Position
	n.checkpoints.Add(1)
}

// compare looks at the start whether the chain still has what the last
// checkpoint says: a database that was put back to an earlier state has not.
func (n *Chainer) compare(ctx context.Context) {
	last, err := n.options.Checkpoints.last()
	if err != nil {
		n.options.Log.Warn("the last checkpoint of the audit cannot be read", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout)
	defer cancel()
	chain, chainErr := n.chain(ctx)
	if err != nil || chainErr != nil || last == nil {
		return
	}
	switch {
	case last.Chain != chain.Name:
		n.options.Log.Warn("the checkpoints of the audit are about another database so far", "checkpoint_chain", last.Chain, "chain", chain.Name)
	case last.Position > chain.Position:
		n.options.Log.Error("the audit is shorter than its last checkpoint says: entries were cut off, or an earlier state of the database was restored",
			"checkpoint_place", last.Position, "place", chain.Position)
	}
}

// chain gives nothing beside an error: what a failed look had filled in is no chain.
func (n *Chainer) chain(ctx context.Context) (landfall.AuditChain, error) {
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
