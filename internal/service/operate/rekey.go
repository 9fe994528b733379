package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"landfall"
)

// errNoKeys is returned for a rekey without a key.
var errNoKeys = &landfall.Error{
	Code: landfall.CodeValidationFailed, Kind: landfall.Invalid,
	Detail: "Nothing is encrypted: give a key with the setting encryption-key-file or encryption-key. 'landfall rekey --new-key' creates one.",
}

// Rekey encrypts all personal data with the current key. It works in small steps
// that commit separately, and calls told after each. After an interruption it
// continues where it stopped. When it is done, the other keys are no longer
// needed.
func (o *Operator) Rekey(ctx context.Context, told func(landfall.RekeyStep)) (landfall.RekeyStep, error) {
	waited := time.Duration(0)
	for first := true; ; first = false {
		began := time.Now()
		step, err := o.store.Rekey(ctx)
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			return step, errNoKeys
		case err != nil:
			err = storeError("encryption.rekey", err)
			if told, known := errors.AsType[*landfall.Error](err); known && told.Kind == landfall.Unavailable {
				told.Detail = "The database cannot be reached or is too busy. What was encrypted so far is kept; run 'landfall rekey' again to continue."
			}
			return step, err
		case len(step.Waiting) > 0 && waited >= replicaSeen:
			return step, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Servers on %s write with another encryption key, or with none. "+
				"Restart them with the key %s first, then run this again.", strings.Join(step.Waiting, ", "), step.Key))
		case len(step.Waiting) > 0:
			// It may have stopped a moment ago without saying so.
			told(step)
			if err := sleep(ctx, time.Second); err != nil {
				return step, err
			}
			waited += time.Second
			continue
		}
		if first {
			if err := o.auditRekey(ctx, "started or continued with key "+step.Key); err != nil {
				return step, err
			}
		}
		if told(step); step.Done {
			detail := fmt.Sprintf("done with key %s: %d of %d rows", step.Key, step.Encrypted, step.Scanned)
			if len(step.DroppedKeys) > 0 {
				detail += ", no longer needed: " + strings.Join(step.DroppedKeys, ", ")
			}
			if step.Unreadable > 0 {
				detail += fmt.Sprintf(", %d values do not open", step.Unreadable)
			}
			return step, o.auditRekey(ctx, detail)
		}
		if err := sleep(ctx, min(time.Second, purgePause*time.Since(began))); err != nil {
			return step, err
		}
	}
}

func sleep(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

// AcceptPlaintext accepts unencrypted values that were written after everything
// had been encrypted, so that the next rekey encrypts them.
func (o *Operator) AcceptPlaintext(ctx context.Context) error {
	switch err := o.store.AcceptPlain(ctx); {
	case errors.Is(err, landfall.ErrNotFound):
		return errNoKeys
	case errors.Is(err, landfall.ErrExists):
		return landfall.Refuse(landfall.CodeValidationFailed, "The encryption key is being changed. Finish that with 'landfall rekey' first.")
	case err != nil:
		return storeError("encryption.rekey", err)
	}
	return o.auditRekey(ctx, "unencrypted values are accepted until everything is encrypted again")
}

// auditRekey records a rekey in the audit. The entry has a transaction of its
// own, because the work itself takes thousands of transactions.
func (o *Operator) auditRekey(ctx context.Context, detail string) error {
	return o.change(ctx, "encryption.rekey", "database", func(landfall.Tx) (string, error) { return detail, nil })
}

// Encryption returns which keys are in use.
func (o *Operator) Encryption(ctx context.Context) (landfall.Encryption, error) {
	found, err := o.store.Encryption(ctx)
	if err != nil {
		return landfall.Encryption{}, storeError("encryption.show", err)
	}
	return found, nil
}
