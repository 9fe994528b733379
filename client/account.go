package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Document is the body of a call: JSON, or any value that can be encoded as JSON.
type Document any

// marshalDocument returns the JSON of a document, unchanged if it is JSON already.
func marshalDocument(document Document) ([]byte, error) {
	switch text := document.(type) {
	case []byte:
		return text, nil
	case json.RawMessage:
		return text, nil
	case string:
		return []byte(text), nil
	}
	return json.Marshal(document)
}

var withWarnings = url.Values{"include_warnings": {"true"}}

// post sends a document and decodes the response.
func (c *Client) post(ctx context.Context, tail []string, query url.Values, document Document, once bool, into any) (int, error) {
	body, err := marshalDocument(document)
	if err != nil {
		return 0, err
	}
	return c.do(ctx, apiCall{method: http.MethodPost, path: apiPath(tail...), query: query, body: body, once: once}, into)
}

// get decodes a response.
func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	_, err := c.do(ctx, apiCall{method: http.MethodGet, path: path, query: query}, into)
	return err
}

// Validate checks an account without storing it, and returns warnings.
func (c *Client) Validate(ctx context.Context, account Document) (warnings []Violation, err error) {
	var answer struct {
		Warnings []Violation `json:"warnings"`
	}
	_, err = c.post(ctx, []string{"validate-account"}, withWarnings, account, false, &answer)
	return answer.Warnings, err
}

// Staged is a staged account.
type Staged struct {
	Supplier string      `json:"import_supplier"`
	External string      `json:"external_account_number"`
	Warnings []Violation `json:"warnings"`
	First    bool        `json:"-"` // it was staged for the first time
}

// Stage stages an account. Staging the same content again changes nothing; other content replaces
// it until the account is created.
func (c *Client) Stage(ctx context.Context, account Document) (Staged, error) {
	var staged Staged
	status, err := c.post(ctx, []string{"account-import-process", "create-or-update"}, withWarnings, account, false, &staged)
	staged.First = status == http.StatusCreated
	return staged, err
}

// Creation asks for an account to be created from its staged data.
type Creation struct {
	Supplier string `json:"import_supplier_code"`
	External string `json:"external_account_number"`
	Team     string `json:"operations_team_name"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// Created is an account on the platform.
type Created struct {
	Number   string      `json:"platform_account_number"` // "" after a dry run
	External string      `json:"external_account_number"`
	Warnings []Violation `json:"warnings"`
}

// Process creates an account. If it already exists, the error has the code
// account_already_imported. A successful dry run returns no error, although the server reports it
// as a refusal.
func (c *Client) Process(ctx context.Context, creation Creation) (Created, error) {
	var created Created
	_, err := c.post(ctx, []string{"account-import-process", "process"}, withWarnings, creation, false, &created)
	if creation.DryRun && IsCode(err, "dry_run_rolled_back") {
		return Created{External: creation.External}, nil
	}
	return created, err
}

// Status is the state of an account.
type Status struct {
	Status string `json:"status"` // UNKNOWN, IN_PROGRESS or COMPLETED
	Number string `json:"platform_account_number"`

	State         string    `json:"state"` // STAGED, FAILED, SKIPPED, CLAIMED or IMPORTED
	Revision      int       `json:"revision"`
	StagedAt      time.Time `json:"staged_at"`
	LastFailure   *Failure  `json:"last_failure"`
	SkipReason    string    `json:"skip_reason"`
	CreatedAt     time.Time `json:"created_at"`
	Balance       string    `json:"balance"`
	Currency      string    `json:"currency"`
	LedgerEntries int       `json:"ledger_entries"`
	Notes         int       `json:"notes"`
	Statements    int       `json:"statements"`
	Fingerprint   string    `json:"fingerprint"` // of the record of a created account
}

// Failure is why an account was refused or could not be created.
type Failure struct {
	External   string      `json:"external_account_number"` // in lists
	At         string      `json:"at"`                      // in lists: STAGING, PROCESS, DRY_RUN, NOTES, TRANSACTIONS, STATEMENTS or PAYMENT_INSTRUCTION
	FailedAt   time.Time   `json:"failed_at"`
	DryRun     bool        `json:"dry_run"`
	Code       string      `json:"code"`
	Detail     string      `json:"detail"`
	Violations []Violation `json:"errors"`
}

// Status returns the state of an account with all details.
func (c *Client) Status(ctx context.Context, supplier, external string) (Status, error) {
	var status Status
	err := c.get(ctx, apiPath("account-transfer-status", supplier, external), url.Values{"detail": {"true"}}, &status)
	return status, err
}
