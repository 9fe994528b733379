package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
)

// undoneColumns reads what remains of an account.
const undoneColumns = `SELECT s.code, p.external, u.number, u.account_created_at, u.undone_at, u.actor, u.reason, u.run_id
	FROM undone_account u JOIN process p ON p.id = u.process_id JOIN supplier s ON s.id = p.supplier_id `

func readUndone(scan scanner, u *landfall.UndoneAccount) error {
	var run sql.NullString
	err := scan(&u.Key.Supplier, &u.Key.External, &u.Number, instantInto{&u.CreatedAt}, instantInto{&u.UndoneAt}, &u.Actor, &u.Reason, &run)
	u.Run = run.String
	return err
}

// UndoneAccounts gives the accounts of a process that were taken back.
func (v *view) UndoneAccounts(ctx context.Context, key landfall.Key) ([]landfall.UndoneAccount, error) {
	return collect(ctx, v.session, readUndone, undoneColumns+`WHERE s.code = $1 AND p.external = $2 ORDER BY u.undone_at, u.number`,
		key.Supplier, key.External)
}

// UndoneInRun counts the accounts of a run that were taken back.
func (v *view) UndoneInRun(ctx context.Context, run string) (count int, err error) {
	err = v.one(ctx, `SELECT count(*) FROM undone_account WHERE run_id = $1`, []any{run}, []any{&count})
	return count, err
}

// UndoneAccount gives the account that had a number and was taken back.
func (v *view) UndoneAccount(ctx context.Context, number string) (landfall.UndoneAccount, error) {
	found, err := collect(ctx, v.session, readUndone, undoneColumns+`WHERE u.number = $1`, number)
	return first(found, err, landfall.ErrNotFound)
}

// UndoFigures says how many accounts were taken back and how often one was kept.
func (v *view) UndoFigures(ctx context.Context) (undone int, kept map[landfall.KeptReason]int, err error) {
	if err := v.one(ctx, `SELECT count(*) FROM undone_account`, nil, []any{&undone}); err != nil {
		return 0, nil, err
	}
	kept = map[landfall.KeptReason]int{}
	_, err = collect(ctx, v.session, func(scan scanner, reason *landfall.KeptReason) error {
		var times int
		err := scan(reason, &times)
		kept[*reason] = times
		return err
	}, `SELECT reason, times FROM undo_kept`)
	return undone, kept, err
}
