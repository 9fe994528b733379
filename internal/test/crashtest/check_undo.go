package crashtest

import (
	"slices"

	"landfall"
)

// never is later than every instant.
const never = int(^uint(0) >> 1)

// numbers returns the numbers of all accounts that the key ever had, the latest
// last.
func (c *checker) numbers() []string {
	var numbers []string
	for _, undone := range c.found.Undone {
		numbers = append(numbers, undone.Number)
	}
	if c.found.Account != nil {
		numbers = append(numbers, c.found.Account.Number)
	}
	return numbers
}

// undos checks that every undo was requested and reported correctly, and that no
// account was undone after something was added to it from elsewhere.
func (c *checker) undos() {
	told, open := 0, 0
	for _, entry := range c.of(Undo) {
		switch {
		case entry.done():
			told++
			if !slices.Contains(c.numbers(), entry.Answer.Number) {
				c.faultf("account %s was undone, and that is not on record", entry.Answer.Number)
			}
		case entry.open():
			open++
		case !entry.refused(landfall.CodeHasPostings):
		case c.found.Account == nil:
			c.faultf("was kept because something was added, and there is no account")
		case !slices.ContainsFunc(c.entries, (*Entry).fromElsewhere):
			c.faultf("was kept because something was added, and only its own delivery added something")
		}
	}
	if told > len(c.found.Undone) {
		c.faultf("%d operators were told that they undid it, and it was undone %d times", told, len(c.found.Undone))
	}
	// An undo that no response mentions must be one whose response was lost.
	if len(c.found.Undone)-told > open {
		c.faultf("an account was undone and nobody asked for it")
	}
	for _, undone := range c.found.Undone {
		if undone.Reason != string(Undo) {
			c.faultf("account %s was undone with reason %q", undone.Number, undone.Reason)
		}
	}
	for _, number := range c.numbers() {
		if number != c.numbers()[0] {
			c.faultf("had the number %s and then %s", c.numbers()[0], number)
		}
	}
}

// fromElsewhere reports whether a request may have added something that an undo
// does not take back.
func (e *Entry) fromElsewhere() bool {
	switch e.Verb {
	case PostNotes, PostTransactions, PostStatements, PostInstruction:
		return !e.Own && !e.refused()
	default:
		return false
	}
}

// lifecycle checks that events tell of every creation and every undo, alternating
// and with the right numbers.
func (c *checker) lifecycle() {
	numbers := c.numbers()
	made, gone := 0, 0
	for _, event := range c.found.Events {
		switch event.Type {
		case landfall.EventImportCompleted:
			if made != gone {
				c.faultf("an account was completed while there was one")
			}
			if made < len(numbers) && numbers[made] != event.AccountNumber || made >= len(numbers) && !slices.Contains(numbers, event.AccountNumber) {
				c.faultf("an event tells of account %s", event.AccountNumber)
			}
			made++
		case landfall.EventUndone:
			if gone >= made || gone >= len(c.found.Undone) || c.found.Undone[gone].Number != event.AccountNumber {
				c.faultf("an event says that account %s was undone", event.AccountNumber)
			}
			gone++
		default:
		}
	}
	if made != len(numbers) {
		c.faultf("%d events tell of %d accounts", made, len(numbers))
	}
	if gone != len(c.found.Undone) {
		c.faultf("%d events tell of %d accounts that were undone", gone, len(c.found.Undone))
	}
}

// existed reports whether a response says that there is an account.
func (c *checker) existed(entry *Entry) bool {
	switch entry.Verb {
	case Stage, Skip, Unskip, Undo, DryRun:
		return entry.refused(landfall.CodeAlreadyImported)
	default:
		return entry.done() || entry.refused(landfall.CodeAlreadyImported)
	}
}

// lasting reports whether a response is about the account that exists at the
// end: something was added to it that prevents an undo, or nothing was undone.
func (c *checker) lasting(entry *Entry) bool {
	return c.existed(entry) && (entry.fromElsewhere() || len(c.found.Undone) == 0)
}

// firstUndo returns the instant from which an undo may have removed the account
// that a response is about. Until then every response must mention it.
func (c *checker) firstUndo(imported *Entry) int {
	begin := never
	if len(c.found.Undone) == 0 {
		return begin
	}
	for _, entry := range c.of(Undo) {
		// A refused undo removed nothing, and one that was over before this
		// request removed an earlier account.
		if !entry.refused() && !imported.over(entry) {
			begin = min(begin, entry.began)
		}
	}
	return begin
}
