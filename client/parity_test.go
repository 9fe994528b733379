package client_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"landfall/client"
)

// methods maps each call of the API to a method of the client. When you add a
// call to the API, add it here and to the client.
var methods = map[string]func(context.Context, *client.Client) error{
	"POST /v1/data-import/validate-account/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Validate(ctx, `{}`)
		return err
	},
	"POST /v1/data-import/account-import-process/create-or-update/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Stage(ctx, `{}`)
		return err
	},
	"POST /v1/data-import/account-import-process/process/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Process(ctx, client.Creation{})
		return err
	},
	"POST /v1/data-import/notes/create/": func(ctx context.Context, c *client.Client) error {
		_, err := c.AddNotes(ctx, `{}`)
		return err
	},
	"POST /v1/data-import/transactions/create/": func(ctx context.Context, c *client.Client) error {
		_, err := c.AddTransactions(ctx, `{}`, client.TransactionOptions{})
		return err
	},
	"POST /v1/data-import/historical-statements/create/": func(ctx context.Context, c *client.Client) error { return c.AddStatements(ctx, `{}`) },
	"POST /v1/data-import/payment-instruction/create/":   func(ctx context.Context, c *client.Client) error { return c.AddInstruction(ctx, `{}`) },

	"POST /v1/data-import/bulk/validate-account/": func(ctx context.Context, c *client.Client) error {
		return first(c.ValidateAll(ctx, client.Documents([]string{`{}`})))
	},
	"POST /v1/data-import/bulk/account-import-process/create-or-update/": func(ctx context.Context, c *client.Client) error {
		return first(c.StageAll(ctx, client.Documents([]string{`{}`})))
	},
	"POST /v1/data-import/bulk/account-import-process/process/": func(ctx context.Context, c *client.Client) error {
		return first(c.ProcessAll(ctx, client.Documents([]client.Creation{{}})))
	},
	"POST /v1/data-import/bulk/notes/create/": func(ctx context.Context, c *client.Client) error {
		return first(c.AddNotesAll(ctx, client.Documents([]string{`{}`})))
	},
	"POST /v1/data-import/bulk/transactions/create/": func(ctx context.Context, c *client.Client) error {
		return first(c.AddTransactionsAll(ctx, client.Documents([]string{`{}`}), client.TransactionOptions{}))
	},
	"POST /v1/data-import/bulk/historical-statements/create/": func(ctx context.Context, c *client.Client) error {
		return first(c.AddStatementsAll(ctx, client.Documents([]string{`{}`})))
	},
	"POST /v1/data-import/bulk/payment-instruction/create/": func(ctx context.Context, c *client.Client) error {
		return first(c.AddInstructionsAll(ctx, client.Documents([]string{`{}`})))
	},

	"GET /v1/data-import/account-transfer-status/{}/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Status(ctx, "x", "x")
		return err
	},
	"GET /v1/data-import/accounts/{}/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Account(ctx, "x", "x")
		return err
	},
	"GET /v1/data-import/accounts/{}/": func(ctx context.Context, c *client.Client) error {
		return first(c.Accounts(ctx, "x", client.AccountQuery{}))
	},
	"GET /v1/data-import/all-account-import-processes/{}/":      func(ctx context.Context, c *client.Client) error { return first(c.All(ctx, "x")) },
	"GET /v1/data-import/pending-account-import-processes/{}/":  func(ctx context.Context, c *client.Client) error { return first(c.Pending(ctx, "x")) },
	"GET /v1/data-import/imported-account-import-processes/{}/": func(ctx context.Context, c *client.Client) error { return first(c.ImportedFigures(ctx, "x")) },
	"GET /v1/data-import/failed-account-import-processes/{}/":   func(ctx context.Context, c *client.Client) error { return first(c.Failures(ctx, "x")) },
	"GET /v1/data-import/error-summary/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.ErrorSummary(ctx, "x")
		return err
	},
	"GET /v1/data-import/events/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Events(ctx, client.EventQuery{})
		return err
	},
	"GET /v1/data-import/event-schemas/": func(ctx context.Context, c *client.Client) error {
		_, err := c.EventTypes(ctx)
		return err
	},
	"GET /v1/data-import/event-schemas/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.EventSchema(ctx, "x")
		return err
	},
	"PUT /v1/data-import/control-totals/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetControlTotals(ctx, "x", client.ControlTotals{})
		return err
	},
	"GET /v1/data-import/control-totals/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.ControlTotals(ctx, "x")
		return err
	},
	"GET /v1/data-import/reconciliation/{}/sign-offs/": func(ctx context.Context, c *client.Client) error {
		_, err := c.SignOffs(ctx, "x")
		return err
	},
	"GET /v1/data-import/reconciliation/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Reconciliation(ctx, "x")
		return err
	},
	"GET /v1/data-import/rules/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Rules(ctx)
		return err
	},
	"POST /v1/data-import/runs/": func(ctx context.Context, c *client.Client) error {
		_, err := c.StartRun(ctx, client.RunPlan{})
		return err
	},
	"GET /v1/data-import/runs/": func(ctx context.Context, c *client.Client) error { return first(c.Runs(ctx, "x")) },
	"GET /v1/data-import/runs/{}/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Run(ctx, "x")
		return err
	},
	"POST /v1/data-import/runs/{}/pause/": func(ctx context.Context, c *client.Client) error {
		_, err := c.PauseRun(ctx, "x")
		return err
	},
	"POST /v1/data-import/runs/{}/resume/": func(ctx context.Context, c *client.Client) error {
		_, err := c.ResumeRun(ctx, "x")
		return err
	},
	"POST /v1/data-import/runs/{}/cancel/": func(ctx context.Context, c *client.Client) error {
		_, err := c.CancelRun(ctx, "x")
		return err
	},
	"GET /v1/data-import/runs/{}/failures/": func(ctx context.Context, c *client.Client) error { return first(c.RunFailures(ctx, "x")) },
	"POST /v1/data-import/deliveries/{}/confirm/": func(ctx context.Context, c *client.Client) error {
		_, err := c.ConfirmDelivery(ctx, "x", "T-1")
		return err
	},
	"POST /v1/data-import/deliveries/{}/refuse/": func(ctx context.Context, c *client.Client) error {
		_, err := c.RefuseDelivery(ctx, "x", "unknown tariff")
		return err
	},
	"GET /v1/data-import/duplicate-accounts/{}/": func(ctx context.Context, c *client.Client) error { return first(c.Duplicates(ctx, "x")) },
	"POST /v1/graphql/": func(ctx context.Context, c *client.Client) error {
		_, err := c.Token(ctx)
		return err
	},
	"GET /healthz": func(ctx context.Context, c *client.Client) error { return c.Alive(ctx) },
	"GET /readyz":  func(ctx context.Context, c *client.Client) error { return c.Ready(ctx) },
	"GET /v1/openapi.json": func(ctx context.Context, c *client.Client) error {
		_, err := c.SupplierOpenAPI(ctx, "S")
		return err
	},
	"GET /openapi.json": func(ctx context.Context, c *client.Client) error {
		_, err := c.OpenAPI(ctx)
		return err
	},
}

