package sqlstore

import (
	"context"
	"slices"

	"landfall"
	"landfall/internal/store/sqlset"
)

// lockedAccounts finds the accounts of a batch and locks them, always in the
// same order to prevent deadlocks.
var lockedAccounts = sqlset.NewQuery(`
	SELECT s.code, p.external, held.id, s.id, held.currency, p.account_number, coalesce(p.delivery, ''), {now}, held.open_from_on, held.balance, held.ledger_length,
		held.note_count, held.statement_count, held.instruction_count,
		EXISTS (SELECT 1 FROM posting_refusal r WHERE r.account_id = held.id),
		(SELECT d.target FROM target_delivery d JOIN target t ON t.code = d.target WHERE d.account_id = held.id ORDER BY d.account_id, d.id LIMIT 1)
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	JOIN process p ON p.supplier_id = s.id AND p.external = w.external
	JOIN account held ON held.id = p.id
	WHERE s.status <> 'Paused' ORDER BY held.id {for_update}`,
	"supplier text", "external text")

// lockAccounts gives each posting the state of its account: its balance and
// ledger length, and the last ordinal of each list, after which new rows are
// numbered. Postings without an account stay open; refusePosting answers them.
func (t *tx) lockAccounts(ctx context.Context, open *openPost) ([]*postCall, error) {
	text, args := lockedAccounts.For(t.engine, open.Rows(2, func(args []any, one *postCall) []any {
		return append(args, one.Key.Supplier, one.Key.External)
	}))
	rows, err := t.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*postCall
	for rows.Next() {
		var key landfall.Key
		var now int64
		var openFrom string
		var p posting
		if err := rows.Scan(&key.Supplier, &key.External, &p.id, &p.supplier, &p.currency, &p.number, &p.delivery, &now, &openFrom, &p.state.Balance,
			&p.state.LastSequence, &p.last.note, &p.last.statement, &p.last.instruction, &p.refused, textInto{&p.target}); err != nil {
			return nil, t.fail(err)
		}
		one := open.ByKey[key]
		p.Posting, p.lookups, p.unique = one.Wanted.Posting, one.Wanted.lookups, one.Wanted.unique
		p.state.AccountNumber, p.state.Now = p.number, moment(now)
		if p.state.Period.FromOn, err = storedDay(openFrom); err != nil {
			return nil, err
		}
		// The batch may be retried. Replace everything that an earlier attempt
		// found.
		*one.Wanted = p
		open.Set(one, landfall.PostOutcome{Verdict: landfall.Posted, AccountNumber: p.number})
		found = append(found, one)
	}
	return found, t.fail(rows.Err())
}

// refusePosting answers postings that found no account they may add to.
func (t *tx) refusePosting(ctx context.Context, open *openPost) error {
	// A batch is often for one supplier. Ask for each supplier only once.
	takes := map[string]bool{}
	for _, one := range open.Batch {
		if open.ByKey[one.Key] != one {
			continue
		}
		code := one.Key.Supplier
		if _, asked := takes[code]; !asked {
			open, err := collect(ctx, t.txSession, func(scan scanner, code *string) error { return scan(code) },
				`SELECT code FROM supplier WHERE code = $1 AND status <> 'Paused'`, code)
			if err != nil {
				return err
			}
			takes[code] = len(open) > 0
		}
		// A paused supplier and an unknown one get the same answer: neither
		// accepts postings.
		verdict := landfall.PostNoSupplier
		if takes[code] {
			verdict = landfall.PostNoAccount
		}
		open.Set(one, landfall.PostOutcome{Verdict: verdict})
	}
	return nil
}

// loadWanted reads what the postings look up, one table at a time.
func (t *tx) loadWanted(ctx context.Context, found []*postCall) error {
	byID := make(map[int64]*landfall.AccountState, len(found))
	var entries, statements []any
	keyed := false // whether something is looked up by a keyed digest
	for _, one := range found {
		p := one.Wanted
		byID[p.id] = &p.state
		keyed = keyed || len(p.lookups)+len(p.Instructions) > 0
		for _, id := range distinct(p.TransactionIDs) {
			entries = append(entries, p.id, id)
		}
		for _, id := range distinct(p.StatementIDs) {
			statements = append(statements, p.id, id)
		}
	}
	if keyed {
		if err := t.checkKeys(ctx); err != nil {
			return err
		}
	}
	if err := lookUp(ctx, t, entriesWanted, entries, t.readEntry, func(id int64, entry landfall.LedgerEntry) {
		byID[id].Entries = append(byID[id].Entries, entry)
	}); err != nil {
		return err
	}
	if err := lookUp(ctx, t, statementsWanted, statements, t.readStatement, func(id int64, statement landfall.Statement) {
		byID[id].Statements = append(byID[id].Statements, statement)
	}); err != nil {
		return err
	}
	if err := t.loadNotes(ctx, found, byID); err != nil {
		return err
	}
	return t.loadInstructions(ctx, found, byID)
}

// loadNotes reads the notes that matter for the decision. Their number does not
// depend on how many notes an account has, even if all are alike.
func (t *tx) loadNotes(ctx context.Context, found []*postCall, byID map[int64]*landfall.AccountState) error {
	var few, firsts, timed, unwritten []any
	for _, one := range found {
		p := one.Wanted
		for i, sought := range p.lookups {
			if i == 0 || sought.digest != p.lookups[i-1].digest {
				few = append(few, p.id, sought.digest)
			}
			switch {
			case p.last.note <= fewNotes:
			case sought.digest == emptyNoteDigest:
				unwritten = append(unwritten, p.id, sought.digest)
			case sought.timed:
				timed = append(timed, p.id, sought.digest, sought.second)
			default:
				firsts = append(firsts, p.id, sought.digest)
			}
		}
	}
	// The first note of a kind must come before the others.
	for _, part := range []struct {
		query  sqlset.ListQuery
		wanted []any
	}{{notesWanted, few}, {unwrittenWanted, unwritten}, {firstNotesWanted, firsts}, {timedNotesWanted, timed}} {
		if err := lookUp(ctx, t, part.query, part.wanted, t.readNote, func(id int64, note landfall.Note) {
			byID[id].Notes = append(byID[id].Notes, note)
		}); err != nil {
			return err
		}
	}
	return nil
}

// loadInstructions reads the instructions with the same vendor and reference.
func (t *tx) loadInstructions(ctx context.Context, found []*postCall, byID map[int64]*landfall.AccountState) error {
	var few, later []any
	for _, one := range found {
		p := one.Wanted
		for _, instruction := range p.Instructions {
			// References stored before there was a key are stored in the clear.
			for _, reference := range t.sealer.referenceForms(p.id, instruction.Vendor, instruction.Reference) {
				few = append(few, p.id, instruction.Vendor, reference)
				if p.last.instruction > fewInstructions {
					later = append(later, p.id, instruction.Vendor, reference)
				}
			}
		}
	}
	give := func(id int64, instruction landfall.Instruction) {
		byID[id].Instructions = append(byID[id].Instructions, instruction)
	}
	if err := lookUp(ctx, t, instructionsWanted, few, t.readInstruction, give); err != nil {
		return err
	}
	return lookUp(ctx, t, laterInstructionsWanted, later, t.readInstruction, give)
}

// distinct removes duplicates from names that a caller sent. A duplicate would
// return its row twice, as if the account had two of it.
func distinct(texts []string) []string {
	if len(texts) < 2 {
		return texts
	}
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return slices.Compact(texts)
}
