package crashtest

import (
	"slices"
	"strings"

	"landfall"
)

// batch checks that a posting is present as a whole or not at all. When its
// response confirmed it, all of it is present.
func (c *checker) batch(entry *Entry, there map[string]int, names []string) {
	present := 0
	for _, name := range names {
		if there[name] > 0 {
			present++
		}
		// Unchecked postings are added again with every request, so all parts
		// of a batch are present equally often.
		if entry.Unchecked && there[name] != there[names[0]] {
			c.faultf("half a batch: %s is there %d times, %s %d times", names[0], there[names[0]], name, there[name])
		}
	}
	switch {
	case entry.Broken && entry.done():
		c.faultf("%s that break a rule were accepted", entry.Verb)
	case entry.Broken && present > 0:
		c.faultf("%d of %d %s of a batch that breaks a rule are there", present, len(names), entry.Verb)
	case entry.done() && present < len(names):
		c.faultf("%d of %d %s were answered and are lost", len(names)-present, len(names), entry.Verb)
	case present > 0 && present < len(names):
		c.faultf("half a batch: %d of %d %s are there", present, len(names), entry.Verb)
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

// once checks something that must not be present twice, however often it is
// sent.
func (c *checker) once(what, name string, there int, inline bool, sent *tally) {
	if sent == nil {
		sent = &tally{}
	}
	told := sent.told
	if inline {
		told++ // the response to the creation confirmed everything in the document
	}
	switch {
	case there > 0 && !inline && sent.most() == 0:
		c.faultf("%s %s is there although nobody asked for it", what, name)
	case there > 1:
		c.faultf("%s %s is there %d times", what, name, there)
	case there == 0 && inline:
		c.faultf("%s %s of the staged document is missing", what, name)
	case told > 1:
		c.faultf("%s %s was added for %d callers", what, name, told)
	// Exactly one response says that it was added, unless that response was
	// lost.
	case there == 1 && told == 0 && sent.open == 0:
		c.faultf("%s %s is there, but no response says that it was added", what, name)
	}
}

// notes checks the notes that were posted or came with the staged document.
func (c *checker) notes() {
	there := map[string]int{}
	plain, explained := c.sortNotes()
	for _, note := range plain {
		there[note.Body]++
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
	c.explanations(explained)
}

// statements checks statements. They are present once however often they are
// sent, and responses do not say which request was first.
func (c *checker) statements() {
	var there, inline []string
	if account := c.found.Account; account != nil {
		for _, statement := range account.Data.Statements {
			there = append(there, statement.ID)
		}
	}
	if source := c.source(); source != nil {
		inline = source.Statements
	}
	c.kept(PostStatements, there, inline, func(entry *Entry) []string { return entry.Statements })
}

// instructions checks payment instructions: those that were confirmed and those
// that came with the staged document must be present.
func (c *checker) instructions() {
	var there, inline []string
	if account := c.found.Account; account != nil {
		for _, instruction := range account.Data.Instructions {
			there = append(there, instruction.Reference)
		}
	}
	if source := c.source(); source != nil {
		inline = source.Instructions
	}
	c.kept(PostInstruction, there, inline, func(entry *Entry) []string { return entry.Instructions })
}

// kept compares the names that were found with those that were sent: a
// confirmed one is present once, one without a response at most once, and no
// other name is present.
func (c *checker) kept(verb Verb, found, inline []string, names func(*Entry) []string) {
	there, staged, sent := map[string]int{}, map[string]bool{}, map[string]*tally{}
	for _, name := range found {
		there[name]++
	}
	for _, name := range inline {
		staged[name] = true
	}
	for _, entry := range c.of(verb) {
		c.batch(entry, there, names(entry))
		count(sent, entry, names(entry))
	}
	for name := range union(there, staged, sent) {
		asked := staged[name] || sent[name] != nil && sent[name].most() > 0
		switch n := there[name]; {
		case n > 0 && !asked:
			c.faultf("%s %s is there although nobody asked for it", verb, name)
		case n > 1:
			c.faultf("%s %s is there %d times", verb, name, n)
		case n == 0 && staged[name]:
			c.faultf("%s %s of the staged document is missing", verb, name)
		}
	}
}

// sortNotes separates the account's notes from those that explain why the date
// of a transaction was changed. The latter are counted by transaction.
func (c *checker) sortNotes() (plain []landfall.Note, explained map[string]int) {
	explained = map[string]int{}
	if c.found.Account == nil {
		return nil, explained
	}
	moved := c.moved()
	for _, note := range c.found.Account.Data.Notes {
		explains := false
		for _, id := range moved {
			// The text of the note is up to the service. A caller can only rely
			// on the ID of the transaction, which is unique in a history.
			if note.Pinned && strings.Contains(note.Body, id) {
				explains = true
				explained[id]++
			}
		}
		if !explains {
			plain = append(plain, note)
		}
	}
	return plain, explained
}

// explanations checks that every changed date is explained by one note and that
// there are no other such notes: transaction and note are written together or
// not at all.
func (c *checker) explanations(explained map[string]int) {
	if c.found.Account == nil {
		return
	}
	for _, entry := range c.found.Account.Ledger {
		id := entry.Transaction.ID
		if moved := !entry.Transaction.OriginalOn.IsZero(); moved != (explained[id] == 1) || explained[id] > 1 {
			c.faultf("transaction %s: moved %v, and %d pinned notes say so", id, moved, explained[id])
		}
		delete(explained, id)
	}
	for id := range explained {
		c.faultf("a pinned note names transaction %s, which is not there", id)
	}
}

// moved returns the IDs of the transactions whose date lies outside the open
// period.
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

// union returns every name in any of the maps.
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
