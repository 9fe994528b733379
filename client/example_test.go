package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"landfall/client"
)

// pretended returns a server for the examples.
func pretended() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/graphql/":
			fmt.Fprint(w, `{"data":{"obtainServiceToken":{"token":"t","expiresIn":3600}}}`)
		case "/v1/data-import/account-import-process/create-or-update/":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"import_supplier":"NORTH","external_account_number":"1001"}`)
		case "/v1/data-import/account-import-process/process/":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"code":"account_failed_validation","detail":"The account data is not valid.",`+
				`"errors":[{"code":"invalid_phone_number","attr":"customers.0.mobile","detail":"This is not a possible phone number."}]}`)
		default:
			echo(1<<30, `{"summary":{"lines":%d,"complete":true}}`)(w, r)
		}
	}))
}

// Stage an account that is already JSON, create it, and print the refusal.
func Example() {
	server := pretended()
	defer server.Close()
	ctx := context.Background()

	landfall, err := client.New(server.URL, client.WithKey("key"))
	if err != nil {
		log.Fatal(err)
	}
	staged, err := landfall.Stage(ctx, `{"import_supplier":"NORTH","external_account_number":"1001","customers":[{"mobile":"1"}]}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("staged", staged.External)

	_, err = landfall.Process(ctx, client.Creation{Supplier: "NORTH", External: staged.External, Team: "Migration Team"})
	fmt.Println(err)
	// Output:
	// staged 1001
	// The account data is not valid. (account_failed_validation, status 400); customers.0.mobile: invalid_phone_number
}

// Stage a whole book in one request. Answers arrive while lines are sent.
func ExampleClient_Bulk() {
	server := pretended()
	defer server.Close()

	landfall, err := client.New(server.URL, client.WithKey("key"))
	if err != nil {
		log.Fatal(err)
	}
	book := func(yield func([]byte, error) bool) {
		for number := range 3 {
			if !yield(fmt.Appendf(nil, `{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}`, number), nil) {
				return
			}
		}
	}
	for answer, err := range landfall.Bulk(context.Background(), client.BulkStage, nil, book) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("line", answer.Line, "status", answer.Status)
	}
	// Output:
	// line 1 status 201
	// line 2 status 201
	// line 3 status 201
}
