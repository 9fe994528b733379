package client

import (
	"context"
	"encoding/json"
	"net/url"
)

// RuleBook lists all rules and codes.
type RuleBook struct {
	Rules []Rule `json:"rules"`
	Codes []Code `json:"codes"`
}

// Rule is a cross-field rule.
type Rule struct {
	Code     string `json:"code"`
	Where    string `json:"where"`
	Severity string `json:"severity"` // error, warning or off, unless the operator changed it
	Meaning  string `json:"meaning"`
}

// Code is an error or warning code.
type Code struct {
	Code     string `json:"code"`
	Status   []int  `json:"status"`
	Where    string `json:"where"`
	Severity string `json:"severity"`
	Meaning  string `json:"meaning"`
}

// Rules returns all rules and codes.
func (c *Client) Rules(ctx context.Context) (RuleBook, error) {
	var found RuleBook
	err := c.get(ctx, apiPath("rules"), nil, &found)
	return found, err
}

// OpenAPI returns the API description of the server.
func (c *Client) OpenAPI(ctx context.Context) (json.RawMessage, error) {
	var document json.RawMessage
	err := c.get(ctx, "/openapi.json", nil, &document)
	return document, err
}

// SupplierOpenAPI returns the API description with the fields of a supplier's packs.
// Its member x-import-supplier says, among other things, which of the given documents are missing.
func (c *Client) SupplierOpenAPI(ctx context.Context, supplier string, documents ...string) (json.RawMessage, error) {
	var document json.RawMessage
	err := c.get(ctx, "/v1/openapi.json", url.Values{"import_supplier_code": {supplier}, "document": documents}, &document)
	return document, err
}

// Alive checks whether the server responds, without retries.
func (c *Client) Alive(ctx context.Context) error { return c.probe(ctx, "/healthz") }

// Ready checks whether the server accepts requests, without retries. It does not while starting,
// while stopping, or without its database.
func (c *Client) Ready(ctx context.Context) error { return c.probe(ctx, "/readyz") }

// probe needs no token, so that a wrong key does not look like an unreachable server.
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
