package sqlstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"landfall"
)

// errBroken means that a signed document is not the one that was signed.
var errBroken = errors.New("the signed reconciliation is not the one that was sealed")

// CreateSignOff stores a signed reconciliation with the hashes of its
// documents.
func (t *tx) CreateSignOff(ctx context.Context, signed landfall.SignOff) (int64, error) {
	report, page := sha256.Sum256(signed.Report), sha256.Sum256(signed.Page)
	kept, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`INSERT INTO sign_off (supplier_id, signed_at, actor, report, report_hash, page, page_hash)
		SELECT id, $2, $3, $4, $5, $6, $7 FROM supplier WHERE code = $1 RETURNING id`,
		signed.Supplier, signed.SignedAt.UnixMicro(), signed.Actor, string(signed.Report), report[:], string(signed.Page), page[:])
	return firstOf(kept, err, landfall.ErrNotFound)
}

// signOffs selects the hashes beside the documents, so that a change can be
// detected.
const signOffs = `SELECT g.id, s.code, g.signed_at, g.actor, g.report_hash, g.page_hash, `

// readSignOff reads what is stored. Its caller compares the hashes.
func readSignOff(scan scanner, signed *landfall.SignOff) error {
	var report, page []byte
	err := scan(&signed.ID, &signed.Supplier, instantInto{&signed.SignedAt}, &signed.Actor, &report, &page, &signed.Report, &signed.Page)
	signed.ReportHash, signed.PageHash = hashOf(report), hashOf(page)
	return err
}

// SignOffs returns the signed reconciliations, the newest first, without their
// documents.
func (v *view) SignOffs(ctx context.Context, code string) ([]landfall.SignOff, error) {
	return collect(ctx, v.txSession, readSignOff, signOffs+`NULL, NULL FROM sign_off g JOIN supplier s ON s.id = g.supplier_id
		WHERE $1 = '' OR s.code = $1 ORDER BY g.id DESC`, code)
}

// SignOff returns one signed reconciliation with its documents.
func (v *view) SignOff(ctx context.Context, id int64) (landfall.SignOff, error) {
	found, err := collect(ctx, v.txSession, readSignOff, signOffs+`g.report, g.page FROM sign_off g
		JOIN supplier s ON s.id = g.supplier_id WHERE g.id = $1`, id)
	signed, err := firstOf(found, err, landfall.ErrNotFound)
	if err != nil {
		return signed, err
	}
	if sha256.Sum256(signed.Report) != signed.ReportHash || sha256.Sum256(signed.Page) != signed.PageHash {
		return landfall.SignOff{}, errBroken
	}
	if err := v.checkSignOff(ctx, &signed); err != nil {
		return landfall.SignOff{}, err
	}
	return signed, nil
}

// checkSignOff compares a signed reconciliation with the audit: whoever changes
// its row can change the hashes in that row as well. The entry must be the one
// that was chained. Only a checkpoint reveals a whole chain that was rewritten.
func (v *view) checkSignOff(ctx context.Context, signed *landfall.SignOff) error {
	type evidence struct {
		landfall.AuditLink
		before  landfall.AuditHash
		through int64
	}
	found, err := collect(ctx, v.txSession, func(scan scanner, one *evidence) error {
		return scan(append(auditInto(&one.AuditEntry), &one.Position, hashInto{&one.Hash}, hashInto{&one.before}, &one.through)...)
	}, auditEntry+`, coalesce(l.position, 0), coalesce(l.hash, ''), coalesce(b.hash, ''), c.through
		FROM audit a CROSS JOIN audit_chain c LEFT JOIN audit_link l ON l.entry = a.id LEFT JOIN audit_link b ON b.position = l.position - 1
		WHERE a.subject = $1 AND a.subject <> '' AND a.action = $2 AND a.detail = $3`,
		signed.Supplier, landfall.SignOffAction, landfall.SignOffDetail(signed.ID, signed.ReportHash, signed.PageHash))
	if err != nil {
		return err
	}
	for _, one := range found {
		if chained := one.Position > 0; !chained && one.ID > one.through || chained && one.HashAfter(one.before) == one.Hash {
			return nil
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: the entry of the audit that has its hashes was altered", errBroken)
	}
	return fmt.Errorf("%w: the audit has no entry with its hashes", errBroken)
}

// SignedOffAt returns when each supplier's reconciliation was last signed off.
func (v *view) SignedOffAt(ctx context.Context) (map[string]time.Time, error) {
	type signed struct {
		supplier string
		at       int64
	}
	// One index lookup for each supplier, no matter how many reports it has.
	found, err := collect(ctx, v.txSession, func(scan scanner, s *signed) error { return scan(&s.supplier, &s.at) },
		`SELECT s.code, o.signed_at FROM supplier s JOIN sign_off o ON o.id =
			(SELECT max(l.id) FROM sign_off l WHERE l.supplier_id = s.id)`)
	times := make(map[string]time.Time, len(found))
	for _, one := range found {
		times[one.supplier] = moment(one.at)
	}
	return times, err
}
