package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"landfall/client"
)

// newExampleClient returns a client of a server with fixed responses.
func newExampleClient(known map[string]string) (*client.Client, func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, found := known[r.Method+" "+r.URL.Path]
		switch {
		case r.URL.Path == "/v1/graphql/":
			answer = `{"data":{"obtainServiceToken":{"token":"t","expiresIn":3600}}}`
		case !found:
			w.WriteHeader(http.StatusNotFound)
			answer = `{"code":"account_not_found","detail":"There is no account for this import supplier and external account number.","errors":[]}`
		}
		fmt.Fprint(w, answer)
	}))
	landfall, err := client.New(server.URL, client.WithKey("key"))
	if err != nil {
		log.Fatal(err)
	}
	return landfall, server.Close
}

// Get the state of an account. Refusals have different codes.
func ExampleClient_Status() {
	landfall, done := newExampleClient(map[string]string{
		"GET /v1/data-import/account-transfer-status/NORTH/1001/": `{"status":"COMPLETED","platform_account_number":"A-7XK2M9QT","state":"IMPORTED","balance":"12.50","currency":"GBP"}`,
	})
	defer done()
	for _, external := range []string{"1001", "1002"} {
		status, err := landfall.Status(context.Background(), "NORTH", external)
		switch {
		case client.IsCode(err, "account_not_found"):
			fmt.Println(external, "was never sent")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(external, status.State, status.Number, status.Balance, status.Currency)
		}
	}
	// Output:
	// 1001 IMPORTED A-7XK2M9QT 12.50 GBP
	// 1002 was never sent
}

// Stage accounts from a list in one request; each has its own outcome.
func ExampleClient_StageAll() {
	server := pretended()
	defer server.Close()
	landfall, err := client.New(server.URL, client.WithKey("key"))
	if err != nil {
		log.Fatal(err)
	}
	accounts := []map[string]any{
		{"import_supplier": "NORTH", "external_account_number": "1", "customers": []any{map[string]any{}}},
		{"import_supplier": "NORTH", "external_account_number": "2", "customers": []any{map[string]any{}}},
	}
	for outcome, err := range landfall.StageAll(context.Background(), client.Documents(accounts)) {
		if err != nil {
			log.Fatal(err) // the request itself: see ErrCutOff and StoppedError
		}
		fmt.Println(outcome.Line, outcome.Value.External, outcome.Err)
	}
	// Output:
	// 1 1 <nil>
	// 2 2 <nil>
}

// Let the server create all staged accounts, and print the result.
func ExampleClient_StartRun() {
	landfall, done := newExampleClient(map[string]string{
		"POST /v1/data-import/runs/":             `{"id":"R-1","state":"WAITING"}`,
		"GET /v1/data-import/runs/R-1/":          `{"id":"R-1","state":"FINISHED","selected":3,"succeeded":2,"failed":1}`,
		"GET /v1/data-import/runs/R-1/failures/": `[{"external_account_number":"7","code":"account_failed_validation","errors":[{"code":"required","attr":"customers"}]}]`,
	})
	defer done()
	ctx := context.Background()
	run, err := landfall.StartRun(ctx, client.RunPlan{Supplier: "NORTH", Team: "Migration Team"})
	if id, active := client.ActiveRun(err); active {
		run, err = landfall.Run(ctx, id) // a run is already active: watch that one
	}
	for err == nil && !run.Ended() {
		run, err = landfall.Run(ctx, run.ID) // a real program waits a second between two calls
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.State, run.Succeeded, "of", run.Selected)
	for failed, err := range landfall.RunFailures(ctx, run.ID) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(failed.External, failed.Violations[0].Attr, failed.Violations[0].Code)
	}
	// Output:
	// FINISHED 2 of 3
	// 7 customers required
}

// Read the feed of events, and store the cursor with the processed events.
func ExampleClient_Follow() {
	landfall, done := newExampleClient(map[string]string{
		"GET /v1/data-import/events/": `{"events":[{"id":"1-a","type":"account_import.completed","subject":"NORTH/1001"}],"next":"c1"}`,
	})
	defer done()
	for page, err := range landfall.Follow(context.Background(), client.EventQuery{Supplier: "NORTH"}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, event := range page.Events {
			fmt.Println(event.Type, event.Subject)
		}
		fmt.Println("go on behind", page.Next)
		break // a real reader continues
	}
	// Output:
	// account_import.completed NORTH/1001
	// go on behind c1
}

// Compare the source with what exists.
func ExampleClient_Reconciliation() {
	landfall, done := newExampleClient(map[string]string{
		"GET /v1/data-import/reconciliation/NORTH/": `{"measures":[{"measure":"balances.GBP","claimed":{"amount":"118.16"},"created":{"amount":"15.16"},` +
			`"difference":{"amount":"103.00"},"explained":{"failed":{"amount":"103.00"}},"unexplained":{"amount":"0.00"}}]}`,
	})
	defer done()
	found, err := landfall.Reconciliation(context.Background(), "NORTH")
	if err != nil {
		log.Fatal(err)
	}
	for _, measure := range found.Measures {
		fmt.Println(measure.Name, "differs by", measure.Difference.Amount, "unexplained", measure.Unexplained.Amount)
	}
	// Output:
	// balances.GBP differs by 103.00 unexplained 0.00
}

// List all accounts of a supplier; pages are fetched as needed.
func ExampleClient_ImportedFigures() {
	landfall, done := newExampleClient(map[string]string{
		"GET /v1/data-import/imported-account-import-processes/NORTH/": `[{"external_account_number":"1001","platform_account_number":"A-7XK2M9QT","balance":"12.50","currency":"GBP","notes":2}]`,
	})
	defer done()
	for account, err := range landfall.ImportedFigures(context.Background(), "NORTH") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(account.External, account.Number, account.Balance, account.Currency, account.Notes, "notes")
	}
	// Output:
	// 1001 A-7XK2M9QT 12.50 GBP 2 notes
}
