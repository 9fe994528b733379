package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/store/engine"
)

// erasures are the statements that erase the personal data of an account, in
// the order of the table names. The account itself is locked first.
var erasures = func() (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(tableRules)) {
		held := tableRules[name]
		if held.of == "" {
			continue
		}
		if held.remove {
			texts = append(texts, `DELETE FROM `+name+` WHERE `+held.of)
			continue
		}
		var sets []string
		for _, column := range slices.Sorted(maps.Keys(held.columns)) {
			if one := held.columns[column]; one.nature == naturePersonal {
				sets = append(sets, column+` = `+one.erased)
			}
		}
		if len(sets) > 0 {
			texts = append(texts, `UPDATE `+name+` SET `+strings.Join(sets, ", ")+` WHERE `+held.of)
		}
	}
	return texts
}()

// Erase removes the personal data of an account, whether it was created or not.
// It keeps the financial records and the fact that the account existed.
func (t *tx) Erase(ctx context.Context, key landfall.Key) (landfall.Erasure, error) {
	process, err := t.Process(ctx, key)
	if errors.Is(err, landfall.ErrNotFound) {
		return landfall.Erasure{}, t.eraseRefused(ctx, key)
	}
	if err != nil {
		return landfall.Erasure{}, err
	}
	erasure := landfall.Erasure{Revisions: process.Revision, AccountNumber: process.AccountNumber, PreviousAt: process.ErasedAt}
	// The account is being created from a document that was read already, so
	// the creation would bring back the data erased now.
	if process.State == landfall.Claimed {
		return erasure, landfall.ErrExists
	}
	if process.State == landfall.Staged {
		// Otherwise the next staging would bring everything back.
		if state, err := t.Skip(ctx, key, erasedMark); err != nil {
			if state == landfall.Claimed || state == landfall.Imported {
				return erasure, landfall.ErrExists
			}
			return erasure, err
		}
	}
	var id int64
	if err := t.one(ctx, `SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2`,
		[]any{key.Supplier, key.External}, []any{&id}); err != nil {
		return erasure, err
	}
	// From here on, postings to the account wait; earlier ones are complete.
	err = t.lock(ctx, `SELECT 1 FROM account held WHERE held.id = $1 {for_update}`, id)
	if err != nil && !errors.Is(err, landfall.ErrNotFound) {
		return erasure, err
	}
	if err := t.stopMails(ctx, id); err != nil {
		return erasure, err
	}
	// From here on, the indexer waits, and then finds the account erased.
	if _, err := t.indexState(ctx, `{for_update}`); err != nil {
		return erasure, err
	}
	// The terms of a refused staging are not under the process's id.
	if err := t.eraseRefused(ctx, key); err != nil && !errors.Is(err, landfall.ErrNotFound) {
		return erasure, err
	}
	for _, text := range erasures {
		if _, err := t.exec(ctx, text, id); err != nil {
			return erasure, err
		}
	}
	if _, err := t.exec(ctx, `UPDATE mail SET purged_at = coalesce(purged_at, {now}) WHERE account_id = $1`, id); err != nil {
		return erasure, err
	}
	if _, err := t.exec(ctx, `UPDATE staging SET purged_at = coalesce(purged_at, {now}) WHERE process_id = $1`, id); err != nil {
		return erasure, err
	}
	_, err = t.exec(ctx, `UPDATE process SET erased_at = coalesce(erased_at, {now}) WHERE id = $1`, id)
	return erasure, err
}

// eraseRefused removes the refusals of an account that was never staged
// successfully. It returns ErrNotFound if there are none.
func (t *tx) eraseRefused(ctx context.Context, key landfall.Key) error {
	gone, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`DELETE FROM refusal WHERE external = $2 AND supplier_id = (SELECT id FROM supplier WHERE code = $1) RETURNING -id`, key.Supplier, key.External)
	if err == nil && len(gone) == 0 {
		return landfall.ErrNotFound
	}
	if err != nil {
		return err
	}
	return t.deleteTerms(ctx, gone)
}

// erasedMark is the skip reason that prevents an erased account from being
// staged again.
const erasedMark = "erased"

// stopMails withdraws the waiting mails of an account.
func (t *tx) stopMails(ctx context.Context, account int64) error {
	_, err := t.exec(ctx, `UPDATE mail SET state = 'withdrawn', due_at = NULL, token = NULL, settled_at = {now}
		WHERE account_id = $1 AND due_at IS NOT NULL`, account)
	return err
}

// Wipe rewrites the files of all tables with personal data, so that no erased
// data is left in them. No other process can write meanwhile.
func Wipe(ctx context.Context, url string) error {
	name, err := engine.Parse(url)
	if err != nil {
		return err
	}
	var tables []string
	for _, table := range slices.Sorted(maps.Keys(tableRules)) {
		if held := tableRules[table]; held.of != "" || newTableRekeyer(table, held) != nil {
			tables = append(tables, table)
		}
	}
	return translate(engine.Wipe(ctx, name, tables...))
}
