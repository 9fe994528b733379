package contract

import (
	"slices"

	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// Packs have other names for some of the data that the service computes with.
// The functions below read either name. A table without the pack has no such
// field, and then nothing is found.

// either returns the first of two fields that is present.
func either(n *rules.Node, name, other string) *rules.Node {
	if field := n.Field(name); field.Present() {
		return field
	}
	return n.Field(other)
}

// pointsOf returns the supply points of an address, which packs call meter
// points.
func pointsOf(address *rules.Node) []*rules.Node {
	points, others := address.Field("supply_points").Items(), address.Field("meter_points").Items()
	if len(others) == 0 {
		return points
	}
	return append(slices.Clip(points), others...)
}

// transactionsOf returns the transactions of an account and of its ledgers.
func transactionsOf(root *rules.Node, list string) []*rules.Node {
	all := root.Field(list).Items()
	for _, ledger := range root.Field("ledgers").Items() {
		if more := ledger.Field(list).Items(); len(more) > 0 {
			all = append(slices.Clip(all), more...)
		}
	}
	return all
}

// transferBalance returns the balance at the time of transfer. If only the ledgers
// have one, it is their sum.
func transferBalance(root *rules.Node) *money.Amount {
	return balanceOf(root, "transfer_balance", "ledger_balance")
}

// lastBalance returns the balance of the most recent closed statement.
func lastBalance(root *rules.Node) *money.Amount {
	return balanceOf(root, "last_statement_balance", "last_statement_balance")
}

func balanceOf(root *rules.Node, own, ofLedger string) *money.Amount {
	if amount := amountOf(root.Field(own)); amount != nil {
		return amount
	}
	sum, some := ledgerSum(root, ofLedger)
	if !some {
		return nil
	}
	return &sum
}

// ledgerSum adds up a balance of the ledgers and reports whether any has it.
func ledgerSum(root *rules.Node, field string) (sum money.Amount, some bool) {
	for _, ledger := range root.Field("ledgers").Items() {
		if balance := ledger.Field(field); balance.Valid() {
			sum += balance.Amount()
			some = true
		}
	}
	return sum, some
}

// ledgerBalances compares the balance of the account with those of its ledgers.
func (c *checker) ledgerBalances(root *rules.Node) {
	transfer := root.Field("transfer_balance")
	if sum, some := ledgerSum(root, "ledger_balance"); some && transfer.Valid() && sum != transfer.Amount() {
		c.violateWith(CodeTransferBalance, transfer,
			mismatch("The ledgers add up to", sum, "the transfer balance is", transfer.Amount(), transfer.Amount()-sum))
	}
}

// closingDate returns the last day of the most recent closed statement: that of
// the account, or the latest of its ledgers.
func closingDate(root *rules.Node) *rules.Node {
	latest := root.Field("last_statement_closing_date")
	if latest.Present() {
		return latest
	}
	for _, ledger := range root.Field("ledgers").Items() {
		if closed := ledger.Field("last_statement_closing_date"); closed.Valid() && (!latest.Valid() || closed.Day().After(latest.Day())) {
			latest = closed
		}
	}
	return latest
}

// scheduleTrigger is REGULAR if a pack allows leaving it out.
func scheduleTrigger(n *rules.Node) string {
	if trigger := n.Field("trigger"); trigger.Present() {
		return trigger.Text()
	}
	return "REGULAR"
}

// requires reports whether an object must have a field.
func (c *checker) requires(n *rules.Node, name string) bool {
	field := fieldOf(n.Table(), name)
	return field != nil && field.Required
}
