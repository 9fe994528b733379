package sqlstore

import (
	"context"
	"slices"

	"landfall"
	"landfall/internal/store/sqlset"
)

// lockedAccounts finds the accounts of a batch and holds them, one after the
// other in the same order for everybody, so that nobody waits in a circle.
var lockedAccounts = sqlset.NewQuery(`
	SELECT s.code, p.external, held.id, s.id, held.currency, p.account_number, {now}, held.open_from_on, held.balance, held.ledger_length,
		held.note_count, held.statement_count, held.instruction_count
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	JOIN process p ON p.supplier_id = s.id AND p.external = w.external
	JOIN account held ON held.id = p.id
	WHERE s.status <> 'Paused' ORDER BY held.id {hold}`,
	"supplier text", "external text")

// lockAccounts gives each posting the state of its account: where its books stand,
// and the last number of each list, on behind which it will number. What it does not
// find stays open, to be told why.
func (t *tx) lockAccounts(ctx context.Context, open *openPost) ([]*postCall, error) {
	text, args := lockedAccounts.For(t.engine, open.rows(2, func(args []any, one *postCall) []any {
		return append(args, one.key.Supplier, one.key.External)
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
		if err := rows.Scan(&key.Supplier, &key.External, &p.id, &p.supplier, &p.currency, &p.number, &now, &openFrom, &p.books.Balance,
			&p.books.LastSequence, &p.last.note, &p.last.statement, &p.last.instruction); err != nil {
			return nil, t.note(err)
		}
		one := open.byKey[key]
		p.Posting, p.sought = one.wanted.Posting, one.wanted.sought
		p.books.AccountNumber, p.books.Now = p.number, moment(now)
		if p.books.Period.FromOn, err = storedDay(openFrom); err != nil {
			return nil, err
		}
		// The batch may be run again: what an earlier try found must not be left in
		// it.
		*one.wanted = p
		open.set(one, landfall.PostOutcome{Verdict: landfall.Posted, AccountNumber: p.number})
		found = append(found, one)
	}
	return found, t.note(rows.Err())
}

// refusePosting says why postings found no account they may add to.
func (t *tx) refusePosting(ctx context.Context, open *openPost) error {
	// A batch is often of one supplier, which is asked for once.
	takes := map[string]bool{}
	for _, one := range open.batch {
		if open.byKey[one.key] != one {
			continue
		}
		code := one.key.Supplier
		if _, asked := takes[code]; !asked {
			open, err := collect(ctx, t.txSession, func(scan scanner, code *string) error { return scan(code) },
				`SELECT code FROM supplier WHERE code = $1 AND status <> 'Paused'`, code)
			if err != nil {
				return err
			}
			takes[code] = len(open) > 0
		}
		// A supplier that is paused and one that nobody knows are told alike: neither
		// takes anything.
		verdict := landfall.PostNoSupplier
		if takes[code] {
			verdict = landfall.PostNoAccount
		}
		open.set(one, landfall.PostOutcome{Verdict: verdict})
	}
	return nil
}

// loadWanted reads what the postings want to see, a table at a time.
func (t *tx) loadWanted(ctx context.Context, found []*postCall) error {
	byID := make(map[int64]*landfall.AccountState, len(found))
	var entries, statements []any
	for _, one := range found {
		p := one.wanted
		byID[p.id] = &p.books
		for _, id := range distinct(p.TransactionIDs) {
			entries = append(entries, p.id, id)
		}
		for _, id := range distinct(p.StatementIDs) {
			statements = append(statements, p.id, id)
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

// loadNotes reads the notes that decide. How many that are does not depend on
// how many an account has, also where all of them say the same.
func (t *tx) loadNotes(ctx context.Context, found []*postCall, byID map[int64]*landfall.AccountState) error {
	var few, firsts, timed, unwritten []any
	for _, one := range found {
		p := one.wanted
		for i, sought := range p.sought {
			if i == 0 || sought.digest != p.sought[i-1].digest {
				few = append(few, p.id, sought.digest)
			}
			switch {
			case p.last.note <= fewNotes:
			case sought.digest == unwrittenDigest:
				unwritten = append(unwritten, p.id, sought.digest)
			case sought.timed:
				timed = append(timed, p.id, sought.digest, sought.second)
			default:
				firsts = append(firsts, p.id, sought.digest)
			}
		}
	}
	// The first one of a kind must be told before the others.
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

// loadInstructions reads the instructions of the same names.
func (t *tx) loadInstructions(ctx context.Context, found []*postCall, byID map[int64]*landfall.AccountState) error {
	var few, later []any
	for _, one := range found {
		p := one.wanted
		for _, instruction := range p.Instructions {
			// What was kept before there was a key is found by the reference as it
			// was sent.
			for _, reference := range t.sealer.references(p.id, instruction.Vendor, instruction.Reference) {
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

// distinct is for names that a caller sent. One that is there twice would bring its
// row twice, and the books would seem to hold two of it.
func distinct(texts []string) []string {
	if len(texts) < 2 {
		return texts
	}
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return slices.Compact(texts)
}
