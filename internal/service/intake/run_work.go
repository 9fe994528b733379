package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall"
)

// Progress is what became of some members of a slice.
type Progress struct {
	Succeeded, Failed, Refused int
	Untouched                  []landfall.RunMember // limits are full: nothing is wrong with them
	Later                      int                  // stay open for another try
	Pause                      time.Duration        // before which that is of no use; 0 when it is not known
	Stop                       bool                 // nothing more may be begun
	Faults                     []error              // of ours that nobody can name, for the log
}

// What keeps a run from going on until somebody helps.
var (
	ErrRunNotGranted = errors.New("the supplier is not granted to the organisation of the run")
	ErrRunTeamGone   = errors.New("the team of the run is gone")
)

// mostInternal is how often an account is tried again after a fault of ours
// that nobody can name. Then it is a failure like any other, or the run would
// never end.
const mostInternal = 5

// WorkOn creates some members of a slice: a look at all of them, the rules once
// more, questions to the outside, one creating transaction. It is Process for
// many, and every attempt leaves what it would leave there. What fails for a
// reason of ours stays open.
func (d *Desk) WorkOn(ctx context.Context, slice landfall.RunSlice, members []landfall.RunMember) (Progress, error) {
	run := slice.Run
	who := landfall.Principal{
		Organisation: run.ActsFor.Organisation, KeyID: run.ActsFor.KeyID, RequestID: run.ActsFor.RequestID,
		Role: landfall.RoleImporter, Quotas: slice.Quotas,
	}
	supplier, err := d.supplier(ctx, who, run.Plan.Supplier)
	if err != nil {
		return Progress{}, err
	}
	if supplier == nil {
		return Progress{}, ErrRunNotGranted
	}
	// A run counts against the quota of its organisation as single calls do. What
	// finds no place is left untouched: nothing is wrong with it.
	places, done := d.places(who, len(members))
	defer done()
	work := &stint{desk: d, who: who, supplier: *supplier, slice: slice}
	work.Untouched = slices.Clone(members[places:])
	if err := work.claim(ctx, members[:places]); err != nil {
		return Progress{}, err
	}
	if err := work.prepare(ctx); err != nil {
		return Progress{}, err
	}
	err = work.settle(ctx)
	return work.Progress, err
}

// places takes as many places for creations as there are, up to some number.
func (d *Desk) places(who landfall.Principal, most int) (count int, done func()) {
	var ends []func()
	for range most {
		end, err := d.begin(who)
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

// stint is the work on some members of a slice.
type stint struct {
	Progress
	desk     *Desk
	who      landfall.Principal
	supplier landfall.Supplier
	slice    landfall.RunSlice
	tries    []*try
	refused  []int // ordinals
}

// try is one attempt of a stint.
type try struct {
	attempt
	ordinal  int
	creation landfall.Creation
	reason   error // why there is no creation
}

// request asks for the claim of one member.
func (s *stint) request(key landfall.Key, loose bool) landfall.ClaimRequest {
	plan := s.slice.Run.Plan
	return landfall.ClaimRequest{
		Key: key, Team: plan.Team, Lease: s.desk.lease, ServiceLimit: s.desk.serviceLimit, DryRun: plan.DryRun, Optimistic: loose,
		By: s.who.Author(),
	}
}

// claim asks for all members at once, loosely: nearly all of them are created
// within the same tenth of a second, and who holds them meanwhile would write
// each of them twice.
func (s *stint) claim(ctx context.Context, members []landfall.RunMember) error {
	requests := make([]landfall.ClaimRequest, len(members))
	for i, member := range members {
		requests[i] = s.request(member.Key, true)
	}
	outcomes, err := s.desk.store.ClaimSlice(ctx, requests)
	if err != nil {
		return err
	}
	noTeam := false
	for i, outcome := range outcomes {
		switch outcome.Verdict {
		case landfall.ClaimGranted:
			s.tries = append(s.tries, &try{ordinal: members[i].Ordinal, attempt: attempt{
				desk: s.desk, who: s.who, claim: outcome.Claim, supplier: s.supplier, within: s.slice.Run.ID,
			}})
		case landfall.ClaimImported, landfall.ClaimSkipped, landfall.ClaimNotStaged, landfall.ClaimDocumentRemoved:
			s.refused = append(s.refused, members[i].Ordinal)
		// Somebody else is at it and may fail, so this is no outcome yet.
		case landfall.ClaimTaken:
			s.later(outcome.LeaseLeft)
		case landfall.ClaimOverLimit:
			s.Untouched = append(s.Untouched, members[i])
		case landfall.ClaimNoSupplier:
			s.Stop = true
		case landfall.ClaimNoTeam:
			noTeam = true
		}
	}
	if noTeam {
		return ErrRunTeamGone
	}
	return nil
}

// later leaves a member for another try.
func (s *stint) later(pause time.Duration) {
	s.Later++
	s.Pause = max(s.Pause, pause)
}

// prepare gets everything ready that can be. Nobody waits for the outside but
// those who have a question, and these ask side by side.
func (s *stint) prepare(ctx context.Context) error {
	now := s.desk.now()
	// The rules come before the questions: nobody outside is asked about an account
	// that they refuse anyway.
	var asking []*try
	data := make(map[*try]*landfall.AccountData)
	for _, t := range s.tries {
		found := new(landfall.AccountData)
		t.reason = guarded(func() (err error) {
			if t.claim.Document == nil {
				return errAltered
			}
			*found, err = t.check(ctx, now)
			return err
		})
		if data[t] = found; t.reason == nil && t.mustAsk(found) {
			asking = append(asking, t)
		}
	}
	if len(asking) > 0 {
		if err := s.hold(ctx, asking); err != nil {
			return err
		}
		s.askAll(ctx, asking, data)
	}
	for _, t := range s.tries {
		if t.reason == nil {
			t.reason = guarded(func() (err error) {
				t.creation, err = t.attempt.creation(*data[t], now)
				return err
			})
		}
	}
	return nil
}

// hold claims firmly what somebody outside is asked about: that takes its time,
// and may not be done twice for one account. What is not as it was looked at is
// left for another try.
func (s *stint) hold(ctx context.Context, asking []*try) error {
	var open []*try
	var requests []landfall.ClaimRequest
	for _, t := range asking {
		if t.claim.Token == "" && !t.claim.DryRun {
			open, requests = append(open, t), append(requests, s.request(t.claim.Key, false))
		}
	}
	outcomes, err := s.desk.store.ClaimSlice(ctx, requests)
	if err != nil {
		return err
	}
	for i, outcome := range outcomes {
		t := open[i]
		if outcome.Verdict != landfall.ClaimGranted || outcome.Claim.Revision != t.claim.Revision {
			t.reason = landfall.ErrFenced
		}
		if outcome.Verdict == landfall.ClaimGranted {
			t.claim = outcome.Claim
		}
	}
	return nil
}

// errAltered is the reason kept of an account whose document is not the one
// that was staged.
var errAltered = errors.New("the staged document is not the one that was staged")

// askAll asks the outside about several accounts, while the leases of all of
// the stint are renewed.
func (s *stint) askAll(ctx context.Context, asking []*try, data map[*try]*landfall.AccountData) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.renew(ctx, cancel)
	}()
	// Its error is nil: what an account meets is its own.
	_ = eachOf(ctx, len(asking), func(ctx context.Context, i int) error {
		t := asking[i]
		if t.reason == nil {
			t.reason = guarded(func() error { return t.ask(ctx, data[t]) })
		}
		return nil
	})
	lost := errors.Is(context.Cause(ctx), landfall.ErrFenced)
	cancel(nil)
	<-stopped
	for _, t := range asking {
		// A question that was broken off because the slice was lost says nothing
		// about the account.
		if lost && t.reason != nil {
			t.reason = landfall.ErrFenced
		}
	}
}

