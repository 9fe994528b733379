package crashtest

import (
	"net/http"
	"slices"

	"landfall"
)

// staging checks that the revisions are those that were sent, each as often as
// possible and in an order that callers could observe.
func (c *checker) staging() {
	sent := map[string]*tally{}
	firsts, open := 0, 0
	for _, entry := range c.of(Stage) {
		outcomes := sent[entry.Document]
		if outcomes == nil {
			outcomes = &tally{}
			sent[entry.Document] = outcomes
		}
		switch {
		case entry.Broken && entry.done():
			c.faultf("a staging that breaks a rule was accepted")
		case entry.done():
			outcomes.done++
			if entry.Answer.Status == http.StatusCreated {
				firsts++
			}
		case entry.open():
			outcomes.open++
			open++
		}
	}
	kept, last := map[string]int{}, map[string]int{}
	for i, revision := range c.found.Revisions {
		document := string(revision.Document)
		if revision.Revision != i+1 {
			c.faultf("revision %d is at position %d", revision.Revision, i+1)
		}
		if i > 0 && last[document] == i {
			c.faultf("revision %d repeats the one before", i+1)
		}
		kept[document]++
		last[document] = i + 1
		if sent[document] == nil {
			c.faultf("revision %d was sent by nobody", i+1)
		}
	}
	for document, outcomes := range sent {
		switch n := kept[document]; {
		case n == 0 && outcomes.done > 0:
			c.faultf("a staging was answered and is lost")
		case n > outcomes.most():
			c.faultf("a staging is kept %d times, sent %d times", n, outcomes.most())
		}
	}
	// The response that said so may be one that was lost.
	if firsts > 1 || firsts == 0 && open == 0 && len(c.found.Revisions) > 0 {
		c.faultf("%d callers were told that they staged it first", firsts)
	}
	c.stagingOrder(kept, last)
}

// stagingOrder checks that a document staged after another one's response has a
// later revision. A document that was sent several times has no single revision
// and is left out.
func (c *checker) stagingOrder(kept, last map[string]int) {
	times := map[string]int{}
	stagings := c.of(Stage)
	for _, entry := range stagings {
		times[entry.Document]++
	}
	for _, earlier := range stagings {
		for _, later := range stagings {
			// Both were sent once and stored once. Otherwise it is unknown
			// which request a revision belongs to.
			single := times[earlier.Document] == 1 && times[later.Document] == 1 &&
				kept[earlier.Document] == 1 && kept[later.Document] == 1
			if single && later.after(earlier) && last[later.Document] < last[earlier.Document] {
				c.faultf("revision %d was sent after revision %d was answered", last[later.Document], last[earlier.Document])
			}
		}
	}
}

// creation checks that there is at most one account at a time, that it is the
// one callers were told about, and that it was made from one whole document.
func (c *checker) creation() {
	account, numbers := c.found.Account, c.numbers()
	created, open := 0, 0
	for _, entry := range c.entries {
		switch {
		case entry.Verb == Process && entry.done():
			created++
		case entry.Verb == Process && entry.open():
			open++
		case entry.Verb == DryRun && entry.done():
			c.faultf("a dry run was answered like a creation")
		}
		if entry.Answer == nil || entry.Answer.Number == "" || slices.Contains(numbers, entry.Answer.Number) {
			continue
		}
		if account == nil {
			c.faultf("a caller was told of account %s, which is lost", entry.Answer.Number)
		} else {
			c.faultf("a caller was told of account %s, the account is %s", entry.Answer.Number, account.Number)
		}
	}
	if created > len(numbers) {
		c.faultf("%d callers were told that they created the account", created)
	}
	// An account that no response mentions must come from a request without a
	// response. Each such request explains one account.
	if len(numbers)-created > open {
		c.faultf("has an account that nobody asked for")
	}
	if account == nil {
		if c.found.Mails > 0 {
			c.faultf("%d mails are queued for the customers of no account", c.found.Mails)
		}
		return
	}
	// Nothing can be staged once there is an account, so it is made from the
	// last revision.
	if account.Revision != len(c.found.Revisions) {
		c.faultf("the account is made from revision %d of %d", account.Revision, len(c.found.Revisions))
	}
	mails := 0
	for _, customer := range account.Data.Customers {
		if customer.Email != "" {
			mails++
		}
	}
	if c.found.Mails != mails {
		c.faultf("%d mails are queued for %d customers who can get one", c.found.Mails, mails)
	}
	if source := c.source(); source != nil && source.Doomed {
		c.faultf("has an account with an instruction that its vendor does not know")
	}
	if source := c.source(); source != nil &&
		(account.Data.BillingName != source.Name || len(account.Data.Customers) != source.Customers) {
		c.faultf("the account is %q with %d customers, its document %q with %d",
			account.Data.BillingName, len(account.Data.Customers), source.Name, source.Customers)
	}
}

// source returns the staging that the account was made from, or nil.
func (c *checker) source() *Entry {
	account := c.found.Account
	if account == nil || account.Revision < 1 || account.Revision > len(c.found.Revisions) {
		return nil
	}
	document := string(c.found.Revisions[account.Revision-1].Document)
	for _, entry := range c.of(Stage) {
		if entry.Document == document {
			return entry
		}
	}
	return nil
}

// contradictions checks that no caller, on any replica, was told the opposite
// of what an earlier response had said before the caller asked.
func (c *checker) contradictions() {
	var staged, imported *Entry // the first responses that say so
	first := func(known **Entry, entry *Entry) {
		if *known == nil || entry.ended < (*known).ended {
			*known = entry
		}
	}
	for _, entry := range c.entries {
		switch {
		case entry.Verb == Stage && entry.done():
			first(&staged, entry)
		case c.lasting(entry):
			first(&imported, entry)
		case c.existed(entry):
			c.nextCallers(entry, c.firstUndo(entry))
		}
	}
	for _, entry := range c.entries {
		if staged != nil && entry.after(staged) && entry.refused(landfall.CodeProcessUnknown) {
			c.faultf("was staged, and the next caller was told that it is not")
		}
	}
	if imported != nil {
		c.nextCallers(imported, never)
	}
}

// nextCallers checks requests that were sent after a response which says that
// there is an account, and answered before an instant: they must say the same.
func (c *checker) nextCallers(imported *Entry, before int) {
	for _, entry := range c.entries {
		if !entry.after(imported) || entry.Answer == nil || entry.ended > before {
			continue
		}
		switch entry.Verb {
		case Stage, Process, DryRun:
			if entry.Broken && entry.refused() {
				continue // a broken document is refused before its key is looked up
			}
			if !entry.open() && !entry.refused(landfall.CodeAlreadyImported) {
				c.faultf("was imported, and the next caller was answered %d %s to %s", entry.Answer.Status, entry.Answer.Code, entry.Verb)
			}
		case PostNotes, PostTransactions, PostStatements, PostInstruction, Undo:
			if entry.refused(landfall.CodeAccountNotFound) {
				c.faultf("was imported, and the next caller found no account for %s", entry.Verb)
			}
		}
	}
}
