package client

import (
	"context"
	"encoding/json"
)

// RuleBook is every rule and every code that there is.
type RuleBook struct {
	Rules []Rule `json:"rules"`
	Codes []Code `json:"codes"`
}

// Rule is a check between fields.
type Rule struct {
	Code     string `json:"code"`
	Where    string `json:"where"`
	Severity string `json:"severity"` // error, warning or off, unless the operator says otherwise
	Meaning  string `json:"meaning"`
}

// Code is what an answer can carry.
type Code struct {
	Code     string `json:"code"`
	Status   []int  `json:"status"`
	Where    string `json:"where"`
	Severity string `json:"severity"`
	Meaning  string `json:"meaning"`
}

// Rules gives the rule book and the catalogue of codes.
func (c *Client) Rules(ctx context.Context) (RuleBook, error) {
	var found RuleBook
	err := c.get(ctx, apiPath("rules"), nil, &found)
	return found, err
}

// OpenAPI gives the description of the API that the server speaks.
func (c *Client) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	var document json.RawMessage
	err := c.get(ctx, "/openapi.json", nil, &document)
	return document, err
}

// Alive asks whether the server answers at all. Nothing is repeated.
func (c *Client) Alive(ctx context.Context) error { return c.probe(ctx, "/healthz") }

// Ready asks whether the server takes requests: it does not while it begins,
// ends, or its database is away. Nothing is repeated.
func (c *Client) Ready(ctx context.Context) error { return c.probe(ctx, "/readyz") }

// probe needs no token, so that a wrong key is not taken for a server that is
// away.
func (c *Client) probe(ctx context.Context, path string) error {
	request, err := c.request(ctx, apiCall{method: "GET", path: path}, "")
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return readError(response)
	}
	return response.Body.Close()
}
