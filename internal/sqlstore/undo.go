package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
)

type (
	undoCall = call[*undoing, landfall.UndoOutcome]
	openUndo = unsettled[*undoing, landfall.UndoOutcome]
)

// undoing is one call of Undo with what was found of its account.
type undoing struct {
	landfall.Undoing
	id      int64
	number  string
	created int64
	now     int64
	inTime  bool
	posted  bool   // something was added to it
	madeIn  string // the run
}

// undoWeight stands for the rows of an account, of which nobody knows the
// number beforehand: not too many go together.
const undoWeight = 64 << 10

// Undo takes an account back.
func (s *Store) Undo(ctx context.Context, wanted landfall.Undoing) (landfall.UndoOutcome, error) {
	for _, text := range []string{wanted.Key.Supplier, wanted.Key.External, wanted.Number, wanted.Actor, wanted.Reason, wanted.Run} {
		if !storable(text) {
			return landfall.UndoOutcome{}, errUnstorable
		}
	}
	return s.undos.join(ctx, wanted.Key, undoWeight, &undoing{Undoing: wanted})
}

// undo takes a batch of accounts back, and says of each what became of it. It
// decides only when it holds the process, against whoever stages, creates or
// undoes, and the account, against whoever adds to it.
func (t *tx) undo(ctx context.Context, batch []*undoCall) error {
	open := unsettle(batch)
	found, err := t.holdImported(ctx, open)
	if err != nil {
		return err
	}
	if err := t.undoneBefore(ctx, open); err != nil {
		return err
	}
	if err := t.holdUndone(ctx, found); err != nil {
		return err
	}
	mailed, err := t.mailed(ctx, found)
	if err != nil {
		return err
	}
	var gone []*undoCall
	times := map[landfall.KeptReason]int64{}
	for _, one := range found {
		if run := one.wanted.Run; run != "" && run != one.wanted.madeIn {
			one.outcome = landfall.UndoOutcome{Verdict: landfall.UndoNoAccount}
			continue
		}
		kept, err := t.keeps(ctx, one, mailed)
		if err != nil {
			return err
		}
		one.outcome = landfall.UndoOutcome{Verdict: landfall.UndoKept, Number: one.wanted.number, Kept: kept}
		if kept == "" {
			one.outcome = landfall.UndoOutcome{Verdict: landfall.Undone, Number: one.wanted.number, At: moment(one.wanted.now)}
			gone = append(gone, one)
		} else {
			times[kept]++
		}
	}
	if err := t.takeBack(ctx, gone); err != nil {
		return err
	}
	return t.countKept(ctx, times)
}

