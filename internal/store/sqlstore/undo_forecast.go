package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/lib/money"
)

// undoneMark is the reason given for accounts that no longer exist.
const undoneMark = "gone"

const (
	// forecastColumns has the reasons for keeping an account in the same order as
	// undo. A member of a run that succeeded but has no account of the run was
	// undone. $1 is whether all postings may go.
	forecastColumns = `SELECT CASE
			WHEN a.id IS NULL THEN '` + undoneMark + `'
			WHEN (SELECT {now}) - p.account_created_at > s.undo_window THEN '` + string(landfall.KeptWindowOver) + `'
			WHEN a.other_posting_count > 0 AND $1 = 0 THEN '` + string(landfall.KeptHasPostings) + `'
			WHEN p.erased_at IS NOT NULL THEN '` + string(landfall.KeptErased) + `'
			WHEN EXISTS (SELECT 1 FROM mail l WHERE l.account_id = a.id AND (l.uncertain OR l.state IN ('sending', 'sent', 'bounced')))
				THEN '` + string(landfall.KeptCustomersTold) + `'
			WHEN EXISTS (SELECT 1 FROM target_delivery d JOIN target t ON t.code = d.target WHERE d.account_id = a.id
				AND t.takes_back = FALSE AND ` + maybeSent + `) THEN '` + string(landfall.KeptDelivered) + `'
			ELSE '' END, s.code, p.external, coalesce(p.account_number, ''), coalesce(a.currency, ''), coalesce(a.balance, 0),
		coalesce(a.ledger_length, 0), coalesce(a.note_count, 0), coalesce(a.statement_count, 0), coalesce(a.instruction_count, 0),
		coalesce(a.posting_count, 0), coalesce(a.other_posting_count, 0) `
	forecastRun = forecastColumns + `FROM run r JOIN supplier s ON s.id = r.supplier_id
		JOIN run_member m ON m.run_id = r.id AND m.outcome = 'succeeded'
		JOIN process p ON p.id = m.process_id LEFT JOIN account a ON a.id = m.process_id AND a.run = r.number
		WHERE r.number = $2 AND m.ordinal >= $3 AND m.ordinal < $4 ORDER BY m.ordinal`
	forecastAccount = forecastColumns + `FROM supplier s JOIN process p ON p.supplier_id = s.id JOIN account a ON a.id = p.id
		WHERE s.code = $2 AND p.external = $3`
)

// forecastRow is what would happen to one account.
type forecastRow struct {
	account  landfall.KeptAccount
	currency string
	balance  money.Amount
	content  landfall.UndoContent
}

// UndoForecast counts what would happen to accounts.
func (v *view) UndoForecast(ctx context.Context, query landfall.UndoForecastQuery) (landfall.UndoForecast, error) {
	all := 0
	if query.AllPostings {
		all = 1
	}
	text, args := forecastRun, []any{all, query.Run, int64(query.From), int64(query.From) + int64(query.Limit)}
	if query.Run == "" {
		text, args = forecastAccount, []any{all, query.Key.Supplier, query.Key.External}
	}
	forecast := landfall.UndoForecast{Kept: map[landfall.KeptReason]int{}, Removed: landfall.UndoContent{Balances: map[string]money.Amount{}}}
	rows, err := collect(ctx, v.txSession, func(scan scanner, row *forecastRow) error {
		of := &row.content
		return scan(&row.account.Reason, &row.account.Key.Supplier, &row.account.Key.External, &row.account.Number, &row.currency, &row.balance,
			&of.Entries, &of.Notes, &of.Statements, &of.Instructions, &of.Postings, &row.account.OtherPostings)
	}, text, args...)
	for i := range rows {
		switch row := &rows[i]; row.account.Reason {
		case undoneMark:
			forecast.AlreadyUndone++
		case "":
			of, sum := &row.content, &forecast.Removed
			forecast.Undoable++
			sum.Entries, sum.Notes, sum.Statements = sum.Entries+of.Entries, sum.Notes+of.Notes, sum.Statements+of.Statements
			sum.Instructions, sum.Postings = sum.Instructions+of.Instructions, sum.Postings+of.Postings
			sum.Balances[row.currency] += row.balance
		default:
			forecast.Kept[row.account.Reason]++
			forecast.KeptAccounts = append(forecast.KeptAccounts, row.account)
		}
	}
	return forecast, err
}
