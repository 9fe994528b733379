package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
)

// undoneColumns reads what is kept of an undone account.
const undoneColumns = `SELECT s.code, p.external, u.number, u.account_created_at, u.undone_at, u.actor, u.reason, u.run_id
	FROM undone_account u JOIN process p ON p.id = u.process_id JOIN supplier s ON s.id = p.supplier_id `

// readUndone reads a row of undoneColumns. The run is set if the account was
// created in one.
func readUndone(scan scanner, u *landfall.UndoneAccount) error {
	var run sql.NullString
	err := scan(&u.Key.Supplier, &u.Key.External, &u.Number, instantInto{&u.CreatedAt}, instantInto{&u.UndoneAt}, &u.Actor, &u.Reason, &run)
	u.Run = run.String
	return err
}

// UndoneAccounts returns the undone accounts of a process.
func (v *view) UndoneAccounts(ctx context.Context, key landfall.Key) ([]landfall.UndoneAccount, error) {
	return collect(ctx, v.txSession, readUndone, undoneColumns+`WHERE s.code = $1 AND p.external = $2 ORDER BY u.id`,
		key.Supplier, key.External)
}

// UndoneOf returns how often an account of a supplier was undone.
func (v *view) UndoneOf(ctx context.Context, supplier string) (count int, err error) {
	err = v.one(ctx, `SELECT count(*) FROM undone_account u JOIN process p ON p.id = u.process_id JOIN supplier s ON s.id = p.supplier_id
		WHERE s.code = $1`, []any{supplier}, []any{&count})
	return count, err
}

// UndoneInRun returns how many accounts of a run were undone. It reads the
// counter of the run.
func (v *view) UndoneInRun(ctx context.Context, run string) (count int, err error) {
	err = v.one(ctx, `SELECT coalesce(max(undone), 0) FROM run WHERE number = $1`, []any{run}, []any{&count})
	return count, err
}

// UndoneAccount returns the account with a number that was undone last.
func (v *view) UndoneAccount(ctx context.Context, number string) (landfall.UndoneAccount, error) {
	found, err := collect(ctx, v.txSession, readUndone, undoneColumns+`WHERE u.number = $1 ORDER BY u.id DESC LIMIT 1`, number)
	return firstOf(found, err, landfall.ErrNotFound)
}

// UndoFigures returns how many accounts were undone and how often one was kept,
// by reason.
func (v *view) UndoFigures(ctx context.Context) (undone int, kept map[landfall.KeptReason]int, err error) {
	if err := v.one(ctx, `SELECT count(*) FROM undone_account`, nil, []any{&undone}); err != nil {
		return 0, nil, err
	}
	kept = map[landfall.KeptReason]int{}
	_, err = collect(ctx, v.txSession, func(scan scanner, reason *landfall.KeptReason) error {
		var times int
		err := scan(reason, &times)
		kept[*reason] = times
		return err
	}, `SELECT reason, times FROM undo_refusal`)
	return undone, kept, err
}
