package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"landfall"
)

// storedFamily receives the columns of a token's family.
type storedFamily struct {
	id          []byte
	ends, ended sql.NullInt64
}

// family returns the family. If its row was deleted, it had ended before.
func (kept storedFamily) family() landfall.TokenFamily {
	if kept.id == nil {
		return landfall.TokenFamily{}
	}
	return landfall.TokenFamily{ID: hashOf(kept.id), EndsAt: instant(kept.ends), Ended: kept.ended.Valid || !kept.ends.Valid}
}

// familyArg is NULL for no family.
func familyArg(id [32]byte) any {
	if id == ([32]byte{}) {
		return nil
	}
	return id[:]
}

// StartFamily stores a new family of tokens.
func (t *tx) StartFamily(ctx context.Context, family landfall.TokenFamily) error {
	_, err := t.exec(ctx, `INSERT INTO token_family (id, ends_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`,
		family.ID[:], family.EndsAt.UnixMicro())
	return err
}

// EndFamily ends every token of a family. The first end time is kept.
func (t *tx) EndFamily(ctx context.Context, id [32]byte) error {
	_, err := t.exec(ctx, `UPDATE token_family SET ended_at = {now} WHERE id = $1 AND ended_at IS NULL`, id[:])
	return err
}

// DropEndedFamilies deletes families that ended before an instant.
func (t *tx) DropEndedFamilies(ctx context.Context, before time.Time, limit int) (int, error) {
	count, err := t.exec(ctx, `DELETE FROM token_family WHERE id IN
		(SELECT id FROM token_family WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, before.UnixMicro(), int64(limit))
	return int(count), err
}
