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

// All lists every account of a supplier in the order of first staging. Pages
// are fetched as they are needed, and fetched again when the network fails.
func (c *Client) All(ctx context.Context, supplier string) iter.Seq2[Entry, error] {
	return pages[Entry](ctx, c, apiPath("all-account-import-processes", supplier), nil)
}

// Pending lists the accounts that are not created yet.
func (c *Client) Pending(ctx context.Context, supplier string) iter.Seq2[Entry, error] {
	return pages[Entry](ctx, c, apiPath("pending-account-import-processes", supplier), nil)
}

// Imported lists the accounts that are created.
func (c *Client) Imported(ctx context.Context, supplier string) iter.Seq2[Entry, error] {
	return pages[Entry](ctx, c, apiPath("imported-account-import-processes", supplier), nil)
}

// FiguredEntry is an imported account with what it comes to.
type FiguredEntry struct {
	Entry
	Balance       string `json:"balance"` // positive when the customer is in credit
	Currency      string `json:"currency"`
	LedgerEntries int    `json:"ledger_entries"`
	Notes         int    `json:"notes"`
	Statements    int    `json:"statements"`
}

// ImportedFigures lists the accounts that are created with what each comes to:
// enough to prove a migration without asking for every account.
func (c *Client) ImportedFigures(ctx context.Context, supplier string) iter.Seq2[FiguredEntry, error] {
	return pages[FiguredEntry](ctx, c, apiPath("imported-account-import-processes", supplier), url.Values{"detail": {"true"}})
}

// Failures lists every account that does not get on, and why.
func (c *Client) Failures(ctx context.Context, supplier string) iter.Seq2[Failure, error] {
	return pages[Failure](ctx, c, apiPath("failed-account-import-processes", supplier), nil)
}

// pageSize is how many rows one request asks for: a second's worth at most.
const pageSize = 1000

// pages follows a list from page to page.
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

// nextLink finds the way to the next page.
var nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="next"`)

// fetchPage reads one page and the query that leads to the next, nil on the last.
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
			return fmt.Errorf("the server's list cannot be read: %w", err)
		}
		if found := nextLink.FindStringSubmatch(response.Header.Get("Link")); found != nil {
			// Only its query is taken: the address is the one we were given.
			target, err := url.Parse(found[1])
			if err != nil {
				return fmt.Errorf("the server's next page cannot be read: %w", err)
			}
			next = target.Query()
		}
		return nil
	})
	return rows, next, err
}

// Summary says what keeps accounts back.
type Summary struct {
	Accounts int      `json:"accounts"`
	Groups   []Group  `json:"groups"`
	Repairs  []Repair `json:"repairs"`
	Note     string   `json:"note"`
}

// Group is a mistake at a place.
type Group struct {
	Code     string `json:"code"`
	Attr     string `json:"attr"` // with * for any number
	Accounts int    `json:"accounts"`
	Alone    int    `json:"alone"` // have nothing else wrong
}

// Repair is a short list of groups whose repair frees many accounts.
type Repair struct {
	Percent  int     `json:"percent"`
	Accounts int     `json:"accounts"`
	Groups   []Group `json:"groups"`
}

// ErrorSummary groups what Failures lists.
func (c *Client) ErrorSummary(ctx context.Context, supplier string) (Summary, error) {
	var summary Summary
	err := c.get(ctx, apiPath("error-summary", supplier), nil, &summary)
	return summary, err
}
