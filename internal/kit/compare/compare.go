// Package compare compares a book with a server over the API, account by account and in totals:
// accounts that are missing, extra, waiting, failed, or differ from what was sent.
//
// Neither the book nor the server's lists are held in memory as a whole.
package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"landfall"
	"landfall/client"
	"landfall/internal/kit/book"
)

// State is the state of a book's account on the server.
type State string

// The states.
const (
	Same    State = "same"          // it exists with the figures of the book
	Other   State = "other figures" // it exists, and the server reports the differences itself
	Differs State = "differs"       // it exists with other figures
	Staged  State = "staged"        // it is waiting to be created
	Failed  State = "failed"        // its last attempt failed
	Refused State = "refused"       // its last staging was refused
	Skipped State = "skipped"       // the operator marked it
	Missing State = "missing"       // the server does not have it
	Extra   State = "extra"         // the server has it, but the book does not
)

// States returns all states in the order of display.
func States() []State {
	return []State{Same, Other, Differs, Staged, Failed, Refused, Skipped, Missing, Extra}
}

// Options says what to compare.
type Options struct {
	Book     *book.Book
	Currency string // of accounts without one: the supplier's currency
	// Part means that the book is only a part of the supplier's accounts, so further accounts on
	// the server are expected.
	Part bool
	// SetTotals first sets the control totals of the book on the server.
	SetTotals bool
	// Found is called for every account that is not the same.
	Found func(Finding) error
	// Progress is called now and then with what was read.
	Progress func(what string, done int)
}

// Finding is an account that differs from the book.
type Finding struct {
	Key         landfall.Key
	Number      string // platform account number; "" if there is none
	State       State
	Code        string // why it failed or was refused
	Differences []Difference
}

// Difference is a value that differs between the book and the server.
type Difference struct{ What, Book, Server string }

// Result is the result of a comparison.
type Result struct {
	Accounts   map[State]int
	Unreadable int // lines of the book that cannot be parsed
	Duplicates int // accounts that are in the book more than once
	Suppliers  []*Supplier
}

// Agrees reports whether the server matches the book: every account with its figures and, unless
// the book is a part, no others.
func (r Result) Agrees() bool {
	for state, count := range r.Accounts {
		if state != Same && state != Other && count > 0 {
			return false
		}
	}
	return r.Unreadable == 0 && !slices.ContainsFunc(r.Suppliers, func(s *Supplier) bool { return s.Unknown || !s.Claims.Agree() })
}

// Compare compares a book with a server. Accounts should not be imported meanwhile, or they may be
// reported in their old or new state.
func Compare(ctx context.Context, server *client.Client, order Options) (result Result, err error) {
	heaps, err := newPartitions()
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, heaps.close()) }()
	c := &comparison{options: order, server: server, partitions: heaps, result: Result{Accounts: map[State]int{}}}
	if err := c.readBook(ctx); err != nil {
		return result, err
	}
	if order.SetTotals {
		if err := c.setTotals(ctx); err != nil {
			return result, err
		}
	}
	for _, supplier := range c.result.Suppliers {
		if err := c.readServer(ctx, supplier); err != nil {
			return result, fmt.Errorf("import supplier %s: %w", supplier.Code, err)
		}
	}
	// Both sides are partitioned now.
	for at := range partitionCount {
		if err := c.comparePartition(at); err != nil {
			return result, err
		}
	}
	return c.result, ctx.Err()
}

// comparison is the state of a comparison.
type comparison struct {
	options    Options
	server     *client.Client
	partitions *partitions
	result     Result
	done       int
}

// maxSuppliers is more than any real book has.
const maxSuppliers = 100

// readBook adds every line to the partition of its account.
func (c *comparison) readBook(ctx context.Context) error {
	for _, file := range c.options.Book.Files {
		take := func(ctx context.Context, line book.Line) bookLine {
			return parseLine(ctx, file.Kind, line, c.options.Currency)
		}
		for block, err := range book.Map(ctx, file, take) {
			if err != nil {
				return err
			}
			for i := range block {
				if err := c.addLine(&block[i]); err != nil {
					return err
				}
			}
			c.done += len(block)
			c.options.Progress("lines read", c.done)
		}
	}
	return ctx.Err()
}

// addLine counts a line that cannot be parsed; 'landfall validate' says what is wrong with it.
func (c *comparison) addLine(p *bookLine) error {
	if !p.readable {
		c.result.Unreadable++
		return nil
	}
	if c.supplier(p.key.Supplier) == nil {
		if len(c.result.Suppliers) == maxSuppliers {
			return fmt.Errorf("the book names more than %d import suppliers", maxSuppliers)
		}
		c.result.Suppliers = append(c.result.Suppliers, &Supplier{Code: p.key.Supplier, tallies: &landfall.Tallies{}})
	}
	return c.partitions.add(partitionRecord{Supplier: p.key.Supplier, External: p.key.External, Part: p.stored()})
}

// supplier finds a supplier in a short list, which keeps the order of the book.
func (c *comparison) supplier(code string) *Supplier {
	at := slices.IndexFunc(c.result.Suppliers, func(s *Supplier) bool { return s.Code == code })
	if at < 0 {
		return nil
	}
	return c.result.Suppliers[at]
}

// comparePartition compares the accounts of one partition.
func (c *comparison) comparePartition(at int) error {
	accounts := map[landfall.Key]*accountState{}
	var order []landfall.Key // findings are reported in reading order
	err := c.partitions.each(at, func(one partitionRecord) {
		key := landfall.Key{Supplier: one.Supplier, External: one.External}
		known := accounts[key]
		if known == nil {
			known = &accountState{found: serverAccount{State: Missing}}
			accounts[key] = known
			order = append(order, key)
		}
		if one.Part != nil {
			known.add(one.Part)
		} else {
			known.merge(*one.Found)
		}
	})
	if err != nil {
		return err
	}
	for _, key := range order {
		if err := c.finishAccount(key, accounts[key]); err != nil {
			return err
		}
	}
	return nil
}

// finishAccount counts an account and reports it unless it is the same.
func (c *comparison) finishAccount(key landfall.Key, a *accountState) error {
	if a.timesInBook > 1 {
		c.result.Duplicates++
	}
	if a.timesInBook > 0 {
		c.supplier(key.Supplier).tallies.Of(landfall.StatusCreated, a.figures.Currency).Add(a.figures)
	}
	state, differences := a.state()
	// If the book is a part, further accounts do not count.
	if state == Extra && c.options.Part {
		return nil
	}
	c.result.Accounts[state]++
	if state == Same {
		return nil
	}
	return c.options.Found(Finding{key, a.found.Number, state, a.found.Code, differences})
}

// formatCount formats a number as the server does, to compare it as text.
func formatCount(number int64) string { return strconv.FormatInt(number, 10) }
