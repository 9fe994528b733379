package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// Entry is an account in a list.
type Entry struct {
	External  string    `json:"external_account_number"`
	Number    string    `json:"platform_account_number"` // "" until it is created
	CreatedAt time.Time `json:"account_created_at"`
}

// All lists every account of a supplier in the order of first staging. Pages are fetched as needed
// and retried.
func (c *Client) All(ctx context.Context, supplier string) iter.Seq2[Entry, error] {
	return pages[Entry](ctx, c, apiPath("all-account-import-processes", supplier), nil)
}

// Pending lists the accounts that are not created yet.
func (c *Client) Pending(ctx context.Context, supplier string) iter.Seq2[Entry, error] {
	return pages[Entry](ctx, c, apiPath("pending-account-import-processes", supplier), nil)
}

// Imported lists the created accounts.
func (c *Client) Imported(ctx context.Context, supplier string) iter.Seq2[Entry, error] {
	return pages[Entry](ctx, c, apiPath("imported-account-import-processes", supplier), nil)
}

// FiguredEntry is an imported account with its figures.
type FiguredEntry struct {
	Entry
	Balance       string `json:"balance"` // positive when the customer is in credit
	Currency      string `json:"currency"`
	LedgerEntries int    `json:"ledger_entries"`
	Notes         int    `json:"notes"`
	Statements    int    `json:"statements"`
	Delivery      string `json:"delivery"` // to the supplier's target: NONE, WAITING, PENDING, DELIVERED or REFUSED
}

// ImportedFigures lists the created accounts with their figures: enough to verify a migration
// without a call per account.
func (c *Client) ImportedFigures(ctx context.Context, supplier string) iter.Seq2[FiguredEntry, error] {
	return pages[FiguredEntry](ctx, c, apiPath("imported-account-import-processes", supplier), url.Values{"detail": {"true"}})
}

// Failures lists the accounts that failed, and why.
func (c *Client) Failures(ctx context.Context, supplier string) iter.Seq2[Failure, error] {
	return pages[Failure](ctx, c, apiPath("failed-account-import-processes", supplier), nil)
}

// Duplicate is a pair of accounts that share a supply point, a payment instruction, a reference or
// a number.
type Duplicate struct {
	Rule               string  `json:"rule"`
	Type               string  `json:"type"` // supply type, vendor or namespace
	IdentifierEndsWith string  `json:"identifier_ends_with"`
	External           string  `json:"external_account_number"`
	Number             *string `json:"platform_account_number"`
	OtherSupplier      *string `json:"other_import_supplier"` // nil without access to it
	OtherExternal      *string `json:"other_external_account_number"`
	OtherNumber        *string `json:"other_platform_account_number"`
}

// Duplicates lists the pairs of accounts that share something that should belong to one account
// only.
func (c *Client) Duplicates(ctx context.Context, supplier string) iter.Seq2[Duplicate, error] {
	return pages[Duplicate](ctx, c, apiPath("duplicate-accounts", supplier), nil)
}

// pageSize is how many rows one request asks for.
const pageSize = 1000

// pages iterates over all pages of a list.
func pages[Row any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		next := url.Values{"limit": {strconv.Itoa(pageSize)}}
		maps.Copy(next, query)
		for next != nil {
			rows, after, err := fetchPage[Row](ctx, c, apiCall{method: http.MethodGet, path: path, query: next})
			if err != nil {
				var none Row
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			next = after
		}
	}
}

// nextLink matches the link to the next page.
var nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="next"`)

// fetchPage fetches one page and returns the query for the next one, nil on the last page.
func fetchPage[Row any](ctx context.Context, c *Client, call apiCall) (rows []Row, next url.Values, err error) {
	err = c.retry(ctx, false, func() error {
		response, err := c.send(ctx, call)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
		if err != nil {
			return err
		}
		rows, next = nil, nil
		if err := json.Unmarshal(text, &rows); err != nil {
			return fmt.Errorf("cannot parse the server's list: %w", err)
		}
		next, err = nextPage(response)
		return err
	})
	return rows, next, err
}

// nextPage returns the query for the next page, nil on the last page.
func nextPage(response *http.Response) (url.Values, error) {
	found := nextLink.FindStringSubmatch(response.Header.Get("Link"))
	if found == nil {
		return nil, nil
	}
	// Only the query is used, because the server may have another address for itself.
	target, err := url.Parse(found[1])
	if err != nil {
		return nil, fmt.Errorf("cannot parse the link to the next page: %w", err)
	}
	return target.Query(), nil
}

// Summary groups the failures of a supplier.
type Summary struct {
	Accounts int      `json:"accounts"`
	Groups   []Group  `json:"groups"`
	Repairs  []Repair `json:"repairs"`
	Note     string   `json:"note"`
}

// Group is an error and the attribute it occurs in.
type Group struct {
	Code     string `json:"code"`
	Attr     string `json:"attr"` // with * for list indexes
	Accounts int    `json:"accounts"`
	Alone    int    `json:"alone"` // without any other error
}

// Repair is a short list of groups; fixing them lets many accounts pass.
type Repair struct {
	Percent  int     `json:"percent"`
	Accounts int     `json:"accounts"`
	Groups   []Group `json:"groups"`
}

// ErrorSummary groups the failures.
func (c *Client) ErrorSummary(ctx context.Context, supplier string) (Summary, error) {
	var summary Summary
	err := c.get(ctx, apiPath("error-summary", supplier), nil, &summary)
	return summary, err
}
