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
	return collect(ctx, v.txSession, readUndone, undoneColumns+`WHERE s.code = $1 AND p.external = $2 ORDER BY u.undone_at, u.number`,
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

// undoneMark is the bucket of accounts that no longer exist.
const undoneMark = "gone"

// UndoForecast counts what would happen to some of the accounts of a run. The
// reasons for keeping an account are the same as in undo, in the same order. A
// member that succeeded but has no account of the run was undone.
func (v *view) UndoForecast(ctx context.Context, run string, from, most int) (landfall.UndoForecast, error) {
	forecast := landfall.UndoForecast{Kept: map[landfall.KeptReason]int{}}
	type bucket struct {
		kept  landfall.KeptReason
		count int
	}
	buckets, err := collect(ctx, v.txSession, func(scan scanner, b *bucket) error { return scan(&b.kept, &b.count) },
		`SELECT x.kept, count(*) FROM (SELECT CASE
				WHEN a.id IS NULL THEN '`+undoneMark+`'
				WHEN (SELECT {now}) - p.account_created_at > s.undo_window THEN '`+string(landfall.KeptWindowOver)+`'
				WHEN a.posting_count > 0 THEN '`+string(landfall.KeptHasPostings)+`'
				WHEN p.erased_at IS NOT NULL THEN '`+string(landfall.KeptErased)+`'
				WHEN EXISTS (SELECT 1 FROM mail l WHERE l.account_id = a.id AND (l.uncertain OR l.state IN ('sending', 'sent', 'bounced')))
					THEN '`+string(landfall.KeptCustomersTold)+`'
				WHEN EXISTS (SELECT 1 FROM target_delivery d JOIN target t ON t.code = d.target WHERE d.account_id = a.id
					AND t.takes_back = FALSE AND `+maybeSent+`) THEN '`+string(landfall.KeptDelivered)+`'
				ELSE '' END AS kept
			FROM run r JOIN supplier s ON s.id = r.supplier_id JOIN run_member m ON m.run_id = r.id AND m.outcome = 'succeeded'
			JOIN process p ON p.id = m.process_id LEFT JOIN account a ON a.id = m.process_id AND a.run = r.number
			WHERE r.number = $1 AND m.ordinal >= $2 AND m.ordinal < $3) x GROUP BY x.kept`, run, int64(from), int64(from)+int64(most))
	for _, one := range buckets {
		switch one.kept {
		case "":
			forecast.Undoable = one.count
		case undoneMark:
			forecast.AlreadyUndone = one.count
		default:
			forecast.Kept[one.kept] = one.count
		}
	}
	return forecast, err
}

// UndoneAccount returns the undone account that had a number.
func (v *view) UndoneAccount(ctx context.Context, number string) (landfall.UndoneAccount, error) {
	found, err := collect(ctx, v.txSession, readUndone, undoneColumns+`WHERE u.number = $1`, number)
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
