// Package collate holds a book against a server, account by account and in
// totals, over the API alone: what is missing, what is there and in no book,
// what waits or failed, and what is there otherwise than it was sent.
//
// Neither the book nor the server's lists are ever held in memory whole.
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

// State is how an account of the book stands on the server.
type State string

// The states.
const (
	Same    State = "same"          // it exists, and comes to what the book says
	Other   State = "other figures" // it exists; the server says itself in what it is not what was sent
	Differs State = "differs"       // it exists, and comes to something else
	Staged  State = "staged"        // it waits to be created
	Failed  State = "failed"        // its last attempt failed
	Refused State = "refused"       // its last staging was refused
	Skipped State = "skipped"       // the operator marked it
	Missing State = "missing"       // the server does not know it
	Extra   State = "extra"         // the server has it, and the book does not
)

// States gives them in the order people read them.
func States() []State {
	return []State{Same, Other, Differs, Staged, Failed, Refused, Skipped, Missing, Extra}
}

// Options says what is compared.
type Options struct {
	Book     *book.Book
	Currency string // of accounts that name none: the supplier's
	// Part says that the book is not all the supplier has, so that further
	// accounts on the server are nothing strange.
	Part bool
	// SetTotals tells the server what the book claims before it is compared.
	SetTotals bool
	// Found hears of every account that is not the same.
	Found func(Finding) error
	// Progress hears now and then how much was read, of the book and then of
	// the server.
	Progress func(what string, done int)
}

// Finding is an account that is not, or not yet, what the book says.
type Finding struct {
	Key         landfall.Key
	Number      string // on the platform; "" when there is no account
	State       State
	Code        string // why it failed or was refused
	Differences []Difference
}

// Difference is something that the book and the server say differently.
type Difference struct{ What, Book, Server string }

// Result is what came of it.
type Result struct {
	Accounts   map[State]int
	Unreadable int // lines of the book that nobody can read
	Duplicates int // accounts that are in the book more than once
	Suppliers  []*Supplier
}

// Agrees reports whether the server has what the book has: every account with
// its figures, and, unless the book is a part, no further one.
func (r Result) Agrees() bool {
	for state, count := range r.Accounts {
		if state != Same && state != Other && count > 0 {
			return false
		}
	}
	return r.Unreadable == 0 && !slices.ContainsFunc(r.Suppliers, func(s *Supplier) bool { return s.Unknown || !s.Claims.Agree() })
}

// Compare compares a book with a server. Nobody should be moving accounts
// meanwhile: what moves may be told as it was or as it is.
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
	// Only now that both sides lie on the heaps can an account be judged.
	for at := range partitionCount {
		if err := c.comparePartition(at); err != nil {
			return result, err
		}
	}
	return c.result, ctx.Err()
}

// comparison is one comparison under way.
type comparison struct {
	options    Options
	server     *client.Client
	partitions *partitions
	result     Result
	done       int
}

// maxSuppliers is more than any book has; a broken one may name anything.
const maxSuppliers = 100

// readBook puts every line onto the heap of its account.
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

// addLine counts a line that cannot be read and goes on: what is wrong with it is the
// proofreader's to say.
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

// supplier looks through a short list, which keeps the order of the book.
func (c *comparison) supplier(code string) *Supplier {
	at := slices.IndexFunc(c.result.Suppliers, func(s *Supplier) bool { return s.Code == code })
	if at < 0 {
		return nil
	}
	return c.result.Suppliers[at]
}

// comparePartition judges the accounts of one heap.
func (c *comparison) comparePartition(at int) error {
	accounts := map[landfall.Key]*accountState{}
	var order []landfall.Key // findings come in the order they were read
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

// finishAccount counts an account and tells of it when it is not the same.
func (c *comparison) finishAccount(key landfall.Key, a *accountState) error {
	if a.timesInBook > 1 {
		c.result.Duplicates++
	}
	if a.timesInBook > 0 {
		c.supplier(key.Supplier).tallies.Of(landfall.StatusCreated, a.figures.Currency).Add(a.figures)
	}
	state, differences := a.state()
	// Where the book is a part, further accounts are not even counted: any that was
	// would keep the two from agreeing.
	if state == Extra && c.options.Part {
		return nil
	}
	c.result.Accounts[state]++
	if state == Same {
		return nil
	}
	return c.options.Found(Finding{key, a.found.Number, state, a.found.Code, differences})
}

// formatCount writes a number as the server writes it, to be compared as text.
func formatCount(number int64) string { return strconv.FormatInt(number, 10) }
