package crashtest

import (
	"landfall"
	"landfall/internal/lib/money"
)

// transactions checks the ledger entries that were posted or came with the
// staged document.
func (c *checker) transactions() {
	there := map[string]int{}
	amounts := map[string]money.Amount{}
	if account := c.found.Account; account != nil {
		for _, entry := range account.Ledger {
			if entry.Kind == landfall.TransactionEntry {
				there[entry.Transaction.ID]++
				amounts[entry.Transaction.ID] = entry.Signed
			}
		}
	}
	inline, repeated := map[string]bool{}, map[string]bool{}
	right := func(movement Movement) {
		if there[movement.ID] > 0 && amounts[movement.ID] != movement.Signed {
			c.faultf("transaction %s moves the balance by %d, want %d", movement.ID, amounts[movement.ID], movement.Signed)
		}
	}
	if source := c.source(); source != nil {
		for _, movement := range source.Transactions {
			inline[movement.ID] = true
			right(movement)
		}
	}
	sent := map[string]*tally{}
	for _, entry := range c.of(PostTransactions) {
		ids := make([]string, len(entry.Transactions))
		for i, movement := range entry.Transactions {
			ids[i] = movement.ID
			repeated[movement.ID] = repeated[movement.ID] || entry.Unchecked
			right(movement)
		}
		c.batch(entry, there, ids)
		count(sent, entry, ids)
	}
	for id := range union(there, inline, sent) {
		if !repeated[id] {
			c.once("transaction", id, there[id], inline[id], sent[id])
		} else if n := there[id]; n < sent[id].done || n > sent[id].most() {
			c.faultf("transaction %s is there %d times, added %d times for sure and %d times at most", id, n, sent[id].done, sent[id].most())
		}
	}
}

// ledger checks that the balances add up.
func (c *checker) ledger() {
	account := c.found.Account
	if account == nil {
		return
	}
	var sum money.Amount
	for i, entry := range account.Ledger {
		sum += entry.Signed
		if entry.Sequence != i+1 || entry.Balance != sum {
			c.faultf("ledger entry %d has number %d and balance %d, want %d", i+1, entry.Sequence, entry.Balance, sum)
		}
	}
	if account.Balance != sum {
		c.faultf("the balance is %d, the ledger's sum %d", account.Balance, sum)
	}
}
