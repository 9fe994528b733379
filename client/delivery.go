package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Delivery is what a target was sent about an account.
type Delivery struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	TargetID string `json:"target_id"`
}

// ConfirmDelivery confirms a delivery that a target accepted as pending. The target's own identifier
// of the account may be empty.
func (c *Client) ConfirmDelivery(ctx context.Context, id, targetID string) (Delivery, error) {
	body := map[string]string{}
	if targetID != "" {
		body["target_id"] = targetID
	}
	return c.settleDelivery(ctx, id, "confirm", body)
}

// RefuseDelivery refuses a delivery that a target accepted as pending.
func (c *Client) RefuseDelivery(ctx context.Context, id, reason string) (Delivery, error) {
	return c.settleDelivery(ctx, id, "refuse", map[string]string{"reason": reason})
}

func (c *Client) settleDelivery(ctx context.Context, id, verb string, body map[string]string) (Delivery, error) {
	var found Delivery
	text, err := json.Marshal(body)
	if err != nil {
		return found, err
	}
	_, err = c.do(ctx, apiCall{method: http.MethodPost, path: apiPath("deliveries", id, verb), body: text}, &found)
	return found, err
}
