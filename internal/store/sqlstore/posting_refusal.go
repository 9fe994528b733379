package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"landfall"
)

// RefusePosting records why a posting was refused, with its event, or in which
// attrs another delivery of the account differs, without one. The account is
// locked, so that it is not undone meanwhile.
func (s *Store) RefusePosting(ctx context.Context, wanted landfall.PostingRefusal) error {
	// Without details: what is wrong with a value may reveal something about it.
	kept := landfall.Failure{Code: wanted.Failure.Code}
	for _, violation := range wanted.Failure.Violations {
		kept.Violations = append(kept.Violations, landfall.Violation{Code: violation.Code, Attr: violation.Attr})
	}
	text, err := failureText(kept)
	if err != nil {
		return err
	}
	key, by := wanted.Key, wanted.By
	for _, text := range []string{key.Supplier, key.External, text} {
		if !storable(text) {
			return errUnstorable
		}
	}
	return s.update(ctx, key, func(t *tx) error {
		if err := t.CheckAuthor(ctx, by); err != nil {
			return err
		}
		var id, supplier int64
		var number string
		err := t.one(ctx, `SELECT held.id, s.id, p.account_number FROM supplier s JOIN process p ON p.supplier_id = s.id
			JOIN account held ON held.id = p.id WHERE s.code = $1 AND p.external = $2 {for_update}`,
			[]any{key.Supplier, key.External}, []any{&id, &supplier, &number})
		if errors.Is(err, landfall.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if wanted.Kind == landfall.PostingAccount && len(kept.Violations) == 0 {
			return t.deletePostingRefusal(ctx, id, wanted.Kind)
		}
		if _, err := t.exec(ctx, `INSERT INTO posting_refusal (supplier_id, external, kind, account_id, at, failure, key_id, request_id)
			VALUES ($1, $2, $3, $4, {now}, CAST($5 AS {json}), $6, $7)
			ON CONFLICT (supplier_id, external, kind) DO UPDATE
			SET at = excluded.at, failure = excluded.failure, key_id = excluded.key_id, request_id = excluded.request_id`,
			supplier, key.External, string(wanted.Kind), id, t.sealer.sealJSON(postingRefusalLocation, text, key.Supplier, key.External),
			textArg(by.KeyID), textArg(by.RequestID)); err != nil || wanted.Kind == landfall.PostingAccount {
			return err
		}
		return t.AppendEvent(ctx, landfall.Event{
			Type: landfall.EventPostingFailed, Key: key, AccountNumber: number, By: by,
			Details: map[string]string{"at": string(wanted.Kind), "code": wanted.Failure.Code},
		})
	})
}

// deletePostingRefusal deletes what is on record about one kind of posting of an
// account.
func (t *tx) deletePostingRefusal(ctx context.Context, account int64, kind landfall.PostingKind) error {
	_, err := t.exec(ctx, `DELETE FROM posting_refusal WHERE account_id = $1 AND kind = $2`, account, string(kind))
	return err
}

// refusedPostings is in the order of the primary key.
const refusedPostings = `SELECT r.external, r.failure, r.at, r.kind FROM posting_refusal r
	WHERE r.supplier_id = $1 AND (r.external, r.kind) > ($2, $4) AND r.kind <> '` + string(landfall.PostingAccount) + `' ORDER BY r.external, r.kind LIMIT $3`

// readRefusedPosting scans a refused posting of a supplier.
func (v *view) readRefusedPosting(code string) func(scanner, *landfall.FailedProcess) error {
	return func(scan scanner, failed *landfall.FailedProcess) error {
		var kept []byte
		var at sql.NullInt64
		var kind string
		if err := scan(&failed.External, &kept, &at, &kind); err != nil {
			return err
		}
		failed.Failure = openFailure(v.sealer.scan("posting_refusal", code, failed.External), kept, at)
		failed.Failure.Posting = landfall.PostingKind(kind)
		return nil
	}
}

// RefusedPostings returns the refused postings of an account.
func (v *view) RefusedPostings(ctx context.Context, key landfall.Key) ([]landfall.Failure, error) {
	read := v.readRefusedPosting(key.Supplier)
	return collect(ctx, v.txSession, func(scan scanner, failure *landfall.Failure) error {
		var one landfall.FailedProcess
		err := read(scan, &one)
		*failure = one.Failure
		return err
	}, `SELECT r.external, r.failure, r.at, r.kind FROM posting_refusal r JOIN supplier s ON s.id = r.supplier_id
		WHERE s.code = $1 AND r.external = $2 ORDER BY r.kind`, key.Supplier, key.External)
}
