package landfall

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"landfall/internal/lib/money"
)

// ControlTotals are the totals that the source system of a supplier reports. nil
// means not reported.
type ControlTotals struct {
	SetAt  time.Time // set by the store
	By     Author
	Claims map[Measure]Value
}

// Reason is why a part of the control totals was not created.
type Reason string

// The reasons, in the order they are shown.
const (
	ReasonPending      Reason = "pending"       // staged, waiting to be created
	ReasonFailed       Reason = "failed"        // its last attempt failed, or its staging was refused and nothing is staged
	ReasonSkipped      Reason = "skipped"       // the operator marked it
	ReasonMovedDates   Reason = "moved_dates"   // notes that the service added, about dates that it moved
	ReasonOtherFigures Reason = "other_figures" // created with other figures than were sent
)

// Reasons lists all reasons.
var Reasons = []Reason{ReasonPending, ReasonFailed, ReasonSkipped, ReasonMovedDates, ReasonOtherFigures}

// ReconciliationRow compares one measure.
//
// Staged is everything that was sent: the staged data of every account, and what
// was posted onto existing ones. Created is what their ledgers and other rows
// contain. Explained is the part of the difference that known accounts cause; the
// rest was claimed and never sent, or sent and never claimed.
type ReconciliationRow struct {
	Measure   Measure
	Claimed   Value
	Staged    Value
	Created   Value
	Delivered *Value // what the target has received; nil while it has received nothing
	Explained map[Reason]Value
}

// Difference is what was claimed and not created.
func (r ReconciliationRow) Difference() Value { return r.Claimed.Minus(r.Created) }

// Unexplained is the part of the difference that no account explains.
func (r ReconciliationRow) Unexplained() Value {
	left := r.Difference()
	for _, reason := range Reasons {
		explained := r.Explained[reason]
		if explained.Count == nil {
			explained.Count = &money.Total{}
		}
		if explained.Amount == nil {
			explained.Amount = &money.Total{}
		}
		left = left.Minus(explained)
	}
	return left
}

// Equal reports whether two rows are the same.
func (r ReconciliationRow) Equal(other ReconciliationRow) bool {
	return r.Measure == other.Measure && r.Claimed.Equal(other.Claimed) && r.Staged.Equal(other.Staged) &&
		r.Created.Equal(other.Created) && (r.Delivered == nil) == (other.Delivered == nil) &&
		(r.Delivered == nil || r.Delivered.Equal(*other.Delivered)) && maps.EqualFunc(r.Explained, other.Explained, Value.Equal)
}

// Reconciliation compares all measures of a supplier at one moment.
type Reconciliation struct {
	Supplier string
	At       time.Time
	Totals   *ControlTotals // nil: there are none
	Rows     []ReconciliationRow
}

// Row returns the row of a measure.
func (r *Reconciliation) Row(measure Measure) (ReconciliationRow, bool) {
	at := slices.IndexFunc(r.Rows, func(row ReconciliationRow) bool { return row.Measure == measure })
	if at < 0 {
		return ReconciliationRow{}, false
	}
	return r.Rows[at], true
}

// Reconcile compares control totals with what exists.
func Reconcile(supplier string, tallies *Tallies, totals *ControlTotals) Reconciliation {
	all := Reconciliation{Supplier: supplier, At: tallies.At, Totals: totals}
	var claims map[Measure]Value
	if totals != nil {
		claims = totals.Claims
	}
	for _, kind := range countedKinds {
		all.Rows = append(all.Rows, compare(Measure{Kind: kind}, tallies, claims))
	}
	for _, currency := range currenciesOf(tallies, claims) {
		all.Rows = append(all.Rows, compare(Measure{Kind: MeasureBalances, Currency: currency}, tallies, claims))
		for _, kind := range TransactionTypes {
			row := compare(Measure{MeasureTransactions, currency, kind}, tallies, claims)
			if row.Claimed.Known() || !row.Staged.Zero() || !row.Created.Zero() {
				all.Rows = append(all.Rows, row)
			}
		}
	}
	return all
}

// LoadReconciliation reads tallies and control totals from a view and compares
// them.
func LoadReconciliation(ctx context.Context, view View, supplier string) (Reconciliation, error) {
	tallies, err := view.Tallies(ctx, supplier)
	if err != nil {
		return Reconciliation{}, err
	}
	totals, err := view.ControlTotals(ctx, supplier)
	switch {
	case errors.Is(err, ErrNotFound):
		return Reconcile(supplier, &tallies, nil), nil
	case err != nil:
		return Reconciliation{}, err
	}
	return Reconcile(supplier, &tallies, &totals), nil
}

// currenciesOf returns all currencies that are used or claimed, sorted.
func currenciesOf(tallies *Tallies, claims map[Measure]Value) []string {
	found := map[string]bool{}
	for _, sums := range tallies.Sums {
		for currency, sum := range sums {
			found[currency] = found[currency] || *sum != Sums{}
		}
	}
	for measure := range claims {
		found[measure.Currency] = true
	}
	maps.DeleteFunc(found, func(currency string, used bool) bool { return currency == "" || !used })
	return slices.Sorted(maps.Keys(found))
}

