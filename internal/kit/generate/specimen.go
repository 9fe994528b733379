// Package specimen makes books that look like an old supplier's: people,
// homes, meters, bills and payments that add up, and mistakes in chosen shares.
//
// The same seed gives the same bytes on every machine and with every number of
// cores: each account is drawn from the seed and its own place in the book, so
// that it is also the same in a longer book.
package generate

import (
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// Options says what book is wanted.
type Options struct {
	Accounts int
	Seed     uint64
	Supplier string       // the import supplier's code in every line
	AsOf     calendar.Day // the day the old system was read out; nothing is later
	Vendor   string       // payment instructions refer to it; none are made without one
	Faults   []Fault
}

// DefaultAsOf is the day books are read out when nobody says otherwise. A fixed
// one: a book must not become another overnight.
var DefaultAsOf = calendar.Date(2026, time.June, 30)

// maxAccounts keeps account numbers at their seven digits.
const maxAccounts = 8_000_000

// Check says what is wrong with an order, or nil.
func (o Options) Check() error {
	switch {
	case o.Accounts < 1 || o.Accounts > maxAccounts:
		return fmt.Errorf("a book has 1 to %d accounts, not %d", maxAccounts, o.Accounts)
	case o.Supplier == "":
		return errors.New("a book needs the code of an import supplier")
	case !o.AsOf.After(minAsOf):
		return fmt.Errorf("the day of the read-out must be after %s", minAsOf)
	}
	return checkFaults(o.Faults)
}

// minAsOf leaves room for the history of an account before the read-out.
var minAsOf = calendar.Date(2000, time.January, 1)

// Entry is everything a book says about one account, a line for each file.
// Lines that are nil do not occur.
type Entry struct {
	Account      []byte
	Notes        []byte
	Transactions []byte
	Statements   []byte
	Instruction  []byte

	Fault   string           // the mistake that was made in it, or ""
	Figures landfall.Figures // what the old system has of it, whatever the lines say
}

// Draw makes the entry at a place of the book, counted from zero.
func (o Options) Draw(index int) Entry {
	d := newRandom(o.Seed, index)
	h := o.household(d, index)
	return o.addFault(d, h, index)
}
