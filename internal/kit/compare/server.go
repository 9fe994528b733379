package compare

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"landfall"
	"landfall/client"
	"landfall/internal/kit/book"
	"landfall/internal/lib/money"
)

// serverAccount is what the server says about an account.
type serverAccount struct {
	State                      State // Same means that the account exists
	Number, Code               string
	Currency                   string
	Balance, Notes, Statements int64
	OnlyDeviation              bool // it only contains a deviation
	Deviation                  deviation
	Whole                      *client.Account `json:"-"` // nil if only figures are compared
}

// precedence decides which of two states counts: an existing account exists, and a failed one also
// waits.
var precedence = map[State]int{Missing: 0, Staged: 1, Failed: 2, Refused: 2, Skipped: 3, Same: 4}

func (a *accountState) merge(what serverAccount) {
	if what.OnlyDeviation {
		a.deviation.Notes += what.Deviation.Notes
		a.deviation.Statements += what.Deviation.Statements
		a.deviation.Balance += what.Deviation.Balance
		return
	}
	if precedence[what.State] > precedence[a.found.State] {
		a.found = what
	}
}

// readServer reads the accounts of a supplier. Waiting accounts are read before existing ones, so
// that an account created meanwhile is not missed.
func (c *comparison) readServer(ctx context.Context, s *Supplier) error {
	compared, err := c.server.Reconciliation(ctx, s.Code)
	// An unknown supplier is a finding: all its accounts are missing.
	if client.IsCode(err, landfall.CodeSupplierUnknown) {
		s.Unknown = true
		return nil
	}
	if err != nil {
		return err
	}
	c.done = 0
	err = addRows(c, s, c.server.Pending(ctx, s.Code), func(one client.Entry) (string, serverAccount) {
		return one.External, serverAccount{State: Staged}
	})
	if err == nil {
		err = addRows(c, s, c.server.Failures(ctx, s.Code), func(one client.Failure) (string, serverAccount) {
			state := Failed
			if one.At == "STAGING" {
				state = Refused
			}
			return one.External, serverAccount{State: state, Code: one.Code}
		})
	}
	if err == nil {
		err = addRows(c, s, c.server.AccountsBehind(ctx, s.Code, string(landfall.MeasureAccounts), string(landfall.ReasonSkipped)),
			func(one client.Behind) (string, serverAccount) { return one.External, serverAccount{State: Skipped} })
	}
	if err == nil {
		err = c.readAccounts(ctx, s)
	}
	if err == nil {
		err = c.deviations(ctx, s, compared)
	}
	if err != nil {
		return err
	}
	// Read the totals again: accounts created while reading the lists are in both.
	if compared, err = c.server.Reconciliation(ctx, s.Code); err != nil {
		return err
	}
	return s.addTotals(ctx, c.options.Book, len(c.result.Suppliers) == 1, compared)
}

// ErrRole is returned if the API key cannot read whole accounts.
var ErrRole = errors.New("comparing every field needs an API key with the role reader; " +
	"with another key, compare balances and counts with --figures-only")

// readAccounts reads the existing accounts: all of each, or its figures.
func (c *comparison) readAccounts(ctx context.Context, s *Supplier) error {
	if c.options.FiguresOnly {
		return addRows(c, s, c.server.ImportedFigures(ctx, s.Code), importedAccount)
	}
	err := c.readWhole(ctx, s)
	if client.IsCode(err, landfall.CodePermissionDenied) {
		return ErrRole
	}
	return err
}

// wholeBatch is how many whole accounts are given to a core at once.
const wholeBatch = 64

// readWhole reads whole accounts, and keeps of them what the comparison needs, on all cores.
func (c *comparison) readWhole(ctx context.Context, s *Supplier) error {
	var failed error
	jobs := func(yield func(func() []keptWhole) bool) {
		var batch []json.RawMessage
		keep := func() bool {
			texts := batch
			batch = nil
			return yield(func() []keptWhole {
				list := make([]keptWhole, len(texts))
				for i, text := range texts {
					list[i] = c.sent.keepWhole(text)
				}
				return list
			})
		}
		for text, err := range c.server.AccountTexts(ctx, s.Code, client.AccountQuery{NoFingerprints: true}) {
			if failed = err; err != nil {
				return
			}
			if batch = append(batch, text); len(batch) == wholeBatch && !keep() {
				return
			}
		}
		keep()
	}
	for list := range book.InOrder(ctx, jobs) {
		for _, one := range list {
			if one.err != nil {
				return one.err
			}
			if err := c.addSaid(record{kind: wholeRecord, key: landfall.Key{Supplier: s.Code, External: one.external}, text: one.text}); err != nil {
				return err
			}
		}
	}
	return errors.Join(failed, ctx.Err())
}

// importedAccount converts one entry of the server's list. Whether it is the same is decided when
// the book's side is known too.
func importedAccount(one client.FiguredEntry) (string, serverAccount) {
	balance, _ := money.ParseAmount(one.Balance) // in the server's own format
	return one.External, serverAccount{
		State: Same, Number: one.Number, Currency: one.Currency, Balance: int64(balance),
		Notes: int64(one.Notes), Statements: int64(one.Statements),
	}
}

// deviations reads how accounts differ from what was sent, according to the server itself, such as
// the note about a moved payment.
func (c *comparison) deviations(ctx context.Context, s *Supplier, compared client.Reconciliation) error {
	for _, measure := range compared.Measures {
		parsed, known := landfall.ParseMeasure(measure.Name)
		if !known {
			continue
		}
		of := map[landfall.MeasureKind]func(client.Value) deviation{
			landfall.MeasureNotes:      func(v client.Value) deviation { return deviation{Notes: *v.Count} },
			landfall.MeasureStatements: func(v client.Value) deviation { return deviation{Statements: *v.Count} },
			landfall.MeasureBalances: func(v client.Value) deviation {
				amount, _ := money.ParseAmount(v.Amount) // in the server's own format
				return deviation{Balance: int64(amount)}
			},
		}[parsed.Kind]
		if of == nil {
			continue
		}
		for _, reason := range []landfall.Reason{landfall.ReasonMovedDates, landfall.ReasonOtherFigures} {
			err := addRows(c, s, c.server.AccountsBehind(ctx, s.Code, measure.Name, string(reason)),
				func(one client.Behind) (string, serverAccount) {
					return one.External, serverAccount{OnlyDeviation: true, Deviation: of(one.Value)}
				})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// addRows adds the rows of a list to the partitions of their accounts.
func addRows[Row any](c *comparison, s *Supplier, rows iter.Seq2[Row, error], of func(Row) (string, serverAccount)) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		external, what := of(row)
		said, err := saidOf(landfall.Key{Supplier: s.Code, External: external}, what)
		if err != nil {
			return err
		}
		if err := c.addSaid(said); err != nil {
			return err
		}
	}
	return nil
}

// addSaid adds what the server says about an account.
func (c *comparison) addSaid(one record) error {
	if c.done++; c.done%1000 == 0 {
		c.options.Progress("accounts on the server", c.done)
	}
	return c.partitions.add(one)
}
