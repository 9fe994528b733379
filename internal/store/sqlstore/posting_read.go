package sqlstore

import (
	"context"

	"landfall"
)

// AccountState returns the state on which a posting of transactions would be
// decided. It reads with the same query as Post, but locks nothing, so a read
// does not block writers.
func (v *view) AccountState(ctx context.Context, key landfall.Key, transactionIDs []string) (landfall.AccountState, error) {
	var state landfall.AccountState
	var id, now int64
	var openFrom string
	err := v.one(ctx, `SELECT a.id, p.account_number, {now}, a.open_from_on, a.balance, a.ledger_length
		FROM account a JOIN process p ON p.id = a.id JOIN supplier s ON s.id = p.supplier_id
		WHERE s.code = $1 AND p.external = $2`, []any{key.Supplier, key.External},
		[]any{&id, &state.AccountNumber, &now, &openFrom, &state.Balance, &state.LastSequence})
	if err != nil {
		return landfall.AccountState{}, err
	}
	state.Now = moment(now)
	if state.Period.FromOn, err = storedDay(openFrom); err != nil || len(transactionIDs) == 0 {
		return state, err
	}
	var wanted []any
	for _, transaction := range distinct(transactionIDs) {
		wanted = append(wanted, id, transaction)
	}
	text, args, err := entriesWanted.For(v.engine, wanted)
	if err != nil {
		return landfall.AccountState{}, err
	}
	found, err := collect(ctx, v.txSession, v.readEntry, text, args...)
	for _, one := range found {
		state.Entries = append(state.Entries, one.item)
	}
	return state, err
}
