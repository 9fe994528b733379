package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Account is a whole account: its record and what the server holds now.
type Account struct {
	Supplier    string          `json:"import_supplier"`
	External    string          `json:"external_account_number"`
	Number      string          `json:"platform_account_number"`
	CreatedAt   time.Time       `json:"created_at"`
	Revision    int             `json:"revision"`
	Fingerprint string          `json:"fingerprint"` // "" when the record was erased
	Data        json.RawMessage `json:"data"`        // the account object as accepted; null when it was erased
	ErasedAt    time.Time       `json:"erased_at"`   // zero: it was not
	Balance     string          `json:"balance"`     // positive when the customer is in credit
	Currency    string          `json:"currency"`
	OpenPeriod  struct {
		From string `json:"from_date"`
	} `json:"open_period"`
	Delivery     string               `json:"delivery"` // NONE: it has no target
	Ledger       []LedgerEntry        `json:"ledger"`
	Notes        []AccountNote        `json:"notes"`
	Statements   []AccountStatement   `json:"statements"`
	Instructions []AccountInstruction `json:"payment_instructions"`
}

// LedgerEntry is one change of the balance of an account.
type LedgerEntry struct {
	Sequence    int             `json:"sequence"`
	Kind        string          `json:"kind"` // OPENING or TRANSACTION
	Closed      bool            `json:"closed"`
	Date        string          `json:"date"`
	Amount      string          `json:"amount"` // positive in the customer's favour
	Balance     string          `json:"balance"`
	Transaction json.RawMessage `json:"transaction"` // null for an opening entry
}

// AccountNote is a note on an account.
type AccountNote struct {
	CreatedAt time.Time `json:"created_at"`
	Body      string    `json:"body"`
	Documents []struct {
		Path string `json:"document_path"`
	} `json:"document_paths"`
	Pinned  bool      `json:"is_pinned"`
	UnpinAt time.Time `json:"unpin_at"`

	ExternalID string          `json:"external_id"`
	PackFields json.RawMessage `json:"pack_fields"` // of the supplier's packs, as sent
}

// AccountStatement is a historical statement of an account.
type AccountStatement struct {
	ID          string `json:"statement_id"`
	From        string `json:"bill_period_from_date"`
	To          string `json:"bill_period_to_date"`
	Issued      string `json:"issued_date"`
	Number      string `json:"number"`
	GrossAmount string `json:"gross_amount"`
	SentAmount  string `json:"gross_amount_sent,omitempty"` // as it was sent, if in minor units; "" otherwise
	Path        string `json:"statement_path"`

	PackFields json.RawMessage `json:"pack_fields"` // of the supplier's packs, as sent
}

// AccountInstruction is a payment instruction of an account, with what its vendor reported.
type AccountInstruction struct {
	Vendor       string `json:"vendor"`
	Reference    string `json:"reference"`
	Type         string `json:"type"`
	ValidFrom    string `json:"valid_from"`
	ForSchedules bool   `json:"use_for_scheduled_payments"`
	Status       string `json:"status"`
	Scheme       string `json:"scheme"`
	LastDigits   string `json:"last_digits"`
	Expiry       string `json:"expiry"`
}

// Account returns one whole account. It needs an API key with the role reader.
func (c *Client) Account(ctx context.Context, supplier, external string) (Account, error) {
	var account Account
	err := c.get(ctx, apiPath("accounts", supplier, external), nil, &account)
	return account, err
}

// AccountQuery selects whole accounts.
type AccountQuery struct {
	// ChangedSince is a cursor of the event feed: only accounts with events after it. "" means all.
	ChangedSince string
	// After is where a page of AccountLines starts. "" means the beginning. Accounts ignores it.
	After string
	// Limit is the number of accounts of a page of AccountLines. Accounts ignores it.
	Limit int
	// NoFingerprints leaves the fingerprints out, which is faster.
	NoFingerprints bool
	// Reason is why you read the accounts, for the server's audit.
	Reason string
}

