package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// ControlTotals are the totals of a source. What is nil or missing is not compared. Amounts are
// exact texts such as "-12.50".
type ControlTotals struct {
	Accounts     *int64           `json:"accounts,omitempty"`
	Customers    *int64           `json:"customers,omitempty"`
	SupplyPoints *int64           `json:"supply_points,omitempty"`
	Notes        *int64           `json:"notes,omitempty"`
	Statements   *int64           `json:"statements,omitempty"`
	Instructions *int64           `json:"payment_instructions,omitempty"`
	Currencies   []CurrencyTotals `json:"currencies,omitempty"`
}

// CurrencyTotals are the totals in one currency.
type CurrencyTotals struct {
	Currency     string              `json:"currency"`
	Balances     string              `json:"balances,omitempty"` // positive when customers are in credit
	Transactions []TransactionTotals `json:"transactions,omitempty"`
}

// TransactionTotals are the totals of one type of transaction.
type TransactionTotals struct {
	Type   string `json:"type"`
	Count  *int64 `json:"count,omitempty"`
	Amount string `json:"amount,omitempty"` // as sent: a charge of 10.00 counts 10.00
}

// StoredTotals are control totals with who set them and when.
type StoredTotals struct {
	ControlTotals
	SetAt time.Time `json:"set_at"`
	SetBy string    `json:"set_by"`
}

// SetControlTotals sets the control totals of a supplier for the reconciliation: a [ControlTotals]
// or its JSON. Earlier ones are kept.
func (c *Client) SetControlTotals(ctx context.Context, supplier string, totals Document) (StoredTotals, error) {
	body, err := marshalDocument(totals)
	if err != nil {
		return StoredTotals{}, err
	}
	var kept StoredTotals
	_, err = c.do(ctx, apiCall{method: http.MethodPut, path: apiPath("control-totals", supplier), body: body}, &kept)
	return kept, err
}

// ControlTotals returns the latest control totals.
func (c *Client) ControlTotals(ctx context.Context, supplier string) (StoredTotals, error) {
	var kept StoredTotals
	err := c.get(ctx, apiPath("control-totals", supplier), nil, &kept)
	return kept, err
}

// ControlTotalsHistory returns the control totals that were ever set, newest first; at most 1,000.
func (c *Client) ControlTotalsHistory(ctx context.Context, supplier string) ([]StoredTotals, error) {
	var history []StoredTotals
	err := c.get(ctx, apiPath("control-totals", supplier), url.Values{"history": {"true"}}, &history)
	return history, err
}

// SignOff is a reconciliation that an operator signed off.
type SignOff struct {
	ID         int       `json:"id"`
	Supplier   string    `json:"import_supplier"`
	SignedAt   time.Time `json:"signed_at"`
	ReportHash string    `json:"report_sha256"` // of the report in JSON
	PageHash   string    `json:"page_sha256"`   // of the same report in HTML
}

// SignOffs returns the signed-off reconciliations of a supplier, newest first.
func (c *Client) SignOffs(ctx context.Context, supplier string) ([]SignOff, error) {
	var signed []SignOff
	err := c.get(ctx, apiPath("reconciliation", supplier, "sign-offs"), nil, &signed)
	return signed, err
}

// Reconciliation compares control totals with what was sent and what exists, all at one point in
// time.
type Reconciliation struct {
	Supplier    string     `json:"import_supplier"`
	AsOf        time.Time  `json:"as_of"`
	TotalsSetAt *time.Time `json:"control_totals_set_at"` // nil: there are no control totals
	Measures    []Measure  `json:"measures"`
}

// Measure compares one figure: accounts, balances.GBP, transactions.GBP.PAYMENT.
type Measure struct {
	Name        string           `json:"measure"`
	Claimed     Value            `json:"claimed"`
	Staged      Value            `json:"staged"`
	Created     Value            `json:"created"`
	Delivered   *Value           `json:"delivered"` // what the target has received; nil: nothing
	Difference  Value            `json:"difference"`
	Explained   map[string]Value `json:"explained"` // by reason: pending, failed, skipped, moved_dates, other_figures
	Unexplained Value            `json:"unexplained"`
}

// Value is a count, an amount of money, or both.
type Value struct {
	Count  *int64 `json:"count"`
	Amount string `json:"amount"` // exact; "" if not measured
}

// Reconciliation compares the control totals with what is staged and created.
func (c *Client) Reconciliation(ctx context.Context, supplier string) (Reconciliation, error) {
	var found Reconciliation
	err := c.get(ctx, apiPath("reconciliation", supplier), nil, &found)
	return found, err
}

// Behind is an account behind a figure of a reconciliation, and its part in it.
type Behind struct {
	External string `json:"external_account_number"`
	Number   string `json:"platform_account_number"` // "" if there is no account
	Value
}

// AccountsBehind lists the accounts behind a figure of a reconciliation: those of a measure that
// are pending, failed or skipped, have notes about moved_dates, or have other_figures.
func (c *Client) AccountsBehind(ctx context.Context, supplier, measure, reason string) iter.Seq2[Behind, error] {
	return pages[Behind](ctx, c, apiPath("reconciliation", supplier), url.Values{"measure": {measure}, "reason": {reason}})
}
