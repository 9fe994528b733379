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

// NeedsVerification reports whether the account has files or payment instructions
// that Verify has to ask about.
func (a *Attempt) NeedsVerification(data *landfall.AccountData) bool {
	return len(data.Instructions) > 0 || a.supplier.VerifyDocuments && len(inlineFiles(data)) > 0
}

// Verify asks the file store about documents, and vendors about payment
// instructions. It stores the vendors' answers in data.
func (a *Attempt) Verify(ctx context.Context, data *landfall.AccountData) error {
	if err := a.service.checkFiles(ctx, a.supplier, inlineFiles(data)); err != nil {
		return err
	}
	return a.verifyInstructions(ctx, data.Instructions)
}

// verifyRenewing verifies the account's data, and renews the claim meanwhile
// because that may take a while.
func (a *Attempt) verifyRenewing(ctx context.Context, data *landfall.AccountData) error {
	if !a.NeedsVerification(data) {
		return nil
	}
	ctx, done := a.keepClaim(ctx)
	defer done()
	err := a.Verify(ctx, data)
	if err != nil && errors.Is(context.Cause(ctx), landfall.ErrFenced) {
		return landfall.ErrFenced
	}
	return err
}

// inlineFiles returns the files that an account's notes and statements name.
func inlineFiles(data *landfall.AccountData) []attrFile {
	return append(notePaths(data.Notes), statementPaths(data.Statements)...)
}

// verifyInstructions asks the vendors about payment instructions and keeps their
// answers. When several are refused, the first one in the list is returned.
func (a *Attempt) verifyInstructions(ctx context.Context, instructions []landfall.Instruction) error {
	refusals := make([]error, len(instructions))
	err := ForEach(ctx, len(instructions), func(ctx context.Context, i int) error {
		details, err := a.service.verify(ctx, a.who, a.Claim.Key.Supplier, instructions[i])
		var refusal *landfall.Error
		if errors.As(err, &refusal) && refusal.Kind == landfall.Invalid {
			refusals[i] = prefixAttrs(fmt.Sprintf("payment_instructions.%d.", i), err)
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

// keepClaim renews the claim until done is called. When the claim is lost, the
// context ends.
func (a *Attempt) keepClaim(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		every := time.NewTicker(a.Claim.Lease / 3)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if err := a.service.store.For(a.who.Caller()).Renew(ctx, a.Claim); errors.Is(err, landfall.ErrFenced) {
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

// maxParallel is how many questions of one request are asked at a time: enough to
// be done in time, few enough not to flood the file store or a vendor.
const maxParallel = 8

// ForEach calls ask for 0 to n-1, a few at a time. The first error cancels the
// others and is returned. A panic becomes an error, because the caller could not
// recover it on these goroutines.
func ForEach(ctx context.Context, n int, ask func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		group sync.WaitGroup
		next  atomic.Int64
		first error
		once  sync.Once
	)
	for range min(n, maxParallel) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				if err := Recover(func() error { return ask(ctx, i) }); err != nil {
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

// Recover calls fn and turns a panic into an error: a fault in one account's data
// must not end a run, let alone the server.
func Recover(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return fn()
}

// prefixAttrs puts the path of a list item in front of the attrs of a refusal.
func prefixAttrs(prefix string, err error) error {
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
