package sqlstore

import (
	"context"

	"landfall"
)

// held is the condition under which a claim is still the process's own: only a
// claimed process has a token.
const held = ` WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2
	AND claim_token = $3`

// Renew starts the lease of a claim anew. A lease that has ended stays ended,
// even when nobody took the process: its place under the limits is given away.
func (s *Store) Renew(ctx context.Context, claim landfall.Claim) error {
	return s.update(ctx, claim.Key, func(t *tx) error {
		return changed(landfall.ErrFenced)(t.exec(ctx,
			`UPDATE process SET claim_until = {now} + $4`+held+` AND claim_until > {now}`,
			claim.Key.Supplier, claim.Key.External, claim.Token, claim.Lease.Microseconds()))
	})
}

// Release ends a claim without an account.
func (s *Store) Release(ctx context.Context, claim landfall.Claim, attempt landfall.Attempt) error {
	var failure any
	if attempt.Failure != nil {
		text, err := failureText(*attempt.Failure)
		if err != nil {
			return err
		}
		failure = text
	}
	event := attempt.Event
	event.Key, event.By = claim.Key, attempt.By
	return s.update(ctx, claim.Key, func(t *tx) error {
		err := changed(landfall.ErrFenced)(t.exec(ctx, `UPDATE process
			SET state = 'staged', claim_token = NULL, claim_until = NULL, failure = $4,
				failed_at = CASE WHEN CAST($5 AS BOOLEAN) THEN {now} END`+held,
			claim.Key.Supplier, claim.Key.External, claim.Token, failure, attempt.Failure != nil))
		if err != nil {
			return err
		}
		return t.AppendEvent(ctx, event)
	})
}

// freeClaims ends every claim. A server that starts on a file is alone there,
// so whoever held one has ended.
func (s *Store) freeClaims(ctx context.Context) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL
			WHERE state = 'claimed'`)
		return err
	})
}
