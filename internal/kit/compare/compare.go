// Package compare compares a book with a server over the API: every account with all its fields,
// every note, transaction, statement and payment instruction, and the totals. It finds accounts that
// are missing, extra, waiting, failed, or differ from what was sent.
//
// Neither the book nor the server's lists are held in memory as a whole.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"landfall"
	"landfall/client"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
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
	heaps := newPartitions()
	defer func() { err = errors.Join(err, heaps.close()) }()
	c := &comparison{options: order, server: server, partitions: heaps, sent: newSentRecords(), result: Result{Accounts: map[State]int{}}}
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
	c.sent.hashes = nil
	if err := heaps.finish(); err != nil {
		return result, err
	}
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
	sent       *sentRecords
	result     Result
	done       int
}

// maxSuppliers is more than any real book has.
const maxSuppliers = 100

// readBook adds every line to the partition of its account. It only reads the key of a line; the rest is
// read when the account is compared.
func (c *comparison) readBook(ctx context.Context) error {
	for number, file := range c.options.Book.Files {
		peek := func(_ context.Context, line book.Line) peekedLine { return c.peekLine(number, file.Kind, line) }
		for block, err := range book.Map(ctx, file, peek) {
			if err != nil {
				return err
			}
			for i := range block {
				if err := c.addLine(ctx, &block[i]); err != nil {
					return err
				}
			}
			c.done += len(block)
			c.options.Progress("lines read", c.done)
		}
	}
	return ctx.Err()
}

// peekedLine is a line of which only the key was read.
type peekedLine struct {
	record
	readable bool
	hash     recordHash // of an account
}

func (c *comparison) peekLine(file int, kind book.Kind, line book.Line) (p peekedLine) {
	p.record = record{kind: bookRecord, file: file, line: line.Number, text: line.Text}
	p.key.Supplier, p.key.External, p.readable = rules.Peek(line.Text, "import_supplier", "external_account_number")
	p.readable = p.readable && !line.TooLong && p.key.Supplier != "" && contract.ValidExternalNumber(p.key.External)
	if p.readable && kind == book.Accounts && !c.options.FiguresOnly {
		p.hash = c.sent.hash(line.Text)
	}
	return p
}

// addLine counts a line that cannot be parsed; 'landfall validate' says what is wrong with it.
func (c *comparison) addLine(ctx context.Context, p *peekedLine) error {
	// A line that cannot be parsed names no supplier.
	if !p.readable || c.supplier(p.key.Supplier) == nil && !c.parseRecord(ctx, &p.record).readable {
		c.result.Unreadable++
		return nil
	}
	if c.supplier(p.key.Supplier) == nil {
		if len(c.result.Suppliers) == maxSuppliers {
			return fmt.Errorf("the book names more than %d import suppliers", maxSuppliers)
		}
		c.result.Suppliers = append(c.result.Suppliers, &Supplier{Code: p.key.Supplier, tallies: &landfall.Tallies{}})
	}
	if p.hash != (recordHash{}) {
		c.sent.hashes[p.hash[0]] = struct{}{}
	}
	return c.partitions.add(p.record)
}

// parseRecord parses a line of the book.
func (c *comparison) parseRecord(ctx context.Context, one *record) *bookLine {
	file := c.options.Book.Files[one.file]
	p := parseLine(ctx, file.Kind, book.Line{Number: one.line, Text: one.text}, c.options.Currency)
	p.at = file.At(one.line)
	return &p
}

// supplier finds a supplier in a short list, which keeps the order of the book.
func (c *comparison) supplier(code string) *Supplier {
	at := slices.IndexFunc(c.result.Suppliers, func(s *Supplier) bool { return s.Code == code })
	if at < 0 {
		return nil
	}
	return c.result.Suppliers[at]
}

// toldAccount is what the book and the server say about an account, as it is kept.
type toldAccount struct{ lines, said []record }

