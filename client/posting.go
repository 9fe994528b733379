package client

import (
	"context"
	"encoding/json"
	"net/url"
)

// PostedNote is the result of adding a note.
type PostedNote struct {
	Status      string   `json:"status"` // NOTE_CREATION_SUCCESS or NOTE_ALREADY_EXISTS
	Body        string   `json:"body"`
	ExternalID  string   `json:"external_id"`
	Differences []string `json:"differences"` // fields that differ on the account
}

// AddNotes adds notes to a created account. The document has import_supplier,
// external_account_number and notes. Existing notes are not added again.
func (c *Client) AddNotes(ctx context.Context, notes Document) ([]PostedNote, error) {
	var posted []PostedNote
	_, err := c.post(ctx, []string{"notes", "create"}, nil, notes, false, &posted)
	return posted, err
}

// TransactionOptions says how transactions are added.
type TransactionOptions struct {
	// UncheckedIDs adds transactions even if their identifiers already exist. A retry would add
	// them again, so there is none.
	UncheckedIDs bool
	// OpenPeriodOnly refuses transactions dated outside the open statement period. Otherwise they
	// are moved into it, and a note on the account says so.
	OpenPeriodOnly bool
	// DryRun only says what would be added.
	DryRun bool
}

func (o TransactionOptions) query() url.Values {
	query := url.Values{}
	if o.UncheckedIDs {
		query.Set("check_previously_added", "false")
	}
	if o.OpenPeriodOnly {
		query.Set("force_add_to_current_statement", "false")
	}
	if o.DryRun {
		query.Set("dry_run", "true")
	}
	return query
}

// PostedTransaction is the result of adding a transaction.
type PostedTransaction struct {
	Status      string          `json:"status"` // TRANSACTION_ADDED_TO_ACCOUNT or TRANSACTION_ALREADY_EXISTS
	Transaction json.RawMessage `json:"transaction_data"`
	Differences []string        `json:"differences"`
}

// AddTransactions adds transactions to a created account, all or none.
func (c *Client) AddTransactions(ctx context.Context, transactions Document, options TransactionOptions) ([]PostedTransaction, error) {
	var answer struct {
		Results []PostedTransaction `json:"results"`
	}
	_, err := c.post(ctx, []string{"transactions", "create"}, options.query(), transactions, options.UncheckedIDs, &answer)
	return answer.Results, err
}

// AddStatements adds historical statements to a created account.
func (c *Client) AddStatements(ctx context.Context, statements Document) error {
	_, err := c.post(ctx, []string{"historical-statements", "create"}, nil, statements, false, nil)
	return err
}

// AddInstruction adds a payment instruction to a created account, if its vendor knows it.
func (c *Client) AddInstruction(ctx context.Context, instruction Document) error {
	_, err := c.post(ctx, []string{"payment-instruction", "create"}, nil, instruction, false, nil)
	return err
}
