// Package compare compares a book with a server over the API: every account with all its fields,
// every note, transaction, statement and payment instruction, and the totals. It finds accounts that
// are missing, extra, waiting, failed, or differ from what was sent.
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
	"landfall/internal/store/pack"
)

// State is the state of a book's account on the server.
type State string

// The states.
const (
	Same    State = "same"          // it exists as in the book
	Other   State = "other figures" // it exists, and the server reports the differences itself
	Erased  State = "erased"        // it exists, and its personal data was erased, so only figures are left
	Differs State = "differs"       // it exists and differs from the book
	Staged  State = "staged"        // it is waiting to be created
	Failed  State = "failed"        // its last attempt failed
	Refused State = "refused"       // its last staging was refused
	Skipped State = "skipped"       // the operator marked it
	Missing State = "missing"       // the server does not have it
	Extra   State = "extra"         // the server has it, but the book does not
)

// States returns all states in the order of display.
func States() []State {
	return []State{Same, Other, Erased, Differs, Staged, Failed, Refused, Skipped, Missing, Extra}
}

// Options says what to compare.
type Options struct {
	Book     *book.Book
	Currency string // of accounts without one: the supplier's currency
	// Part means that the book is only a part of the supplier's accounts, so further accounts on
	// the server are expected.
	Part bool
	// FiguresOnly compares the balance and the numbers of notes and statements of each account, not
	// its fields and postings. This needs no API key that can read whole accounts.
	FiguresOnly bool
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
type Difference struct {
	Attr   string // in its line of the book, such as customers.0.family_name; or the name of a figure
	Book   string // "" if the book does not have it
	Server string // "" if the server does not have it
	At     string // file and line of the book; "" for a figure, and for what only the server has
	Figure bool   // a figure, which is not personal
}

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
		if state != Same && state != Other && state != Erased && count > 0 {
			return false
		}
	}
	return r.Unreadable == 0 && !slices.ContainsFunc(r.Suppliers, func(s *Supplier) bool { return s.Unknown || !s.Claims.Agree() })
}

// Compare compares a book with a server. Accounts should not be imported meanwhile, or they may be
// reported in their old or new state.
func Compare(ctx context.Context, server *client.Client, order Options) (result Result, err error) {
	if !order.FiguresOnly {
		// Fail early: reading the book may take minutes. The account need not exist.
		if _, err := server.Account(ctx, "-", "-"); client.IsCode(err, landfall.CodePermissionDenied) {
			return result, ErrRole
		}
	}
	heaps := newPartitions(order.FiguresOnly)
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
	for at := range heaps.parts {
		if err := c.comparePartition(ctx, at); err != nil {
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
	for number, file := range c.options.Book.Files {
		take := func(ctx context.Context, line book.Line) bookLine {
			return c.parseLine(ctx, number, file.Kind, line)
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

// parseLine parses a line, and keeps its text unless only figures are compared.
func (c *comparison) parseLine(ctx context.Context, file int, kind book.Kind, line book.Line) bookLine {
	p := parseLine(ctx, kind, line, c.options.Currency)
	if p.readable && !c.options.FiguresOnly {
		p.file, p.line = file, line.Number
		p.text, p.err = pack.Pack(line.Text)
	}
	return p
}

// addLine counts a line that cannot be parsed; 'landfall validate' says what is wrong with it.
func (c *comparison) addLine(p *bookLine) error {
	if p.err != nil {
		return p.err
	}
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

// comparePartition compares the accounts of one partition, on all cores.
func (c *comparison) comparePartition(ctx context.Context, at int) error {
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
	jobs := func(yield func(func() comparedAccount) bool) {
		for _, key := range order {
			if !yield(func() comparedAccount { return c.compareAccount(ctx, key, accounts[key]) }) {
				return
			}
		}
	}
	for compared := range book.InOrder(ctx, jobs) {
		if err := c.finishAccount(compared); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// comparedAccount is an account of which both sides were compared.
type comparedAccount struct {
	*accountState
	finding Finding
	err     error
}

func (c *comparison) compareAccount(ctx context.Context, key landfall.Key, a *accountState) comparedAccount {
	state, differences, err := c.accountState(ctx, a)
	if err != nil {
		err = fmt.Errorf("account %s: %w", key.External, err)
	}
	return comparedAccount{a, Finding{key, a.found.Number, state, a.found.Code, differences}, err}
}

// finishAccount counts an account and reports it unless it is the same.
func (c *comparison) finishAccount(a comparedAccount) error {
	if a.err != nil {
		return a.err
	}
	if a.timesInBook > 1 {
		c.result.Duplicates++
	}
	if a.timesInBook > 0 {
		c.supplier(a.finding.Key.Supplier).tallies.Of(landfall.StatusCreated, a.figures.Currency).Add(a.figures)
	}
	// If the book is a part, further accounts do not count.
	if a.finding.State == Extra && c.options.Part {
		return nil
	}
	c.result.Accounts[a.finding.State]++
	if a.finding.State == Same {
		return nil
	}
	return c.options.Found(a.finding)
}

// accountState compares both sides of an account, in every field if both are known.
func (c *comparison) accountState(ctx context.Context, a *accountState) (State, []Difference, error) {
	if a.found.State != Same || a.found.Whole == nil || a.timesInBook == 0 && !a.posted {
		state, differences := a.state()
		return state, differences, nil
	}
	whole, err := openWhole(c.options.Book, a)
	if err != nil {
		return "", nil, err
	}
	// Without a record there is nothing to compare with.
	if !whole.there.ErasedAt.IsZero() {
		return Erased, nil, nil
	}
	if err := whole.compare(ctx); err != nil {
		return "", nil, err
	}
	if len(whole.differs) > 0 {
		return Differs, whole.differs, nil
	}
	state, differences := a.state()
	if state == Same && len(whole.explained) > 0 {
		state = Other
	}
	if state == Other {
		differences = append(differences, whole.explained...)
	}
	return state, differences, nil
}

// formatCount formats a number as the server does, to compare it as text.
func formatCount(number int64) string { return strconv.FormatInt(number, 10) }
