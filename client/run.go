package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// RunPlan describes a run, in which the server creates staged accounts.
type RunPlan struct {
	Supplier  string     `json:"import_supplier_code"`
	Team      string     `json:"operations_team_name"`
	DryRun    bool       `json:"dry_run,omitempty"`
	Select    Selection  `json:"select,omitzero"`
	Sample    int        `json:"sample,omitempty"` // every Nth
	Limit     int        `json:"limit,omitempty"`
	AtOnce    int        `json:"at_once,omitempty"`
	NotBefore *time.Time `json:"not_before,omitempty"`
	NotAfter  *time.Time `json:"not_after,omitempty"`
}

// Selection is which of a supplier's staged accounts a run takes. All conditions must hold; the zero
// value selects all staged accounts.
type Selection struct {
	State    string   `json:"state,omitempty"`    // pending, failed or untried; pending when empty
	Delivery string   `json:"delivery,omitempty"` // only accounts staged by it
	Accounts []string `json:"accounts,omitempty"` // only these external account numbers; at most 100,000
	Codes    []string `json:"codes,omitempty"`    // only accounts that last failed with one of these codes
	// AccountCount is how many Accounts a run was started with. Runs do not repeat them.
	AccountCount int `json:"account_count,omitempty"`
}

// IsZero reports whether the selection is the default.
func (s Selection) IsZero() bool {
	return s.State == "" && s.Delivery == "" && len(s.Accounts) == 0 && len(s.Codes) == 0 && s.AccountCount == 0
}

// selectionObject has the JSON form of an object.
type selectionObject Selection

// MarshalJSON writes a text if there is only a state.
func (s Selection) MarshalJSON() ([]byte, error) {
	rest := s
	if rest.State = ""; rest.IsZero() {
		return json.Marshal(s.State)
	}
	return json.Marshal(selectionObject(s))
}

// UnmarshalJSON reads both forms.
func (s *Selection) UnmarshalJSON(text []byte) error {
	*s = Selection{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &s.State)
	}
	return json.Unmarshal(text, (*selectionObject)(s))
}

// Run is a run and its progress.
type Run struct {
	RunPlan
	ID                string     `json:"id"`
	State             string     `json:"state"`  // WAITING, RUNNING, PAUSED, FINISHED or CANCELLED
	Reason            string     `json:"reason"` // why it is paused or about to be
	Selected          int        `json:"selected"`
	Succeeded         int        `json:"succeeded"`
	Failed            int        `json:"failed"`
	Refused           int        `json:"refused"` // processed by others, or skipped meanwhile
	Remaining         int        `json:"remaining"`
	AccountsPerSecond float64    `json:"accounts_per_second"`
	ExpectedEnd       *time.Time `json:"expected_end"`
	CreatedAt         time.Time  `json:"created_at"`
	StartedAt         *time.Time `json:"started_at"`
	EndedAt           *time.Time `json:"ended_at"`
	CreatedBy         string     `json:"created_by"`
	Estimate          *Estimate  `json:"estimate"` // from a sample
}

// Estimate is what a sample says about all accounts.
type Estimate struct {
	Share float64 `json:"share"` // that passes
	Low   float64 `json:"low"`   // of the 95 % confidence interval
	High  float64 `json:"high"`
}

// Ended reports whether the run is over.
func (r Run) Ended() bool { return r.State == "FINISHED" || r.State == "CANCELLED" }

// StartRun starts a run. A supplier has at most one live run; otherwise the error is
// run_already_active and [ActiveRun] returns its ID.
func (c *Client) StartRun(ctx context.Context, plan RunPlan) (Run, error) {
	var run Run
	_, err := c.post(ctx, []string{"runs"}, nil, plan, false, &run)
	return run, err
}

// ActiveRun returns the ID of the run that prevents a new one.
func ActiveRun(err error) (id string, is bool) {
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Code != "run_already_active" {
		return "", false
	}
	var body struct {
		ID string `json:"id"`
	}
	return body.ID, json.Unmarshal(refusal.Body, &body) == nil && body.ID != ""
}

// Run returns a run and its progress.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	var run Run
	err := c.get(ctx, apiPath("runs", id), nil, &run)
	return run, err
}

// Runs lists the runs of a supplier, newest first.
func (c *Client) Runs(ctx context.Context, supplier string) iter.Seq2[Run, error] {
	return pages[Run](ctx, c, apiPath("runs"), url.Values{"import_supplier_code": {supplier}})
}

// PauseRun finishes what is being created and then pauses the run.
func (c *Client) PauseRun(ctx context.Context, id string) (Run, error) {
	return c.changeRun(ctx, id, "pause")
}

// ResumeRun resumes a paused run.
func (c *Client) ResumeRun(ctx context.Context, id string) (Run, error) {
	return c.changeRun(ctx, id, "resume")
}

// CancelRun finishes what is being created and ends the run.
func (c *Client) CancelRun(ctx context.Context, id string) (Run, error) {
	return c.changeRun(ctx, id, "cancel")
}

func (c *Client) changeRun(ctx context.Context, id, verb string) (Run, error) {
	var run Run
	_, err := c.do(ctx, apiCall{method: http.MethodPost, path: apiPath("runs", id, verb)}, &run)
	return run, err
}

// RunFailures lists the accounts that failed in a run.
func (c *Client) RunFailures(ctx context.Context, id string) iter.Seq2[Failure, error] {
	return pages[Failure](ctx, c, apiPath("runs", id, "failures"), nil)
}
