package landfall

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"landfall/internal/lib/money"
)

// AccountStatus is the status under which an account counts in the totals of a
// supplier. Every known account has exactly one
// of them, and deviating and delivered count besides.
type AccountStatus string

// The statuses. The figures of a staged document count under the first three,
// those of the account's own rows under StatusCreated.
const (
	StatusPending   AccountStatus = "pending"   // staged, and no failure on record
	StatusFailed    AccountStatus = "failed"    // staged, and its last attempt failed
	StatusSkipped   AccountStatus = "skipped"   // staged, and marked to be skipped
	StatusUnstaged  AccountStatus = "unstaged"  // marked to be skipped, and never staged
	StatusCreated   AccountStatus = "created"   // an account exists
	StatusDeviating AccountStatus = "deviating" // the difference between what was sent for existing accounts and what they have
	StatusOwnNotes  AccountStatus = "own_notes" // the part of it that is notes the service added, about dates that it moved
	StatusDelivered AccountStatus = "delivered" // what targets have received of existing accounts
)

var accountStatuses = []AccountStatus{StatusPending, StatusFailed, StatusSkipped, StatusUnstaged, StatusCreated, StatusDeviating, StatusOwnNotes, StatusDelivered}

// Sums is figures added up over any number of accounts, without overflow.
type Sums [FigureCount]money.Total //nolint:recvcheck // it is copied where it is only read

// Add adds figures.
func (s *Sums) Add(figures Figures) {
	for i, number := range figures.Numbers() {
		s[i] = s[i].Plus(money.TotalOf(*number))
	}
}

func (s *Sums) plus(others *Sums) {
	for i := range s {
		s[i] = s[i].Plus(others[i])
	}
}

func (s *Sums) minus(others *Sums) {
	for i := range s {
		s[i] = s[i].Minus(others[i])
	}
}

// Figures returns the sums as figures of a currency: usually one part, and more
// when a sum does not fit.
func (s Sums) Figures(currency string) (parts []Figures) {
	for s != (Sums{}) {
		part := Figures{Currency: currency}
		for i, number := range part.Numbers() {
			*number = s[i].Clamp()
			s[i] = s[i].Minus(money.TotalOf(*number))
		}
		parts = append(parts, part)
	}
	return parts
}

// Tallies is the totals of a supplier's accounts, by status and currency.
type Tallies struct {
	At   time.Time // by the database's clock
	Sums map[AccountStatus]map[string]*Sums
	// Refused is how many accounts are only known from a refused staging.
	Refused int64
	// Recounts is how often the totals were corrected.
	Recounts int64
}

// Corrections returns what has to be added to the totals to get those of a recount.
func (t *Tallies) Corrections(counted *Tallies) *Tallies {
	add := &Tallies{}
	for _, standing := range accountStatuses {
		for currency, sums := range counted.Sums[standing] {
			add.Of(standing, currency).plus(sums)
		}
		for currency, sums := range t.Sums[standing] {
			add.Of(standing, currency).minus(sums)
		}
	}
	return add
}

// Of returns the sums of a status and currency, to be read or added to.
func (t *Tallies) Of(standing AccountStatus, currency string) *Sums {
	if t.Sums == nil {
		t.Sums = map[AccountStatus]map[string]*Sums{}
	}
	if t.Sums[standing] == nil {
		t.Sums[standing] = map[string]*Sums{}
	}
	sums := t.Sums[standing][currency]
	if sums == nil {
		sums = &Sums{}
		t.Sums[standing][currency] = sums
	}
	return sums
}

// Accounts returns how many accounts have one of some statuses.
func (t *Tallies) Accounts(statuses ...AccountStatus) int64 {
	var count money.Total
	for _, status := range statuses {
		for _, sums := range t.Sums[status] {
			count = count.Plus(sums[AtAccounts])
		}
	}
	return count.Clamp()
}

// numberNames are the names of the numbers of Figures, by index.
var numberNames = func() (names [FigureCount]string) {
	copy(names[:], []string{"accounts", "customers", "supply points", "notes", "statements", "payment instructions", "balances"})
	for i, kind := range TransactionTypes {
		names[AtTransactions+2*i] = string(kind) + " transactions"
		names[AtTransactions+2*i+1] = string(kind) + " amounts"
	}
	return names
}()

// Differences returns a sentence for each difference between the tallies and a
// recount.
func (t *Tallies) Differences(counted *Tallies) (sentences []string) {
	for _, standing := range accountStatuses {
		currencies := map[string]bool{}
		for _, some := range []*Tallies{t, counted} {
			for currency := range some.Sums[standing] {
				currencies[currency] = true
			}
		}
		for _, currency := range slices.Sorted(maps.Keys(currencies)) {
			mine, others := t.Of(standing, currency), counted.Of(standing, currency)
			for i, name := range numberNames {
				if mine[i] != others[i] {
					sentences = append(sentences, fmt.Sprintf("%s of %s accounts in %s are recorded as %s, counted %s",
						name, standing, cmp.Or(currency, "no currency"), mine.text(i), others.text(i)))
				}
			}
		}
	}
	return sentences
}

// text formats one number as a count or as money.
func (s *Sums) text(at int) string {
	if at == AtBalance || at > AtTransactions && (at-AtTransactions)%2 == 1 {
		return s[at].String()
	}
	return strconv.FormatInt(s[at].Count(), 10)
}

// TallyReader reads the totals of a supplier's accounts.
type TallyReader interface {
	// Tallies returns the totals of everything known of a supplier, or ErrNotFound.
	// They are exact: what was written in one transaction is in them completely or
	// not at all, and they take no longer with more accounts.
	Tallies(ctx context.Context, supplier string) (Tallies, error)
	// Recount computes the same from the rows themselves: created accounts are
	// counted from the ledger and their other rows. It takes longer the more rows
	// there are. In one view it equals Tallies.
	Recount(ctx context.Context, supplier string) (Tallies, error)
	// InProgress returns how many accounts are being created now, by supplier;
	// suppliers without any are left out. In the tallies these accounts are pending
	// or failed until that has ended.
	InProgress(ctx context.Context) (map[string]int64, error)
	// DeviatingAccounts returns how many accounts of a supplier differ from what was
	// sent for them, up to 10000; an unknown supplier has none.
	DeviatingAccounts(ctx context.Context, supplier string) (int64, error)
}

// TallyWriter corrects totals that another program left wrong.
type TallyWriter interface {
	// CorrectTallies adds the difference between totals and a recount of the same view
	// to a supplier's totals. Both may be older than the transaction: the difference
	// stays the same, whatever was written since. It does nothing and returns false if
	// someone else has corrected them since.
	CorrectTallies(ctx context.Context, supplier string, kept, counted *Tallies) (bool, error)
	// CorrectRunSums counts the outcomes of the accounts of runs again where sums differ
	// from them, a few slices after a position. It returns how many sums it corrected
	// and where to continue; done means that there are no more.
	CorrectRunSums(ctx context.Context, after RunSumsPosition) (corrected int, next RunSumsPosition, done bool, err error)
}

// RunSumsPosition is how far CorrectRunSums is. Its zero value is the beginning.
type RunSumsPosition struct{ Run, Slice int64 }
