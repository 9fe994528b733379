package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
)

// undoneColumns reads what remains of an account.
const undoneColumns = `SELECT s.code, p.external, u.number, u.account_created_at, u.undone_at, u.actor, u.reason, u.run_id
	FROM undone_account u JOIN process p ON p.id = u.process_id JOIN supplier s ON s.id = p.supplier_id `

// readUndone has a run where the account was taken back with one.
func readUndone(scan scanner, u *landfall.UndoneAccount) error {
	var run sql.NullString
	err := scan(&u.Key.Supplier, &u.Key.External, &u.Number, instantInto{&u.CreatedAt}, instantInto{&u.UndoneAt}, &u.Actor, &u.Reason, &run)
	u.Run = run.String
	return err
}

// UndoneAccounts gives the accounts of a process that were taken back.
func (v *view) UndoneAccounts(ctx context.Context, key landfall.Key) ([]landfall.UndoneAccount, error) {
	return collect(ctx, v.txSession, readUndone, undoneColumns+`WHERE s.code = $1 AND p.external = $2 ORDER BY u.undone_at, u.number`,
		key.Supplier, key.External)
}

// UndoneInRun says how many accounts of a run were taken back. They were counted
// then.
func (v *view) UndoneInRun(ctx context.Context, run string) (count int, err error) {
	err = v.one(ctx, `SELECT coalesce(max(undone), 0) FROM run WHERE number = $1`, []any{run}, []any{&count})
	return count, err
}

// undoneMark is the bucket of accounts that are not there any more.
const undoneMark = "gone"

// UndoForecast counts what would become of some of the accounts of a run. What
// keeps an account is decided as undo decides it, and in the same order. A member
// that succeeded and has no account of the run was taken back.
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

// UndoneAccount gives the account that had a number and was taken back.
func (v *view) UndoneAccount(ctx context.Context, number string) (landfall.UndoneAccount, error) {
	found, err := collect(ctx, v.txSession, readUndone, undoneColumns+`WHERE u.number = $1`, number)
	return firstOf(found, err, landfall.ErrNotFound)
}

// UndoFigures says how many accounts were taken back and how often one was kept.
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