// countKept counts accounts that were kept. It comes last, since whoever counts
// the same waits from here on.
func (t *tx) countKept(ctx context.Context, times map[landfall.KeptReason]int64) error {
	for _, reason := range landfall.KeptReasons { // in one order for everybody
		if times[reason] == 0 {
			continue
		}
		if _, err := t.exec(ctx, `INSERT INTO undo_kept (reason, times) VALUES ($1, $2)
			ON CONFLICT (reason) DO UPDATE SET times = undo_kept.times + excluded.times`, string(reason), times[reason]); err != nil {
			return err
		}
	}
	return nil
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

// keeps says what keeps an account from being taken back, if anything does.
// Its mails are looked at last, since those that wait are withdrawn with it.
func (t *tx) keeps(ctx context.Context, one *undoCall, mailed map[int64]bool) (landfall.KeptReason, error) {
	switch {
	case !one.wanted.inTime:
		return landfall.KeptWindowOver, nil
	case one.wanted.posted:
		return landfall.KeptHasPostings, nil
	case mailed[one.wanted.id]:
		told, err := t.RetractMails(ctx, one.key)
		if told {
			return landfall.KeptCustomersTold, err
		}
		return "", err
	}
	return "", nil
}

// importedHeld finds the accounts of a batch by their processes and holds those.
var importedHeld = forSizes(batchSizes, `WITH wanted (supplier, external) AS (VALUES `, `($1, $2)`, `)
	SELECT s.code, held.external, held.id, held.account_number, held.account_created_at, {now}, s.undo_window
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	JOIN process held ON held.supplier_id = s.id AND held.external = w.external
	WHERE held.account_number IS NOT NULL ORDER BY held.id {hold}`)

// holdImported takes the accounts that exist out of open. One with another
// number than was asked for is not the one that was meant.
func (t *tx) holdImported(ctx context.Context, open *openUndo) (found []*undoCall, err error) {
	size, args := open.args(2, func(args []any, one *undoCall) []any {
		return append(args, one.key.Supplier, one.key.External)
	})
	rows, err := t.query(ctx, importedHeld[size], args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key landfall.Key
		var window int64
		var u undoing
		if err := rows.Scan(&key.Supplier, &key.External, &u.id, &u.number, &u.created, &u.now, &window); err != nil {
			return nil, t.note(err)
		}
		one := open.byKey[key]
		if wanted := one.wanted.Number; wanted != "" && wanted != u.number {
			continue
		}
		u.Undoing, u.inTime = one.wanted.Undoing, u.now-u.created <= window
		*one.wanted = u
		open.settle(one, landfall.UndoOutcome{})
		found = append(found, one)
	}
	return found, t.note(rows.Err())
}

// undoneBefore answers those that found no account: the one that was meant may
// have been taken back already, by an undo that was interrupted.
func (t *tx) undoneBefore(ctx context.Context, open *openUndo) error {
	for _, one := range open.batch {
		if open.byKey[one.key] != one {
			continue
		}
		outcome := landfall.UndoOutcome{Verdict: landfall.UndoNoAccount}
		if number := one.wanted.Number; number != "" {
			before, err := collect(ctx, t.session, func(scan scanner, at *int64) error { return scan(at) },
				`SELECT u.undone_at FROM undone_account u JOIN process p ON p.id = u.process_id JOIN supplier s ON s.id = p.supplier_id
				WHERE u.number = $1 AND s.code = $2 AND p.external = $3`, number, one.key.Supplier, one.key.External)
			if err != nil {
				return err
			}
			if len(before) > 0 {
				outcome = landfall.UndoOutcome{Verdict: landfall.UndoneBefore, Number: number, At: moment(before[0])}
			}
		}
		open.settle(one, outcome)
	}
	return nil
}

// accountsHeld holds accounts, in the order of everybody who adds to them.
var accountsHeld = forSizes(batchSizes, `SELECT held.id, held.posting_count > 0, coalesce(held.run, '')
	FROM account held WHERE held.id IN (`, `$1`, `) ORDER BY held.id {hold}`)

// holdUndone holds the accounts and reads what was added to them, and in which
// run they were made.
func (t *tx) holdUndone(ctx context.Context, found []*undoCall) error {
	if len(found) == 0 {
		return nil
	}
	byID := make(map[int64]*undoing, len(found))
	for _, one := range found {
		byID[one.wanted.id] = one.wanted
	}
	size, args := idArgs(found)
	rows, err := t.query(ctx, accountsHeld[size], args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var u undoing
		if err := rows.Scan(&id, &u.posted, &u.madeIn); err != nil {
			return t.note(err)
		}
		byID[id].posted, byID[id].madeIn = u.posted, u.madeIn
	}
	return t.note(rows.Err())
}

// accountsMailed finds accounts that have mails, in whatever state. While an
// account is held none comes in addition.
var accountsMailed = forSizes(batchSizes, `SELECT DISTINCT m.account_id FROM mail m WHERE m.account_id IN (`, `$1`, `)`)

// mailed says which accounts have mails: most suppliers send none.
func (t *tx) mailed(ctx context.Context, found []*undoCall) (map[int64]bool, error) {
	mailed := map[int64]bool{}
	if len(found) == 0 {
		return mailed, nil
	}
	size, args := idArgs(found)
	ids, err := collect(ctx, t.session, func(scan scanner, id *int64) error { return scan(id) }, accountsMailed[size], args...)
	for _, id := range ids {
		mailed[id] = true
	}
	return mailed, err
}

func idArgs(found []*undoCall) (size int, args []any) {
	size = sizeFor(len(found))
	args = make([]any, 0, size)
	for _, one := range found {
		args = append(args, one.wanted.id)
	}
	return size, pad(args, size)
}

// undoneTable is what remains of accounts.
var undoneTable = newTable("undone_account", "number text", "process_id bigint", "account_created_at bigint",
	"undone_at bigint", "actor text", "reason text", "run_id text")

// back makes processes what they were before they were imported.
var back = forSizes(batchSizes, `UPDATE process SET state = 'staged', account_number = NULL, account_created_at = NULL
	WHERE state = 'imported' AND id IN (`, `$1`, `)`)

// partsOfAccounts are the tables with rows of accounts, the account last. Mails
// are not among them: those that wait are withdrawn, and what became of the
// others stays known, so that nobody is written to twice.
var partsOfAccounts = []string{
	"customer", "address", "supply_point", "agreement", "meter", "statement_period", "ledger_entry", "note",
	"historical_statement", "instruction", "payment_schedule", "account",
}

// removals takes the rows of accounts away, a table at a time.
var removals = func() []map[int]string {
	texts := make([]map[int]string, len(partsOfAccounts))
	for i, table := range partsOfAccounts {
		column := "account_id"
		if table == "account" {
			column = "id"
		}
		texts[i] = forSizes(batchSizes, `DELETE FROM `+table+` WHERE `+column+` IN (`, `$1`, `)`)
	}
	return texts
}()

// takeBack removes accounts that are held and writes down that it did.
func (t *tx) takeBack(ctx context.Context, gone []*undoCall) error {
	if len(gone) == 0 {
		return nil
	}
	ids := make([]int64, len(gone))
	for i, one := range gone {
		ids[i] = one.wanted.id
	}
	if err := t.uncount(ctx, ids...); err != nil {
		return err
	}
	size, args := idArgs(gone)
	for _, removal := range removals {
		if _, err := t.exec(ctx, removal[size], args...); err != nil {
			return err
		}
	}
	count, err := t.exec(ctx, back[size], args...)
	if err != nil {
		return err
	}
	if count != int64(len(gone)) {
		return errMoved
	}
	remains, rows := pile{table: undoneTable}, newAccountRows()
	for _, one := range gone {
		u := one.wanted
		remains.add(u.number, u.id, u.created, u.now, u.Actor, u.Reason, textArg(u.madeIn))
		event := landfall.Event{Type: landfall.EventUndone, Key: one.key, AccountNumber: u.number}
		if u.madeIn != "" {
			event.Details = map[string]string{"run": u.madeIn}
		}
		if err := rows.event(u.now, event); err != nil {
			return err
		}
		if err := t.AppendAudit(ctx, landfall.AuditEntry{
			Actor: u.Actor, Action: "account.undo", Subject: one.key.Supplier + "/" + one.key.External, Detail: u.number + ": " + u.Reason,
		}); err != nil {
			return err
		}
	}
	return t.write(ctx, append(rows.piles(), &remains)...)
}

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
