package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"landfall"
)

// errNoKeys is for those who want to encrypt without a key.
var errNoKeys = &landfall.Error{
	Code: landfall.CodeValidationFailed, Kind: landfall.Invalid,
	Detail: "Nothing is encrypted: give a key with the setting encryption-key-file or encryption-key. 'landfall rekey --new-key' makes one.",
}

// Rekey encrypts everything personal with the key that encrypts today, in small
// steps that commit by themselves, and tells of each. What was interrupted goes
// on where it was. When nothing is left, the other keys are needed no more.
func (o *Operator) Rekey(ctx context.Context, told func(landfall.RekeyStep)) (landfall.RekeyStep, error) {
	for first := true; ; first = false {
		began := time.Now()
		step, err := o.store.Rekey(ctx)
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			return step, errNoKeys
		case err != nil:
			return step, storeError("encryption.rekey", err)
		}
		if first {
			if err := o.auditRekey(ctx, "begun or gone on with key "+step.Key); err != nil {
				return step, err
			}
		}
		if told(step); step.Done {
			detail := fmt.Sprintf("done with key %s: %d of %d rows", step.Key, step.Encrypted, step.Scanned)
			if len(step.DroppedKeys) > 0 {
				detail += ", no more needed: " + strings.Join(step.DroppedKeys, ", ")
			}
			return step, o.auditRekey(ctx, detail)
		}
		select {
		case <-ctx.Done():
			return step, ctx.Err()
		case <-time.After(min(time.Second, purgePause*time.Since(began))):
		}
	}
}

// auditRekey writes down that keys changed. It is an entry without a change of its
// own: the work itself is thousands of transactions that no entry could share.
func (o *Operator) auditRekey(ctx context.Context, detail string) error {
	return o.change(ctx, "encryption.rekey", "database", func(landfall.Tx) (string, error) { return detail, nil })
}

// Encryption says which keys are in use.
func (o *Operator) Encryption(ctx context.Context) (landfall.Encryption, error) {
	found, err := o.store.Encryption(ctx)
	if err != nil {
		return landfall.Encryption{}, storeError("encryption.show", err)
	}
	return found, nil
}
