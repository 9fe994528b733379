package sqlstore

import (
	"fmt"

	"landfall"
)

// targetDeliveryTable is written together with what is delivered. Every delivery is
// due at once; a round finds out which of them have to wait for others.
var targetDeliveryTable = newTable("target_delivery", "target text", "account_id bigint", "supplier_id bigint", "external text", "kind text",
	"items text", "figures text", "at bigint", "due_at bigint", "target_id text")

func (r *accountRows) deliverAccount(target string, id, supplier int64, external string, at int64, made *preparedCreation) {
	account := &made.Account
	r.deliveries.Add(target, id, supplier, external, string(landfall.DeliverAccount), accountItems(landfall.ListLengths{
		Entries: len(account.Ledger), Notes: len(account.Data.Notes), Statements: len(account.Data.Statements),
		Instructions: len(account.Data.Instructions),
	}), figuresText(made.has), at, at, "")
}

// deliverPosting adds a delivery for each list that a posting adds to. Its account
// is locked, so the deliveries of an account are in the order of its postings.
func (r *accountRows) deliverPosting(p *posting, add *landfall.Additions, at int64) {
	for _, part := range []struct {
		kind    landfall.TargetDeliveryKind
		last    int64
		count   int
		figures landfall.Figures
	}{
		{landfall.DeliverTransactions, int64(p.state.LastSequence), len(add.Entries), landfall.Figures{}},
		{landfall.DeliverStatements, p.last.statement, len(add.Statements), landfall.Figures{Statements: int64(len(add.Statements))}},
		{landfall.DeliverInstructions, p.last.instruction, len(add.Instructions), landfall.Figures{Instructions: int64(len(add.Instructions))}},
		{landfall.DeliverNotes, p.last.note, len(add.Notes), landfall.Figures{Notes: int64(len(add.Notes))}},
	} {
		if part.count == 0 {
			continue
		}
		part.figures.Currency = p.currency
		if part.kind == landfall.DeliverTransactions {
			part.figures.CountEntries(add.Entries)
		}
		r.deliveries.Add(p.target, p.id, p.supplier, p.Key.External, string(part.kind), fmt.Sprint(part.last, " ", part.last+int64(part.count)),
			figuresText(part.figures), at, at, "")
	}
}

// accountItems encodes how long the lists of a delivered account are.
func accountItems(lengths landfall.ListLengths) string {
	return fmt.Sprint(lengths.Entries, " ", lengths.Notes, " ", lengths.Statements, " ", lengths.Instructions)
}

func readItems(kind landfall.TargetDeliveryKind, text string) (after, upTo landfall.ListLengths, err error) {
	if kind == landfall.DeliverAccount {
		_, err = fmt.Sscan(text, &upTo.Entries, &upTo.Notes, &upTo.Statements, &upTo.Instructions)
		return after, upTo, err
	}
	var list [2]*int
	switch kind {
	case landfall.DeliverTransactions:
		list = [2]*int{&after.Entries, &upTo.Entries}
	case landfall.DeliverStatements:
		list = [2]*int{&after.Statements, &upTo.Statements}
	case landfall.DeliverInstructions:
		list = [2]*int{&after.Instructions, &upTo.Instructions}
	default:
		list = [2]*int{&after.Notes, &upTo.Notes}
	}
	_, err = fmt.Sscan(text, list[0], list[1])
	return after, upTo, err
}
