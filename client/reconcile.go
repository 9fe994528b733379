package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// ControlTotals is what a source says it has. What is nil or missing it does not
// say, and it is not compared. Amounts of money are exact texts such as "-12.50".
type ControlTotals struct {
	Accounts     *int64           `json:"accounts,omitempty"`
	Customers    *int64           `json:"customers,omitempty"`
	SupplyPoints *int64           `json:"supply_points,omitempty"`
	Notes        *int64           `json:"notes,omitempty"`
	Statements   *int64           `json:"statements,omitempty"`
	Instructions *int64           `json:"payment_instructions,omitempty"`
	Currencies   []CurrencyTotals `json:"currencies,omitempty"`
}

// CurrencyTotals is what a source says it has in one currency.
type CurrencyTotals struct {
	Currency     string              `json:"currency"`
	Balances     string              `json:"balances,omitempty"` // positive when customers are in credit
	Transactions []TransactionTotals `json:"transactions,omitempty"`
}

// TransactionTotals is what a source says it has of one type of transaction.
type TransactionTotals struct {
	Type   string `json:"type"`
	Count  *int64 `json:"count,omitempty"`
	Amount string `json:"amount,omitempty"` // as sent: a charge of 10.00 counts 10.00
}

// StoredTotals is control totals with who set them when.
type StoredTotals struct {
	ControlTotals
	SetAt time.Time `json:"set_at"`
	SetBy string    `json:"set_by"`
}

// SetControlTotals tells what the source says it has, for the reconciliation: a
// [ControlTotals], or JSON that says the same. Earlier ones are kept.
func (c *Client) SetControlTotals(ctx context.Context, supplier string, totals Document) (StoredTotals, error) {
	body, err := marshalDocument(totals)
	if err != nil {
		return StoredTotals{}, err
	}
	var kept StoredTotals
	_, err = c.do(ctx, apiCall{method: http.MethodPut, path: apiPath("control-totals", supplier), body: body}, &kept)
	return kept, err
}

// ControlTotals gives what was told last, and by whom.
func (c *Client) ControlTotals(ctx context.Context, supplier string) (StoredTotals, error) {
	var kept StoredTotals
	err := c.get(ctx, apiPath("control-totals", supplier), nil, &kept)
	return kept, err
}

// Reconciliation is what a source claims against what was sent and what exists,
// all of it as of one moment.
type Reconciliation struct {
	Supplier    string     `json:"import_supplier"`
	AsOf        time.Time  `json:"as_of"`
	TotalsSetAt *time.Time `json:"control_totals_set_at"` // nil: nothing is claimed
	Measures    []Measure  `json:"measures"`
}

// Measure compares one thing: accounts, balances.GBP, transactions.GBP.PAYMENT.
type Measure struct {
	Name        string           `json:"measure"`
	Claimed     Value            `json:"claimed"`
	Staged      Value            `json:"staged"`
	Created     Value            `json:"created"`
	Difference  Value            `json:"difference"`
	Explained   map[string]Value `json:"explained"` // by reason: pending, failed, skipped, other_figures
	Unexplained Value            `json:"unexplained"`
}

// Value is how much there is of a measure: a count, an amount of money or both.
type Value struct {
	Count  *int64 `json:"count"`
	Amount string `json:"amount"` // exact; "" when it is not measured
}

// Reconciliation compares what the source says it has with what is staged and
// created.
func (c *Client) Reconciliation(ctx context.Context, supplier string) (Reconciliation, error) {
	var found Reconciliation
	err := c.get(ctx, apiPath("reconciliation", supplier), nil, &found)
	return found, err
}

// Behind is an account behind a figure of a reconciliation, and its part in it.
type Behind struct {
	External string `json:"external_account_number"`
	Number   string `json:"platform_account_number"` // "" when there is no account
	Value
}

// AccountsBehind lists the accounts on which a figure of a reconciliation rests:
// those of a measure that are pending, failed, skipped or have other_figures.
func (c *Client) AccountsBehind(ctx context.Context, supplier, measure, reason string) iter.Seq2[Behind, error] {
	return pages[Behind](ctx, c, apiPath("reconciliation", supplier), url.Values{"measure": {measure}, "reason": {reason}})
}