// values returns the query of a request.
func (q AccountQuery) values() url.Values {
	values := url.Values{}
	for name, text := range map[string]string{"changed_since": q.ChangedSince, "after": q.After, "reason": q.Reason} {
		if text != "" {
			values.Set(name, text)
		}
	}
	if q.NoFingerprints {
		values.Set("fingerprint", "false")
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values
}

// AccountLines is a page of whole accounts as the server sends it: one JSON object per line. Read it
// to its end and close it. A page that is cut off ends with an error and not with io.EOF.
type AccountLines struct {
	io.ReadCloser
	Next   string // After of the next page; "" on the last one
	Cursor string // ChangedSince to read only what happens after this page was requested
}

// AccountLines requests a page of whole accounts without decoding it, for fast copies. It needs an
// API key with the role reader.
func (c *Client) AccountLines(ctx context.Context, supplier string, query AccountQuery) (*AccountLines, error) {
	var lines *AccountLines
	err := c.retry(ctx, false, func() error {
		response, err := c.send(ctx, apiCall{method: http.MethodGet, path: apiPath("accounts", supplier), query: query.values()})
		if err != nil {
			return err
		}
		next, err := nextPage(response)
		if err != nil {
			return errors.Join(err, response.Body.Close())
		}
		lines = &AccountLines{ReadCloser: response.Body, Next: next.Get("after"), Cursor: response.Header.Get("Landfall-Cursor")}
		return nil
	})
	return lines, err
}

// accountsError says what could not be read.
func accountsError(err error) error { return fmt.Errorf("cannot read the server's accounts: %w", err) }

// pageError says that a page of whole accounts ended early.
type pageError struct{ error }

func (e pageError) Unwrap() error { return e.error }

// accountPage is how many whole accounts one request asks for.
const accountPage = 500

// Accounts streams the whole accounts of a supplier in the order of first staging. It needs an API
// key with the role reader. Pages are requested as needed; a page that is cut off is requested
// again.
func (c *Client) Accounts(ctx context.Context, supplier string, query AccountQuery) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		for text, err := range c.AccountTexts(ctx, supplier, query) {
			if err != nil {
				yield(Account{}, err)
				return
			}
			var account Account
			if err := json.Unmarshal(text, &account); err != nil {
				yield(Account{}, accountsError(err))
				return
			}
			if !yield(account, nil) {
				return
			}
		}
	}
}

// AccountTexts streams whole accounts like Accounts, each as the JSON object that the server sent, for
// callers that decode on several cores or not at all.
func (c *Client) AccountTexts(ctx context.Context, supplier string, query AccountQuery) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		query.After, query.Limit = "", accountPage
		next, last := query.values(), json.RawMessage(nil)
		for next != nil {
			taken, ended := 0, false
			early, before := 0, -1
			following := url.Values(nil)
			err := c.retry(ctx, false, func() (err error) {
				following, err = c.readAccounts(ctx, apiCall{method: http.MethodGet, path: apiPath("accounts", supplier), query: next},
					taken, func(text json.RawMessage) bool {
						taken, last = taken+1, text
						ended = !yield(text, nil)
						return !ended
					})
				if cut, is := errors.AsType[pageError](err); is {
					if taken != before {
						early, before = 0, taken
					}
					if early++; early == MaxEarlyEnds {
						return &EndedEarlyError{Behind: ExternalNumber(last), Err: cut.error}
					}
				}
				return err
			})
			if ended {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			next = following
		}
	}
}

// accountBuffer is how much of a page is read at once.
const accountBuffer = 64 << 10

// readAccounts reads one page line by line, without the accounts that were read before, and returns
// the query for the next page, nil on the last one.
func (c *Client) readAccounts(ctx context.Context, call apiCall, skip int, each func(json.RawMessage) bool) (next url.Values, err error) {
	response, err := c.send(ctx, call)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, accountBuffer)
	for i := 0; ; i++ {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nextPage(response)
		case errors.Is(err, io.EOF):
			// HTTP reports a page that was cut off. This holds even if a proxy on the way hides it.
			return nil, pageError{accountsError(io.ErrUnexpectedEOF)}
		case err != nil:
			return nil, pageError{accountsError(err)}
		}
		if i >= skip && !each(line[:len(line)-1]) {
			return nil, nil
		}
	}
}
