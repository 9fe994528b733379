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

// retired reports whether a number belonged to an undone account. No other
// account may have it.
func (c *checker) retired(number string) bool {
	return slices.ContainsFunc(c.found.Undone, func(u landfall.UndoneAccount) bool { return u.Number == number })
}

// undos checks that every undo was requested and reported correctly, and that
// no account was undone after something was added to it.
func (c *checker) undos() {
	told, open := map[string]int{}, 0
	for _, entry := range c.of(Undo) {
		switch {
		case entry.done():
			told[entry.Answer.Number]++
			if !c.retired(entry.Answer.Number) {
				c.faultf("account %s was undone, and its number is not retired", entry.Answer.Number)
			}
		case entry.open():
			open++
		case entry.refused(landfall.CodeHasPostings) && c.found.Account == nil:
			c.faultf("was kept because something was added, and there is no account")
		}
	}
	for number, operators := range told {
		if operators > 1 {
			c.faultf("%d operators were told that they undid %s", operators, number)
		}
	}
	for _, undone := range c.found.Undone {
		// An undo that no response mentions must be one whose response was
		// lost.
		if told[undone.Number] == 0 {
			open--
		}
		if undone.Reason != string(Undo) {
			c.faultf("account %s was undone with reason %q", undone.Number, undone.Reason)
		}
	}
	if open < 0 {
		c.faultf("an account was undone and nobody asked for it")
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
// end: something was added to it, which prevents an undo, or the number
// matches.
func (c *checker) lasting(entry *Entry) bool {
	if !c.existed(entry) {
		return false
	}
	switch entry.Verb {
	case PostNotes, PostTransactions, PostStatements, PostInstruction:
		return true
	default:
		return entry.Answer.Number != "" && !c.retired(entry.Answer.Number)
	}
}

// firstUndo returns the instant from which an undo may have removed the account
// that a response is about. Until then every response must mention it.
func (c *checker) firstUndo(imported *Entry) int {
	begin := never
	for _, entry := range c.of(Undo) {
		// A refused undo removed nothing, and one that was over before this
		// request removed an earlier account.
		if !entry.refused() && !imported.over(entry) {
			begin = min(begin, entry.began)
		}
	}
	return begin
}
