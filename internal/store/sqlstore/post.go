package sqlstore

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/store/sqlset"
)

type (
	postCall = pendingCall[*posting, landfall.PostOutcome]
	openPost = pendingCalls[*posting, landfall.PostOutcome]
)

// posting is one call of Post, with the current state of its account.
type posting struct {
	landfall.Posting
	lookups  []noteLookup // the notes to look up, computed before anything is locked
	unique   []digestedIdentifier
	id       int64
	supplier int64
	currency string
	number   string
	delivery string // that staged the account
	state    landfall.AccountState
	last     lastOrdinals
	refused  bool   // a posting was refused before
	target   string // that the account is delivered to; "": none
	panicked any    // what Decide panicked with; Post panics with it again in the caller
}

// lastOrdinals are the last ordinals assigned on an account.
type lastOrdinals struct{ note, statement, instruction int64 }

// Post locks an account, lets the posting decide, and writes what it adds.
func (s *Store) Post(ctx context.Context, wanted landfall.Posting) (landfall.PostOutcome, error) {
	for _, text := range []string{wanted.Key.Supplier, wanted.Key.External} {
		if !storable(text) {
			return landfall.PostOutcome{}, errUnstorable
		}
	}
	mine := &posting{Posting: wanted, lookups: s.sealer.noteLookups(wanted.Notes), unique: s.sealer.digestIdentifiers(wanted.Unique)}
	// What the posting will add is not known yet. What it looks up is a good
	// estimate.
	weight := 1000 * (1 + len(wanted.Notes) + len(wanted.TransactionIDs) + len(wanted.StatementIDs))
	outcome, err := runVerb(ctx, s, s.postings, wanted.Key, weight, mine)
	if mine.panicked != nil {
		panic(mine.panicked)
	}
	return outcome, err
}

// post runs a batch of postings to different accounts.
func (t *tx) post(ctx context.Context, batch []*postCall) error {
	open := sqlset.NewPending(batch)
	found, err := t.lockAccounts(ctx, open)
	if err != nil {
		return err
	}
	if len(open.ByKey) > 0 {
		if err := t.refusePosting(ctx, open); err != nil {
			return err
		}
	}
	if err := t.loadWanted(ctx, found); err != nil {
		return err
	}
	waiting, err := t.findConflicts(ctx, found)
	if err != nil {
		return err
	}
	rows := newAccountRows(t.sealer)
	for _, one := range found {
		if waiting[one] {
			one.Err = landfall.ErrUnavailable
			continue
		}
		additions, err := decide(one.Wanted)
		if err == nil {
			err = one.Wanted.addRows(rows, additions)
		}
		if err == nil && one.Wanted.refused && !additions.Undecided {
			if err := t.deletePostingRefusal(ctx, one.Wanted.id, one.Wanted.Kind); err != nil {
				return err
			}
		}
		// An error refuses this posting only. The others in the batch are
		// written.
		one.Err = err
	}
	return t.write(ctx, rows.all()...)
}

// findConflicts finds the accounts that have a unique identifier of a posting. It
// returns the postings that have to be sent again, because another one of the batch
// adds the same identifier.
func (t *tx) findConflicts(ctx context.Context, found []*postCall) (waiting map[*postCall]bool, err error) {
	divided, err := divide(ctx, t, found, func(p *posting) (int64, []digestedIdentifier) { return p.id, p.unique }, divisionRule{lock: true})
	if err != nil {
		return nil, err
	}
	for _, one := range divided.refused {
		one.Wanted.state.Conflicts = divided.conflicts[one.Key]
	}
	waiting = make(map[*postCall]bool, len(divided.later))
	for _, one := range divided.later {
		waiting[one] = true
	}
	return waiting, nil
}

var errPanicked = errors.New("the posting panicked")

// decide asks the posting what to add. It runs outside the caller's goroutine,
// so it recovers from a panic there: the panic must not affect other callers.
func decide(p *posting) (additions landfall.Additions, err error) {
	p.panicked = nil
	defer func() {
		if p.panicked = recover(); p.panicked != nil {
			err = errPanicked
		}
	}()
	return p.Decide(p.state)
}

