// Package audit makes the audit tamper-evident: it chains entries soon after they
// were written, writes signed checkpoints of the chain, and verifies the chain
// against them.
package audit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

const (
	// chainSoonTimeout is how long ChainSoon waits; longer than the transactions that
	// may be in its way usually take.
	chainSoonTimeout  = limits.AuditChainWait
	chainSoonInterval = limits.AuditChainPoll
)

// ChainSoon chains entries that were just written. If it fails, a server or the
// next command chains them later.
func ChainSoon(ctx context.Context, store landfall.AuditChainer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chainSoonTimeout)
	defer cancel()
	var mark landfall.Watermark
	var newest int64
	for {
		var err error
		if mark, _, err = chainAll(ctx, store, mark); err != nil {
			return
		}
		// Wait only for the entries of the first round: others keep writing, and
		// waiting for theirs too would never end.
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

// chainAll chains all entries that can be chained now, and returns how many.
func chainAll(ctx context.Context, store landfall.AuditChainer, mark landfall.Watermark) (landfall.Watermark, int, error) {
	for chained := 0; ; {
		after, step, err := store.ChainAudit(ctx, mark)
		mark, chained = after, chained+step.Chained
		if err != nil || !step.More {
			return mark, chained, err
		}
	}
}

// Options configures a Chainer.
type Options struct {
	Log *slog.Logger
	// Checkpoints receives a checkpoint whenever the chain has grown and Every has
	// passed, and at the end; nil: none.
	Checkpoints *CheckpointWriter
	Every       time.Duration
}

// Store is what a Chainer needs of a store.
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
	lastPosition int64 // of the last checkpoint
}

// New returns a chainer over a store.
func New(store Store, options Options) *Chainer {
	return &Chainer{store: store, options: options}
}

// Counts is what a chainer has done.
type Counts struct{ Chained, Checkpoints, Failures int64 }

// Counts returns the current counts.
func (n *Chainer) Counts() Counts {
	return Counts{n.chained.Load(), n.checkpoints.Load(), n.failed.Load()}
}

// Run chains entries until the context ends, and once more after that, so that the
// last entries are not left for the next start.
func (n *Chainer) Run(ctx context.Context) {
	if n.options.Checkpoints != nil {
		n.compare(ctx)
	}
	var mark landfall.Watermark
	next := time.Now().Add(n.options.Every)
	for ended, well := false, true; !ended; {
		select {
		case <-time.After(limits.AuditChain):
		case <-ctx.Done():
			ended = true
		}
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.AuditRound)
		after, chained, err := chainAll(work, n.store, mark)
		mark = after
		n.chained.Add(int64(chained))
		if err != nil {
			n.failed.Add(1)
			// Log only the first failure: there are two rounds per second.
			if well {
				n.options.Log.Warn("cannot chain audit entries", "error", err)
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

// checkpoint writes a checkpoint if the chain has grown.
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
		n.options.Log.Error("cannot write audit checkpoint", "error", err)
		return
	}
	n.lastPosition = chain.Position
	n.checkpoints.Add(1)
}

// compare checks at the start that the chain is not shorter than the last
// checkpoint, as it is after an earlier state of the database was restored.
func (n *Chainer) compare(ctx context.Context) {
	last, err := n.options.Checkpoints.last()
	if err != nil {
		n.options.Log.Warn("cannot read the last audit checkpoint", "error", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.AuditRound)
	defer cancel()
	chain, chainErr := n.chain(ctx)
	if err != nil || chainErr != nil || last == nil {
		return
	}
	switch {
	case last.Chain != chain.Name:
		n.options.Log.Warn("audit checkpoints belong to another database", "checkpoint_chain", last.Chain, "chain", chain.Name)
	case last.Position > chain.Position:
		n.options.Log.Error("audit is shorter than its last checkpoint: entries were removed, or an earlier state of the database was restored",
			"checkpoint_place", last.Position, "place", chain.Position)
	}
}

// chain reads how far the chain is.
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
