// Package generate generates books that look like an old supplier's: people, homes, meters, bills
// and payments that add up, and mistakes in chosen shares.
//
// The same seed gives the same bytes on every machine. Each account depends only on the seed and
// its index, so it is also the same in a longer book.
package generate

import (
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/calendar"
)

// Options describes the book to generate.
type Options struct {
	Accounts int
	Seed     uint64
	Supplier string       // import supplier in every line
	AsOf     calendar.Day // date of the export; nothing is later
	Vendor   string       // payment vendor; without one there are no payment instructions
	Faults   []Fault
	Prefix   string           // of account numbers; "" means A-
	Schema   *contract.Schema // with the packs whose fields are filled; nil: none
}

// DefaultAsOf is fixed, so that a book does not change overnight.
var DefaultAsOf = calendar.Date(2026, time.June, 30)

// maxAccounts keeps account numbers at seven digits.
const maxAccounts = 8_000_000

// Check reports invalid options.
func (o Options) Check() error {
	switch {
	case o.Accounts < 1 || o.Accounts > maxAccounts:
		return fmt.Errorf("a book can have 1 to %d accounts, not %d", maxAccounts, o.Accounts)
	case o.Supplier == "":
		return errors.New("a book needs the code of an import supplier")
	case !o.AsOf.After(minAsOf):
		return fmt.Errorf("the date of the export must be after %s", minAsOf)
	}
	return checkFaults(o.Faults)
}

// minAsOf leaves time for the history of an account.
var minAsOf = calendar.Date(2000, time.January, 1)

// Entry is the lines of one account, one per file, nil where there is none.
type Entry struct {
	Account      []byte
	Notes        []byte
	Transactions []byte
	Statements   []byte
	Instruction  []byte

	Fault   string           // the mistake in it, or ""
	Figures landfall.Figures // the figures of the old system, whatever the lines say
}

// Draw returns the entry at an index of the book, from zero.
func (o Options) Draw(index int) Entry {
	d := newRandom(o.Seed, index)
	h := o.household(d, index)
	return o.addFault(d, h, index)
}