// unneeded are calls without a method, with the reason.
var unneeded = map[string]string{
	"GET /v1/graphql/": "GraphQL by GET reads the schema; tokens are obtained by POST",
}

func first[T any](rows iter.Seq2[T, error]) error {
	for _, err := range rows {
		return err
	}
	return nil
}

// TestEveryCallHasAMethod compares the client with the API description, and every method with the
// request it makes.
func TestEveryCallHasAMethod(t *testing.T) {
	text, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	value := regexp.MustCompile(`\{[a-z_]+\}`)
	known := map[string]bool{}
	for path, operations := range described.Paths {
		for method := range operations {
			name := strings.ToUpper(method) + " " + value.ReplaceAllString(path, "{}")
			known[name] = true
			if methods[name] == nil && unneeded[name] == "" {
				t.Errorf("%s has no method", name)
			}
		}
	}
	for name, call := range methods {
		if !known[name] {
			t.Errorf("%s is no call of the API", name)
			continue
		}
		var made []string
		c := answering(t, func(r *http.Request) { made = append(made, r.Method+" "+r.URL.Path) })
		_ = call(t.Context(), c) // not every method accepts an empty answer
		if len(made) == 0 || made[len(made)-1] != strings.ReplaceAll(name, "{}", "x") {
			t.Errorf("%s is made as %q", name, made)
		}
	}
}

// answering returns a client of a server that reports every request and responds with nothing.
func answering(t *testing.T, hear func(*http.Request)) *client.Client {
	t.Helper()
	c, err := client.New("https://landfall.invalid", client.WithKey("key"), client.WithRetryTime(0), client.WithHTTP(&http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			hear(r)
			body := `{}`
			switch {
			case r.URL.Path == "/v1/graphql/":
				body = `{"data":{"obtainServiceToken":{"token":"t","expiresIn":3600}}}`
			case strings.Contains(r.URL.Path, "/bulk/"):
				body = `{"summary":{"lines":0,"complete":true}}` + "\n"
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
		}),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
