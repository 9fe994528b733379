package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall"
	"landfall/internal/service/intake"
)

// progress is the result of a batch.
type progress struct {
	succeeded, failed, refused int
	untouched                  []landfall.RunMember // limits were reached; nothing is wrong with them
	postponed                  int                  // accounts that stay open for another try
	wait                       time.Duration        // until another try makes sense; 0 when unknown
	stop                       bool                 // the run has to stop
	faults                     []error              // internal errors, for the log
}

// These errors stop a run until a person resolves them.
var (
	errNotGranted = errors.New("the supplier is not granted to the organisation of the run")
	errTeamGone   = errors.New("the operations team of the run does not exist any more")
)

// maxInternalTries is how often an account is tried again after an internal
// error. Then it counts as failed; otherwise the run would never end.
const maxInternalTries = 5

// batch creates some members of a slice.
type batch struct {
	progress
	runner   *Runner
	store    landfall.Store // for the organisation of the run
	who      landfall.Principal
	supplier landfall.Supplier
	slice    landfall.RunSlice
	tries    []*try
	refusals []int // ordinals
}

// try is the attempt at one account of a batch.
type try struct {
	intake.Attempt
	ordinal  int
	creation landfall.Creation
	reason   error // why there is no creation
	// unrecorded says that the account has no failure of the time of this run. It
	// is only known of claims that hold nothing.
	unrecorded bool
}

// createBatch creates some members of a slice as intake.Process creates one:
// claim, check the rules again, ask file store and vendors, and write everything
// in one transaction. Every attempt leaves the same records. Accounts that fail
// because of an internal error stay open.
func (r *Runner) createBatch(ctx context.Context, slice landfall.RunSlice, members []landfall.RunMember) (progress, error) {
	run := slice.Run
	who := landfall.Principal{
		Organisation: run.ActsFor.Organisation, KeyID: run.ActsFor.KeyID, RequestID: run.ActsFor.RequestID,
		Source: "run:" + run.ID, // the service itself, not an address
		Role:   landfall.RoleImporter, Quotas: slice.Quotas, Priority: landfall.RunPriority,
	}
	supplier, err := r.intake.Supplier(ctx, who, run.Plan.Supplier)
	if err != nil {
		return progress{}, err
	}
	if supplier == nil {
		return progress{}, errNotGranted
	}
	// A run counts against the quota of its organisation as single calls do.
	admitted, done := r.beginCreations(who, len(members))
	defer done()
	if limit := supplier.ConcurrencyLimit; limit > 0 {
		// Half of the limit, so that two batches alternate: one is checked while the other
		// is written.
		admitted = min(admitted, (limit+1)/2)
	}
	b := &batch{runner: r, store: r.store.For(who.Caller()), who: who, supplier: *supplier, slice: slice}
	b.untouched = slices.Clone(members[admitted:])
	if err := b.claim(ctx, members[:admitted]); err != nil {
		return progress{}, err
	}
	if err := b.prepare(ctx); err != nil {
		return progress{}, err
	}
	err = b.settle(ctx, b.settlement())
	return b.progress, err
}

// beginCreations admits as many creations as the quotas allow, up to limit.
func (r *Runner) beginCreations(who landfall.Principal, limit int) (count int, done func()) {
	var ends []func()
	for range limit {
		end, err := r.intake.BeginCreation(who)
		if err != nil {
			break
		}
		ends = append(ends, end)
	}
	return len(ends), func() {
		for _, end := range ends {
			end()
		}
	}
}

// request returns the request to claim one member.
func (b *batch) request(key landfall.Key, optimistic bool) landfall.ClaimRequest {
	request := b.runner.intake.ClaimRequest(b.who, key, b.slice.Run.Plan.Team, b.slice.Run.Plan.DryRun)
	request.Optimistic, request.Limited = optimistic, b.supplier.ConcurrencyLimit > 0
	return request
}

// claim claims all members optimistically: nearly all of them are created within
// a tenth of a second, and holding them meanwhile would write each of them twice.
func (b *batch) claim(ctx context.Context, members []landfall.RunMember) error {
	requests := make([]landfall.ClaimRequest, len(members))
	for i, member := range members {
		requests[i] = b.request(member.Key, true)
	}
	outcomes, err := b.store.ClaimSlice(ctx, requests)
	if err != nil {
		return err
	}
	noTeam := false
	for i, outcome := range outcomes {
		switch outcome.Verdict {
		case landfall.ClaimGranted:
			b.tries = append(b.tries, &try{
				ordinal:    members[i].Ordinal,
				unrecorded: outcome.Claim.Token == "" && outcome.Claim.FailedAt.Before(b.slice.Run.CreatedAt),
				Attempt:    b.runner.intake.NewAttempt(b.who, b.supplier, outcome.Claim, b.slice.Run.ID),
			})
		case landfall.ClaimImported, landfall.ClaimSkipped, landfall.ClaimNotStaged, landfall.ClaimDocumentRemoved:
			b.refusals = append(b.refusals, members[i].Ordinal)
		// Another attempt is creating it and may fail, so this is not an outcome
		// yet.
		case landfall.ClaimTaken:
			b.postpone(outcome.LeaseLeft)
		case landfall.ClaimOverLimit:
			b.untouched = append(b.untouched, members[i])
		case landfall.ClaimNoSupplier:
			b.stop = true
		case landfall.ClaimNoTeam:
			noTeam = true
		}
	}
	// All members have the same team, so no claim of this batch was granted that
	// would have to be released.
	if noTeam {
		return errTeamGone
	}
	return nil
}

// postpone leaves a member for another try.
func (b *batch) postpone(wait time.Duration) {
	b.postponed++
	b.wait = max(b.wait, wait)
}

