package crashtest

import (
	"strconv"

	"landfall"
	"landfall/internal/money"
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

// ledger checks that the books add up, whatever is in them.
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

// events checks that what is told to the outside world is what happened.
func (c *checker) events() {
	times, items := map[landfall.EventType]int{}, map[landfall.EventType]int{}
	for _, event := range c.found.Events {
		times[event.Type]++
		if n, err := strconv.Atoi(event.Details["count"]); err == nil {
			items[event.Type] += n
		}
		if event.Type == landfall.EventImportCompleted && (c.found.Account == nil || event.AccountNumber != c.found.Account.Number) {
			c.faultf("an event tells of account %s", event.AccountNumber)
		}
	}
	accounts, notes, transactions := c.facts()
	if n := times[landfall.EventImportCompleted]; n != accounts {
		c.faultf("%d events tell of %d accounts", n, accounts)
	}
	if n := items[landfall.EventNotesCreated]; n != notes {
		c.faultf("events tell of %d notes, %d were posted", n, notes)
	}
	if n := items[landfall.EventTransactionsCreated]; n != transactions {
		c.faultf("events tell of %d transactions, %d were posted", n, transactions)
	}
	c.dryRunEvents(times[landfall.EventDryRunCompleted])
}

// facts counts what events must tell of: the account, and what was posted onto
// it later. Notes that explain a transaction are told of with it.
func (c *checker) facts() (accounts, notes, transactions int) {
	account := c.found.Account
	if account == nil {
		return 0, 0, 0
	}
	plain, _ := c.sortNotes()
	notes = len(plain)
	for _, entry := range account.Ledger {
		if entry.Kind == landfall.TransactionEntry {
			transactions++
		}
	}
	if source := c.source(); source != nil {
		notes -= len(source.Notes)
		transactions -= len(source.Transactions)
	}
	return 1, notes, transactions
}

// dryRunEvents checks the only thing a dry run leaves behind: that it was.
func (c *checker) dryRunEvents(told int) {
	least, most := 0, 0
	for _, entry := range c.of(DryRun) {
		if entry.refused(landfall.CodeDryRunRolledBack) {
			least++
			most++
		} else if entry.open() {
			most++
		}
	}
	if told < least || told > most {
		c.faultf("%d events tell of dry runs, %d were answered and %d can have been", told, least, most)
	}
}