// compare fills one row.
func compare(measure Measure, tallies *Tallies, claims map[Measure]Value) ReconciliationRow {
	of := func(standing AccountStatus) Value { return measure.Of(tallies.total(standing, measure.Currency)) }
	row := ReconciliationRow{
		Measure: measure, Claimed: claims[measure], Created: of(StatusCreated),
		Explained: map[Reason]Value{
			ReasonPending: of(StatusPending), ReasonFailed: of(StatusFailed),
			ReasonSkipped: of(StatusSkipped), ReasonMovedDates: of(StatusOwnNotes), ReasonOtherFigures: of(StatusDeviating),
		},
	}
	if len(tallies.Sums[StatusDelivered]) > 0 {
		delivered := of(StatusDelivered)
		row.Delivered = &delivered
	}
	row.Staged = row.Created
	for _, reason := range Reasons {
		row.Staged = row.Staged.Plus(row.Explained[reason])
	}
	switch measure.Kind {
	case MeasureAccounts:
		// Nothing but the existence of these accounts is known.
		refused := money.TotalOf(tallies.Refused)
		row.Explained[ReasonFailed] = row.Explained[ReasonFailed].Plus(Value{Count: &refused})
		row.Explained[ReasonSkipped] = row.Explained[ReasonSkipped].Plus(of(StatusUnstaged))
	case MeasureBalances:
		// An account with other figures exists all the same.
		row.Explained[ReasonOtherFigures] = Value{Amount: row.Explained[ReasonOtherFigures].Amount}
		row.Explained[ReasonMovedDates] = Value{Amount: row.Explained[ReasonMovedDates].Amount}
	}
	return row
}

// total returns the sums of a status in a currency, or in all with "".
func (t *Tallies) total(standing AccountStatus, currency string) Sums {
	if currency != "" {
		if sums := t.Sums[standing][currency]; sums != nil {
			return *sums
		}
		return Sums{}
	}
	var total Sums
	for _, sums := range t.Sums[standing] {
		for i := range total {
			total[i] = total[i].Plus(sums[i])
		}
	}
	return total
}

// ContributionQuery asks for the accounts that make up a reason of a row.
type ContributionQuery struct {
	Supplier string
	Measure  Measure
	Reason   Reason
	After    *ProcessCursor // start after this account; nil starts at the beginning
	Limit    int            // 0 means all
}

// Contribution is what one account contributes to a measure.
type Contribution struct {
	External      string
	AccountNumber string    // "" when there is no account
	FirstStagedAt time.Time // zero when the order is by external number
	Value         Value
}

// SignOff is a reconciliation that the operator signed. It never changes.
type SignOff struct {
	ID         int64 // set by the store, like SignedAt
	Supplier   string
	SignedAt   time.Time
	Actor      string
	Report     []byte // JSON
	Page       []byte // HTML, the same for people to read
	ReportHash [32]byte
	PageHash   [32]byte
}

// SignOffAction is the action of the audit entry that CreateSignOff needs beside
// it, in the same transaction. Its subject is the supplier.
const SignOffAction = "reconciliation.sign_off"

// SignOffDetail returns the detail of that entry. A signed reconciliation that is
// read is compared with it.
func SignOffDetail(id int64, report, page [32]byte) string {
	return fmt.Sprintf("report %d: JSON sha256 %x, HTML sha256 %x", id, report, page)
}

// MaxTotalsHistory is how many control totals of a supplier are listed.
const MaxTotalsHistory = 1_000

// maxClaimsText limits what the audit says about control totals.
const maxClaimsText = 2_000

// Text describes the totals for the audit: accounts=3, balances.GBP=12.50.
func (c *ControlTotals) Text() string {
	var parts []string
	for measure, value := range c.Claims {
		count, amount := measure.String(), measure.String()
		if measure.Kind == MeasureTransactions { // they have both
			count, amount = count+".count", amount+".amount"
		}
		if value.Count != nil {
			parts = append(parts, count+"="+value.Count.Digits())
		}
		if value.Amount != nil {
			parts = append(parts, amount+"="+value.Amount.String())
		}
	}
	slices.Sort(parts)
	text := strings.Join(parts, ", ")
	if len(text) > maxClaimsText {
		text = text[:strings.LastIndex(text[:maxClaimsText], ", ")] + ", …"
	}
	return text
}

// ReconciliationReader reads control totals and sign-offs.
type ReconciliationReader interface {
	// ControlTotals returns the newest of a supplier, or ErrNotFound.
	ControlTotals(ctx context.Context, supplier string) (ControlTotals, error)
	// ControlTotalsHistory returns the newest MaxTotalsHistory ones, newest first.
	ControlTotalsHistory(ctx context.Context, supplier string) ([]ControlTotals, error)
	// SignOffs returns the sign-offs of a supplier, or of all with "", newest first,
	// without the documents.
	SignOffs(ctx context.Context, supplier string) ([]SignOff, error)
	// SignOff returns one with its documents, or ErrNotFound. Documents that differ
	// from what the audit says was signed are an error.
	SignOff(ctx context.Context, id int64) (SignOff, error)
	// SignedOffAt returns when each supplier was last signed off; suppliers that
	// never were are left out.
	SignedOffAt(ctx context.Context) (map[string]time.Time, error)
}

// ReconciliationWriter records control totals and sign-offs. Neither ever
// changes afterwards.
type ReconciliationWriter interface {
	// SetControlTotals stores new totals, which count from now on, or returns
	// ErrNotFound when there is no such supplier. It sets SetAt.
	SetControlTotals(ctx context.Context, supplier string, totals ControlTotals) (ControlTotals, error)
	// CreateSignOff stores a signed reconciliation and returns its number. The
	// caller appends the audit entry that vouches for it, see SignOffDetail.
	CreateSignOff(ctx context.Context, signed SignOff) (int64, error)
}
