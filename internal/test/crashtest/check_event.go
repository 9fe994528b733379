package crashtest

import (
	"strconv"

	"landfall"
)

// events checks that events describe exactly what happened.
func (c *checker) events() {
	items := map[landfall.EventType]int{}
	for _, event := range c.found.Events {
		if event.Type == landfall.EventUndone {
			clear(items) // what was posted by then is gone
		}
		if n, err := strconv.Atoi(event.Details["count"]); err == nil {
			items[event.Type] += n
		}
	}
	c.lifecycle()
	posted := c.posted()
	for kind, what := range map[landfall.EventType]string{
		landfall.EventNotesCreated: "notes", landfall.EventTransactionsCreated: "transactions",
		landfall.EventStatementsCreated: "statements", landfall.EventInstructionCreated: "instructions",
	} {
		if items[kind] != posted[kind] {
			c.faultf("events tell of %d %s, %d were posted", items[kind], what, posted[kind])
		}
	}
}

func (c *checker) eventCounts() map[landfall.EventType]int {
	times := map[landfall.EventType]int{}
	for _, event := range c.found.Events {
		times[event.Type]++
	}
	return times
}

// posted counts what was added to the account after its creation, by the type
// of its event. A note that explains a transaction has no event of its own.
func (c *checker) posted() map[landfall.EventType]int {
	posted := map[landfall.EventType]int{}
	account := c.found.Account
	if account == nil {
		return posted
	}
	plain, _ := c.sortNotes()
	posted[landfall.EventNotesCreated] = len(plain)
	posted[landfall.EventStatementsCreated] = len(account.Data.Statements)
	posted[landfall.EventInstructionCreated] = len(account.Data.Instructions)
	for _, entry := range account.Ledger {
		if entry.Kind == landfall.TransactionEntry {
			posted[landfall.EventTransactionsCreated]++
		}
	}
	if source := c.source(); source != nil {
		posted[landfall.EventNotesCreated] -= len(source.Notes)
		posted[landfall.EventTransactionsCreated] -= len(source.Transactions)
		posted[landfall.EventStatementsCreated] -= len(source.Statements)
		posted[landfall.EventInstructionCreated] -= len(source.Instructions)
	}
	return posted
}
