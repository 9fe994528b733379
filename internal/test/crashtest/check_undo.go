package crashtest

import (
	"slices"

	"landfall"
)

// never is an instant after all others.
const never = int(^uint(0) >> 1)

// numbers are those of all accounts the key ever had, the last one last.
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

// retired says whether a number belonged to an account that was taken back; no
// other account may ever have it.
func (c *checker) retired(number string) bool {
	return slices.ContainsFunc(c.found.Undone, func(u landfall.UndoneAccount) bool { return u.Number == number })
}

// undos checks that what was taken back is what operators asked for and were
// told, and that nothing went that had been added to.
func (c *checker) undos() {
	told, open := map[string]int{}, 0
	for _, entry := range c.of(Undo) {
		switch {
		case entry.done():
			told[entry.Answer.Number]++
			if !c.retired(entry.Answer.Number) {
				c.faultf("account %s was taken back, and its number is not retired", entry.Answer.Number)
			}
		case entry.open():
			open++
		case entry.refused(landfall.CodeHasPostings) && c.found.Account == nil:
			c.faultf("was kept because something was added, and there is no account")
		}
	}
	for number, operators := range told {
		if operators > 1 {
			c.faultf("%d operators were told that they took %s back", operators, number)
		}
	}
	for _, undone := range c.found.Undone {
		// An undo of which no operator was told must be one whose answer was lost.
		if told[undone.Number] == 0 {
			open--
		}
		if undone.Reason != string(Undo) {
			c.faultf("account %s was taken back for %q", undone.Number, undone.Reason)
		}
	}
	if open < 0 {
		c.faultf("an account was taken back and nobody asked for that")
	}
}

// lives checks that events tell of every account that was made and of every one
// that was taken back, by turns and with their numbers.
func (c *checker) lives() {
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
				c.faultf("an event tells that account %s was taken back", event.AccountNumber)
			}
			gone++
		default:
		}
	}
	if made != len(numbers) {
		c.faultf("%d events tell of %d accounts", made, len(numbers))
	}
	if gone != len(c.found.Undone) {
		c.faultf("%d events tell of %d accounts that were taken back", gone, len(c.found.Undone))
	}
}

// existed reports that an answer says that there is an account.
func (c *checker) existed(entry *Entry) bool {
	switch entry.Verb {
	case Stage, Skip, Unskip, Undo, DryRun:
		return entry.refused(landfall.CodeAlreadyImported)
	default:
		return entry.done() || entry.refused(landfall.CodeAlreadyImported)
	}
}

// lasting reports that an answer says so of the account that is there at the
// end: something was added to it, which keeps it, or it has its number.
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

// firstUndo is when an undo may have begun to take the account of an answer
// away: before that, everybody must have been told of it.
func (c *checker) firstUndo(imported *Entry) int {
	begin := never
	for _, entry := range c.of(Undo) {
		// One that was refused took nothing, and one that was over before this was asked
		// took an earlier account.
		if !entry.refused() && !imported.over(entry) {
			begin = min(begin, entry.began)
		}
	}
	return begin
}
