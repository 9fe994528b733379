package oracle

import (
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/money"
)

// batch checks that a posting is there as a whole or not at all. A caller who
// was told so finds all of it.
func (c *checker) batch(entry *Entry, there map[string]int, names []string) {
	present := 0
	for _, name := range names {
		if there[name] > 0 {
			present++
		}
	}
	switch {
	case entry.Broken && entry.done():
		c.fault("%s that break a rule were accepted", entry.Verb)
	case entry.Broken && present > 0:
		c.fault("%d of %d %s of a batch that breaks a rule are there", present, len(names), entry.Verb)
	case entry.done() && present < len(names):
		c.fault("%d of %d %s were answered and are lost", len(names)-present, len(names), entry.Verb)
	case present > 0 && present < len(names):
		c.fault("half a batch: %d of %d %s are there", present, len(names), entry.Verb)
	}
}

// count adds an entry to the tallies of everything it sends.
func count(sent map[string]*tally, entry *Entry, names []string) {
	for i, name := range names {
		one := sent[name]
		if one == nil {
			one = &tally{}
			sent[name] = one
		}
		switch {
		case entry.done():
			one.done++
			if i < len(entry.Answer.Added) && entry.Answer.Added[i] {
				one.told++
			}
		case entry.open():
			one.open++
		}
	}
}

// once checks something that must not be there twice, however often it is sent.
func (c *checker) once(what, name string, there int, inline bool, sent *tally) {
	if sent == nil {
		sent = &tally{}
	}
	told := sent.told
	if inline {
		told++ // whoever created the account was told of it with all it holds
	}
	switch {
	case there > 0 && !inline && sent.most() == 0:
		c.fault("%s %s is there although nobody asked for it", what, name)
	case there > 1:
		c.fault("%s %s is there %d times", what, name, there)
	case there == 0 && inline:
		c.fault("%s %s of the staged document is missing", what, name)
	case told > 1:
		c.fault("%s %s was added for %d callers", what, name, told)
	case there == 1 && told == 0 && sent.open == 0:
		c.fault("%s %s is there, but nobody was told that he added it", what, name)
	}
}

func (c *checker) notes() {
	there := map[string]int{}
	pinned := map[string]int{} // by the transaction a note names
	if account := c.found.Account; account != nil {
		moved := c.moved()
		for _, note := range account.Data.Notes {
			if i := slices.IndexFunc(moved, func(id string) bool { return note.Pinned && strings.Contains(note.Body, id) }); i < 0 {
				there[note.Body]++
			}
			for _, id := range moved {
				if note.Pinned && strings.Contains(note.Body, id) {
					pinned[id]++
				}
			}
		}
		for _, entry := range account.Ledger {
			id := entry.Transaction.ID
			if moved := !entry.Transaction.OriginalOn.IsZero(); moved != (pinned[id] == 1) || pinned[id] > 1 {
				c.fault("transaction %s: moved %v, and %d pinned notes say so", id, moved, pinned[id])
			}
			delete(pinned, id)
		}
		for id := range pinned {
			c.fault("a pinned note names transaction %s, which is not there", id)
		}
	}
	inline := map[string]bool{}
	if source := c.source(); source != nil {
		for _, body := range source.Notes {
			inline[body] = true
		}
	}
	sent := map[string]*tally{}
	for _, entry := range c.of(PostNotes) {
		c.batch(entry, there, entry.Notes)
		count(sent, entry, entry.Notes)
	}
	for body := range union(there, inline, sent) {
		c.once("note", body, there[body], inline[body], sent[body])
	}
}

// moved names the transactions whose day lies outside the open period.
func (c *checker) moved() []string {
	var ids []string
	for _, entry := range c.of(PostTransactions) {
		for _, movement := range entry.Transactions {
			if movement.Moved && !slices.Contains(ids, movement.ID) {
				ids = append(ids, movement.ID)
			}
		}
	}
	return ids
}

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
			c.fault("transaction %s moves the balance by %d, want %d", movement.ID, amounts[movement.ID], movement.Signed)
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
			c.fault("transaction %s is there %d times, added %d times for sure and %d times at most", id, n, sent[id].done, sent[id].most())
		}
	}
}

func (c *checker) ledger() {
	account := c.found.Account
	if account == nil {
		return
	}
	var sum money.Amount
	for i, entry := range account.Ledger {
		sum += entry.Signed
		if entry.Sequence != i+1 || entry.Balance != sum {
			c.fault("ledger entry %d has number %d and balance %d, want %d", i+1, entry.Sequence, entry.Balance, sum)
		}
	}
	if account.Balance != sum {
		c.fault("the balance is %d, the ledger's sum %d", account.Balance, sum)
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
			c.fault("an event tells of account %s", event.AccountNumber)
		}
	}
	accounts, notes, transactions := 0, 0, 0
	if account := c.found.Account; account != nil {
		accounts = 1
		notes, transactions = len(account.Data.Notes), len(account.Ledger)
		for _, entry := range account.Ledger {
			if entry.Kind != landfall.TransactionEntry {
				transactions--
			}
		}
		for _, note := range account.Data.Notes {
			if slices.ContainsFunc(c.moved(), func(id string) bool { return note.Pinned && strings.Contains(note.Body, id) }) {
				notes-- // told of with its transactions
			}
		}
		if source := c.source(); source != nil {
			notes -= len(source.Notes)
			transactions -= len(source.Transactions)
		}
	}
	if n := times[landfall.EventImportCompleted]; n != accounts {
		c.fault("%d events tell of %d accounts", n, accounts)
	}
	if n := items[landfall.EventNotesCreated]; n != notes {
		c.fault("events tell of %d notes, %d were posted", n, notes)
	}
	if n := items[landfall.EventTransactionsCreated]; n != transactions {
		c.fault("events tell of %d transactions, %d were posted", n, transactions)
	}
	least, most := 0, 0
	for _, entry := range c.of(DryRun) {
		if entry.refused(landfall.CodeDryRunRolledBack) {
			least++
			most++
		} else if entry.open() {
			most++
		}
	}
	if n := times[landfall.EventDryRunCompleted]; n < least || n > most {
		c.fault("%d events tell of dry runs, %d were answered and %d can have been", n, least, most)
	}
}

func union(there map[string]int, inline map[string]bool, sent map[string]*tally) map[string]bool {
	all := map[string]bool{}
	for name := range there {
		all[name] = true
	}
	for name := range inline {
		all[name] = true
	}
	for name := range sent {
		all[name] = true
	}
	return all
}
