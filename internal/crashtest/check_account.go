package crashtest

import (
	"net/http"

	"landfall"
)

// staging checks that the revisions are those that were sent, each as often as
// it can be and in an order that callers could see.
func (c *checker) staging() {
	sent := map[string]*tally{}
	firsts, open := 0, 0
	for _, entry := range c.of(Stage) {
		count := sent[entry.Document]
		if count == nil {
			count = &tally{}
			sent[entry.Document] = count
		}
		switch {
		case entry.Broken && entry.done():
			c.faultf("a staging that breaks a rule was accepted")
		case entry.done():
			count.done++
			if entry.Answer.Status == http.StatusCreated {
				firsts++
			}
		case entry.open():
			count.open++
			open++
		}
	}
	kept, last := map[string]int{}, map[string]int{}
	for i, revision := range c.found.Revisions {
		document := string(revision.Document)
		if revision.Revision != i+1 {
			c.faultf("revision %d stands at place %d", revision.Revision, i+1)
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
	for document, count := range sent {
		switch n := kept[document]; {
		case n == 0 && count.done > 0:
			c.faultf("a staging was answered and is lost")
		case n > count.most():
			c.faultf("a staging is kept %d times, sent %d times", n, count.most())
		}
	}
	if firsts > 1 || firsts == 0 && open == 0 && len(c.found.Revisions) > 0 {
		c.faultf("%d callers were told that they staged it first", firsts)
	}
	c.stagingOrder(kept, last)
}

// stagingOrder checks that who staged after another's answer came later. A
// document sent several times has no single place, so it is left out.
func (c *checker) stagingOrder(kept, last map[string]int) {
	times := map[string]int{}
	stagings := c.of(Stage)
	for _, entry := range stagings {
		times[entry.Document]++
	}
	for _, earlier := range stagings {
		for _, later := range stagings {
			single := times[earlier.Document] == 1 && times[later.Document] == 1 &&
				kept[earlier.Document] == 1 && kept[later.Document] == 1
			if single && later.after(earlier) && last[later.Document] < last[earlier.Document] {
				c.faultf("revision %d was sent after revision %d was answered", last[later.Document], last[earlier.Document])
			}
		}
	}
}

// creation checks that there is at most one account, that it is the one
// callers were told of, and that it is made of one whole document.
func (c *checker) creation() {
	account := c.found.Account
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
		if entry.Answer == nil || entry.Answer.Number == "" {
			continue
		}
		if account == nil {
			c.faultf("a caller was told of account %s, which is lost", entry.Answer.Number)
		} else if entry.Answer.Number != account.Number {
			c.faultf("a caller was told of account %s, the account is %s", entry.Answer.Number, account.Number)
		}
	}
	if created > 1 {
		c.faultf("%d callers were told that they created the account", created)
	}
	if account == nil {
		return
	}
	if created == 0 && open == 0 {
		c.faultf("has an account that nobody asked for")
	}
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

// source is the staging the account was made from, nil when there is none.
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

// contradictions checks that nobody was told the contrary of what had been
// answered to somebody before he asked, on whatever replica.
func (c *checker) contradictions() {
	var staged, imported *Entry // the first answers that say so
	first := func(known **Entry, entry *Entry) {
		if *known == nil || entry.ended < (*known).ended {
			*known = entry
		}
	}
	for _, entry := range c.entries {
		switch {
		case entry.Verb == Stage && entry.done():
			first(&staged, entry)
		case entry.Verb == Skip, entry.Verb == Unskip:
		case entry.Verb != Stage && entry.done(), entry.refused(landfall.CodeAlreadyImported):
			first(&imported, entry)
		}
	}
	for _, entry := range c.entries {
		if staged != nil && entry.after(staged) && entry.refused(landfall.CodeProcessUnknown) {
			c.faultf("was staged, and the next caller was told that it is not")
		}
		if imported == nil || !entry.after(imported) {
			continue
		}
		switch entry.Verb {
		case Stage, Process, DryRun:
			if entry.Broken && entry.refused() {
				continue // a broken document is refused before anybody looks whose it is
			}
			if !entry.open() && !entry.refused(landfall.CodeAlreadyImported) {
				c.faultf("was imported, and the next caller was answered %d %s to %s", entry.Answer.Status, entry.Answer.Code, entry.Verb)
			}
		case PostNotes, PostTransactions, PostStatements, PostInstruction:
			if entry.refused(landfall.CodeAccountNotFound) {
				c.faultf("was imported, and the next caller found no account for %s", entry.Verb)
			}
		}
	}
}
