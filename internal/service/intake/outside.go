package intake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
)

// askOutside asks everybody outside the database about the account's inline
// data. The claim is renewed meanwhile, since none of them is in a hurry.
func (a *attempt) askOutside(ctx context.Context, data *landfall.AccountData) error {
	if !a.mustAsk(data) {
		return nil
	}
	ctx, done := a.keepClaim(ctx)
	defer done()
	err := a.ask(ctx, data)
	if err != nil && errors.Is(context.Cause(ctx), landfall.ErrFenced) {
		return landfall.ErrFenced
	}
	return err
}

// mustAsk reports whether anybody outside has to be asked.
func (a *attempt) mustAsk(data *landfall.AccountData) bool {
	return len(data.Instructions) > 0 || a.supplier.VerifyDocuments && len(inlineFiles(data)) > 0
}

// ask asks the file store about documents, and vendors about payment
// instructions.
func (a *attempt) ask(ctx context.Context, data *landfall.AccountData) error {
	if err := a.desk.checkFiles(ctx, a.supplier, inlineFiles(data)); err != nil {
		return err
	}
	return a.verifyAll(ctx, data.Instructions)
}

// inlineFiles are those of an account that come with it.
func inlineFiles(data *landfall.AccountData) []fileAt {
	return append(notePaths(data.Notes), statementPaths(data.Statements)...)
}

// verifyAll asks the vendors about the inline instructions and keeps what they
// said. The refusal of the first one in the list is the one told.
func (a *attempt) verifyAll(ctx context.Context, instructions []landfall.Instruction) error {
	refusals := make([]error, len(instructions))
	err := eachOf(ctx, len(instructions), func(ctx context.Context, i int) error {
		details, err := a.desk.verify(ctx, a.who, a.claim.Key.Supplier, instructions[i])
		var refusal *landfall.Error
		if errors.As(err, &refusal) && refusal.Kind == landfall.Invalid {
			refusals[i] = inside(fmt.Sprintf("payment_instructions.%d.", i), err)
			return nil
		}
		instructions[i].Details = details
		return err
	})
	if err != nil {
		return err
	}
	for _, refusal := range refusals {
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// atOnce is how many questions of one request are under way at a time: enough
// to be done in time, few enough not to flood whoever answers.
const atOnce = 8

// eachOf runs n questions, a few at a time. The first error ends the others
// and is the result. A panic is an error too: nobody else could catch it here.
func eachOf(ctx context.Context, n int, ask func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		group sync.WaitGroup
		next  atomic.Int64
		first error
		once  sync.Once
	)
	for range min(n, atOnce) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := guarded(func() error { return ask(ctx, i) }); err != nil {
					once.Do(func() { first = err; cancel() })
					return
				}
			}
		})
	}
	group.Wait()
	if first == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return first
}

// keepClaim renews the claim until done is called. When the claim is lost the
// context ends: whatever is being asked is no longer of interest.
func (a *attempt) keepClaim(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		every := time.NewTicker(a.claim.Lease / 3)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if err := a.desk.store.Renew(ctx, a.claim); errors.Is(err, landfall.ErrFenced) {
				cancel(landfall.ErrFenced)
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-stopped
	}
}

// inside puts the path of a list item in front of the attrs of a refusal.
func inside(prefix string, err error) error {
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || len(refusal.Violations) == 0 {
		return err
	}
	moved := *refusal
	moved.Violations = make([]landfall.Violation, len(refusal.Violations))
	for i, violation := range refusal.Violations {
		violation.Attr = prefix + violation.Attr
		moved.Violations[i] = violation
	}
	return &moved
}