// comparePartition compares the accounts of one partition, on all cores.
func (c *comparison) comparePartition(ctx context.Context, at int) error {
	accounts := map[landfall.Key]*toldAccount{}
	var order []landfall.Key // findings are reported in reading order
	read := 0
	err := c.partitions.each(ctx, at, func(one record) {
		read++
		one.order = read
		known := accounts[one.key]
		if known == nil {
			known = &toldAccount{}
			accounts[one.key] = known
			order = append(order, one.key)
		}
		if one.kind == bookRecord {
			known.lines = append(known.lines, one)
		} else {
			known.said = append(known.said, one)
		}
	})
	if err != nil {
		return err
	}
	jobs := func(yield func(func() []comparedAccount) bool) {
		for keys := range slices.Chunk(order, accountBatch) {
			compare := func() (list []comparedAccount) {
				for _, key := range keys {
					list = append(list, c.compareAccount(ctx, key, accounts[key]))
				}
				return list
			}
			if !yield(compare) {
				return
			}
		}
	}
	var late []comparedAccount // beginning with lines that cannot be parsed, which do not count
	for list := range book.InOrder(ctx, jobs) {
		for _, compared := range list {
			if compared.late {
				late = append(late, compared)
				continue
			}
			if late, err = c.finishLate(late, compared.order); err != nil {
				return err
			}
			if err := c.finishAccount(compared); err != nil {
				return err
			}
		}
	}
	if _, err := c.finishLate(late, read+1); err != nil {
		return err
	}
	return ctx.Err()
}

// finishLate finishes the late accounts that come before a position, and returns the others.
func (c *comparison) finishLate(late []comparedAccount, before int) (left []comparedAccount, err error) {
	slices.SortFunc(late, func(a, b comparedAccount) int { return cmp.Compare(a.order, b.order) })
	for len(late) > 0 && late[0].order < before {
		if err := c.finishAccount(late[0]); err != nil {
			return nil, err
		}
		late = late[1:]
	}
	return late, nil
}

// accountBatch is how many accounts a core compares at once.
const accountBatch = 16

// comparedAccount is an account of which both sides were compared.
type comparedAccount struct {
	timesInBook int
	figures     landfall.Figures // of the book
	unreadable  int              // lines of the book
	order       int              // of the first record that can be parsed
	late        bool             // others come before it
	finding     Finding          // without a state if nothing is known about the account
	err         error
}

func (c *comparison) compareAccount(ctx context.Context, key landfall.Key, told *toldAccount) (compared comparedAccount) {
	a := &accountState{found: serverAccount{State: Missing}}
	fail := func(err error) comparedAccount {
		return comparedAccount{err: fmt.Errorf("account %s: %w", key.External, err)}
	}
	for i := range told.lines {
		line := c.parseRecord(ctx, &told.lines[i])
		switch {
		case !line.readable:
			compared.unreadable++
		case line.key != key:
			return fail(fmt.Errorf("%s: %w", line.at, errOtherKey))
		default:
			a.add(line)
			compared.order = cmp.Or(compared.order, told.lines[i].order)
		}
	}
	for _, one := range told.said {
		what, err := c.sent.said(one, told.lines)
		if err != nil {
			return fail(err)
		}
		a.merge(what)
		compared.order = cmp.Or(compared.order, one.order)
	}
	compared.late = len(told.lines) > 0 && compared.order > told.lines[0].order
	if len(told.said) == 0 && compared.unreadable == len(told.lines) {
		return compared
	}
	state, differences, err := c.accountState(ctx, a)
	if err != nil {
		return fail(err)
	}
	compared.timesInBook, compared.figures = a.timesInBook, a.figures
	compared.finding = Finding{key, a.found.Number, state, a.found.Code, differences}
	return compared
}

// errOtherKey means that a line is in the wrong partition.
var errOtherKey = errors.New("the line has another key than its beginning says")

// finishAccount counts an account and reports it unless it is the same.
func (c *comparison) finishAccount(a comparedAccount) error {
	if a.err != nil {
		return a.err
	}
	c.result.Unreadable += a.unreadable
	if a.finding.State == "" {
		return nil
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
	whole := &wholeComparison{lines: a.lines, there: a.found.Whole}
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
