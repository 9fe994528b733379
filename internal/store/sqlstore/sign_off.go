package sqlstore

import (
	"context"
	"crypto/sha256"
	"errors"

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
	if err == nil && (sha256.Sum256(signed.Report) != signed.ReportHash || sha256.Sum256(signed.Page) != signed.PageHash) {
		return landfall.SignOff{}, errBroken
	}
	return signed, err
}