// addRows adds the rows of one posting and the new totals of its account. If it
// returns an error, the rows are unchanged.
func (p *posting) addRows(rows *accountRows, add landfall.Additions) error {
	if len(add.Entries)+len(add.Notes)+len(add.Statements)+len(add.Instructions) == 0 && add.Event == nil {
		return nil
	}
	balance := p.state.Balance
	for i := range add.Entries {
		balance += add.Entries[i].Signed
	}
	if err := balanced(add.Entries, p.state.LastSequence, p.state.Balance, balance); err != nil {
		return err
	}
	now := p.state.Now.UnixMicro()
	if add.Event != nil {
		event := *add.Event
		event.Key, event.AccountNumber, event.By = p.Key, p.number, p.By
		if err := rows.event(now, event); err != nil {
			return err
		}
	}
	by := postedBy(p.By)
	// The service's own notes are the last ones. Nobody posted them: sending the
	// posting again adds them again.
	sent := len(add.Notes) - add.OwnNotes
	if err := rows.note(p.id, p.last.note, now, add.Notes[:sent], by); err != nil {
		return err
	}
	if err := rows.note(p.id, p.last.note+int64(sent), now, add.Notes[sent:], rowAuthor{by.keyID, by.requestID, nil}); err != nil {
		return err
	}
	rows.ledger(p.id, add.Entries, by)
	rows.statement(p.id, p.last.statement, add.Statements, by)
	rows.instruction(p.id, p.last.instruction, add.Instructions, by)
	for i := range add.Instructions {
		one := &add.Instructions[i]
		// Those of the document have the numbers from 1.
		added := rows.sealer.digestIdentifiers([]landfall.Identifier{{Kind: landfall.IdentifierInstruction, Space: one.Vendor, Value: one.Reference}})
		addIdentifier(&rows.identifiers, p.id, p.supplier, -p.last.instruction-int64(i+1), &added[0])
	}
	other := int64(1)
	if p.By.Delivery != "" && p.By.Delivery == p.delivery {
		other = 0
	}
	rows.updates.Add(p.id, int64(p.state.LastSequence), int64(balance), int64(p.state.LastSequence+len(add.Entries)), p.last.note+int64(len(add.Notes)),
		p.last.statement+int64(len(add.Statements)), p.last.instruction+int64(len(add.Instructions)), other)
	if p.target != "" {
		rows.deliverPosting(p, &add, now)
	}
	p.count(&rows.tallies, &add)
	rows.audit.Add(p.By, "account.post", p.Key, describeAdditions(&add))
	return nil
}

// describeAdditions describes for the audit log what a posting added.
func describeAdditions(add *landfall.Additions) string {
	var words []string
	for _, part := range [...]struct {
		count int
		name  string
	}{
		{len(add.Entries), "transactions"}, {len(add.Notes), "notes"}, {len(add.Statements), "statements"},
		{len(add.Instructions), "payment instructions"},
	} {
		if part.count > 0 {
			words = append(words, strconv.Itoa(part.count)+" "+part.name)
		}
	}
	return strings.Join(words, ", ")
}

// count adds a posting to the account's figures. Everything posted counts as
// sent, except the service's own notes.
func (p *posting) count(into *tallies, add *landfall.Additions) {
	has := landfall.Figures{
		Currency: p.currency, Notes: int64(len(add.Notes)),
		Statements: int64(len(add.Statements)), Instructions: int64(len(add.Instructions)),
	}
	has.CountEntries(add.Entries)
	sent := has
	sent.Notes -= int64(add.OwnNotes)
	into.add(p.supplier, landfall.StatusCreated, has)
	into.deviate(p.supplier, p.Key.External, sent, has)
}

// balanced checks that entries continue a ledger and that their running balance
// is correct.
func balanced(entries []landfall.LedgerEntry, sequence int, before, after money.Amount) error {
	for i := range entries {
		sequence++
		before += entries[i].Signed
		if entries[i].Sequence != sequence || entries[i].Balance != before {
			return errUnbalanced
		}
	}
	if before != after {
		return errUnbalanced
	}
	return nil
}

// accountUpdateTable updates the accounts that were posted to. The ledger must
// still be as long as it was when the account was locked.
var accountUpdateTable = mustChangeAll(sqlset.NewChange(`UPDATE account SET balance = w.balance, ledger_length = w.ledger, note_count = w.notes,
		statement_count = w.statements, instruction_count = w.instructions, posting_count = account.posting_count + 1,
		other_posting_count = account.other_posting_count + w.other FROM {rows}
	WHERE account.id = w.id AND account.ledger_length = w.length`,
	"id bigint", "length bigint", "balance bigint", "ledger bigint", "notes bigint", "statements bigint", "instructions bigint", "other bigint"))