// prepare makes the creation of every try. Only accounts with files or payment
// instructions to verify wait for that, all of them concurrently.
func (b *batch) prepare(ctx context.Context) error {
	now := b.runner.intake.Now()
	// The rules come first: vendors and the file store are not asked about an
	// account that the rules refuse anyway.
	var verifying []*try
	data := make(map[*try]*landfall.AccountData)
	for _, t := range b.tries {
		account := new(landfall.AccountData)
		t.reason = intake.Recover(func() (err error) {
			if t.Claim.Document == nil {
				return errAltered
			}
			*account, err = t.Check(ctx, now)
			return err
		})
		if data[t] = account; t.reason == nil && t.NeedsVerification(account) {
			verifying = append(verifying, t)
		}
	}
	if len(verifying) > 0 {
		if err := b.hold(ctx, verifying); err != nil {
			return err
		}
		b.verify(ctx, verifying, data)
	}
	for _, t := range b.tries {
		if t.reason == nil {
			t.reason = intake.Recover(func() (err error) {
				t.creation, err = t.Creation(*data[t], now)
				return err
			})
		}
	}
	return nil
}

// errAltered is recorded for an account whose document differs from the one that
// was staged.
var errAltered = errors.New("the stored document differs from the one that was staged")

// hold replaces optimistic claims by claims that hold the process, because
// verification takes time and must not be done twice for one account. An account
// that has changed since is left for another try.
func (b *batch) hold(ctx context.Context, verifying []*try) error {
	var open []*try
	var requests []landfall.ClaimRequest
	for _, t := range verifying {
		if t.Claim.Token == "" && !t.Claim.DryRun {
			open, requests = append(open, t), append(requests, b.request(t.Claim.Key, false))
		}
	}
	outcomes, err := b.store.ClaimSlice(ctx, requests)
	if err != nil {
		return err
	}
	for i, outcome := range outcomes {
		t := open[i]
		if outcome.Verdict != landfall.ClaimGranted || outcome.Claim.Revision != t.Claim.Revision {
			t.reason = landfall.ErrFenced
		}
		if outcome.Verdict == landfall.ClaimGranted {
			t.Claim = outcome.Claim
		}
	}
	return nil
}

// verify asks file store and vendors about several accounts, and renews all
// leases of the batch meanwhile.
func (b *batch) verify(ctx context.Context, verifying []*try, data map[*try]*landfall.AccountData) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.renew(ctx, cancel)
	}()
	// ForEach returns no error here: each account keeps its own.
	_ = intake.ForEach(ctx, len(verifying), func(ctx context.Context, i int) error {
		t := verifying[i]
		if t.reason == nil {
			t.reason = intake.Recover(func() error { return t.Verify(ctx, data[t]) })
		}
		return nil
	})
	lost := errors.Is(context.Cause(ctx), landfall.ErrFenced)
	cancel(nil)
	<-stopped
	for _, t := range verifying {
		// A question that was cancelled because the slice was lost says nothing about
		// the account.
		if lost && t.reason != nil {
			t.reason = landfall.ErrFenced
		}
	}
}

// renew keeps the leases of slice and claims alive. It renews three times within
// the shorter lease, so that one lost answer does no harm.
func (b *batch) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	claims := make([]landfall.Claim, len(b.tries))
	for i, t := range b.tries {
		claims[i] = t.Claim
	}
	every := time.NewTicker(b.shorterLease() / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		// Any other error may pass before the leases end.
		if err := b.store.RenewSlice(ctx, b.slice, claims); errors.Is(err, landfall.ErrFenced) {
			cancel(landfall.ErrFenced)
			return
		}
	}
}

func (b *batch) shorterLease() time.Duration {
	return min(b.slice.Lease, b.runner.intake.ClaimLease())
}

// settlement sorts the tries by their outcomes.
func (b *batch) settlement() landfall.Settlement {
	var out landfall.Settlement
	for _, t := range b.tries {
		if t.reason == nil {
			out.Created = append(out.Created, landfall.RunCreation{Ordinal: t.ordinal, Creation: t.creation})
			continue
		}
		b.fail(&out, t)
	}
	out.Refused = slices.Clone(b.refusals)
	return out
}

// fail decides what a failed try leaves behind. Invalid data is the account's
// outcome. Another reason is recorded unless the account already has a failure
// of the time of this run, as a single call records it, and the account is tried
// again.
//
// Tries are counted for the slice and not for each account. So an account whose
// first internal error comes after five passes over its slice is given up at
// once. It is listed as failed and can be part of the next run.
func (b *batch) fail(out *landfall.Settlement, t *try) {
	shown := userError(t.reason)
	internal := shown.Kind == landfall.Internal // no waiting is known to help against it
	if internal {
		b.faults = append(b.faults, fmt.Errorf("account %d of the run: %w", t.ordinal, t.reason))
	}
	switch {
	case errors.Is(t.reason, landfall.ErrFenced), errors.Is(t.reason, context.Canceled):
		out.Released = append(out.Released, t.Claim)
	case shown.Kind == landfall.Invalid || b.slice.Tries >= maxInternalTries && internal:
		out.Failed = append(out.Failed, landfall.RunFailure{Ordinal: t.ordinal, Claim: t.Claim, Attempt: t.Failed(t.reason), Final: true})
	case b.slice.Tries == 0, t.unrecorded:
		out.Failed = append(out.Failed, landfall.RunFailure{Ordinal: t.ordinal, Claim: t.Claim, Attempt: t.Failed(t.reason)})
	default:
		out.Released = append(out.Released, t.Claim)
	}
}