// renew keeps slice and claims alive while the outside is asked. It asks three
// times within the shorter lease, so that one lost answer ends nothing.
func (s *stint) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	claims := make([]landfall.Claim, len(s.tries))
	for i, t := range s.tries {
		claims[i] = t.claim
	}
	every := time.NewTicker(min(s.slice.Lease, s.desk.lease) / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		// Any other trouble may pass before the leases end.
		if err := s.desk.store.RenewSlice(ctx, s.slice, claims); errors.Is(err, landfall.ErrFenced) {
			cancel(landfall.ErrFenced)
			return
		}
	}
}

// guarded turns a panic into an error: a fault in one account's data must not
// end the run, let alone the server.
func guarded(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return do()
}

// settlement sorts what became of the tries.
func (s *stint) settlement() landfall.Settlement {
	var out landfall.Settlement
	for _, t := range s.tries {
		if t.reason == nil {
			out.Created = append(out.Created, landfall.RunCreation{Ordinal: t.ordinal, Creation: t.creation})
			continue
		}
		s.fail(&out, t)
	}
	out.Refused = slices.Clone(s.refused)
	return out
}

// fail decides what a failed try leaves behind. Data at fault is the account's
// outcome. A reason of ours is kept the first time, as a single call keeps it,
// and the account is tried again.
func (s *stint) fail(out *landfall.Settlement, t *try) {
	shown := trouble(t.reason)
	ours := shown.Kind == landfall.Internal // no waiting is known to help against it
	if ours {
		s.Faults = append(s.Faults, fmt.Errorf("account %d of the run: %w", t.ordinal, t.reason))
	}
	switch {
	case errors.Is(t.reason, landfall.ErrFenced), errors.Is(t.reason, context.Canceled):
		out.Released = append(out.Released, t.claim)
	case shown.Kind == landfall.Invalid || s.slice.Tries >= mostInternal && ours:
		out.Failed = append(out.Failed, landfall.RunFailure{Ordinal: t.ordinal, Claim: t.claim, Attempt: t.record(t.reason), Final: true})
	case s.slice.Tries == 0:
		out.Failed = append(out.Failed, landfall.RunFailure{Ordinal: t.ordinal, Claim: t.claim, Attempt: t.record(t.reason)})
	default:
		out.Released = append(out.Released, t.claim)
	}
}
