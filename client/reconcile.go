package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// SetControlTotals tells what the source says it has, for the reconciliation.
func (c *Client) SetControlTotals(ctx context.Context, supplier string, totals Document) error {
	body, err := written(totals)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, call{method: http.MethodPut, path: apiPath("control-totals", supplier), body: body}, nil)
	return err
}

// ControlTotals gives what was told last, and by whom.
func (c *Client) ControlTotals(ctx context.Context, supplier string) (json.RawMessage, error) {
	var totals json.RawMessage
	err := c.get(ctx, apiPath("control-totals", supplier), nil, &totals)
	return totals, err
}

// Reconciliation compares what the source says it has with what is staged and
// created.
func (c *Client) Reconciliation(ctx context.Context, supplier string) (json.RawMessage, error) {
	var rows json.RawMessage
	err := c.get(ctx, apiPath("reconciliation", supplier), nil, &rows)
	return rows, err
}
