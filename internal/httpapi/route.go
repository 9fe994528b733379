package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"landfall"
)

// route is one row of the table: how a request gets here, what it needs, who
// answers, and what the reference says about it.
type route struct {
	method  string
	path    string // as the OpenAPI document spells it
	access  access
	body    bool // reads a JSON body
	streams bool // answers for as long as it takes, piece by piece
	handle  func(*API, context.Context, *exchange) error
	doc     *operation // nil: a page for people, not part of the API
}

// access says who may use a route.
type access uint8

const (
	open  access = iota // anybody
	read                // any good token
	write               // a token of an importer's key
)

const imports = "/v1/data-import"

// routes is the table. It is the only place that knows a path.
func routes() []*route {
	return []*route{
		{http.MethodPost, imports + "/validate-account/", read, true, false, (*API).validate, validateDoc},
		{http.MethodPost, imports + "/account-import-process/create-or-update/", write, true, false, (*API).stage, stageDoc},
		{http.MethodPost, imports + "/account-import-process/process/", write, true, false, (*API).process, processDoc},
		{http.MethodPost, imports + "/notes/create/", write, true, false, (*API).notes, notesDoc},
		{http.MethodPost, imports + "/transactions/create/", write, true, false, (*API).transactions, transactionsDoc},
		{http.MethodPost, imports + "/historical-statements/create/", write, true, false, (*API).statements, statementsDoc},
		{http.MethodPost, imports + "/payment-instruction/create/", write, true, false, (*API).instruction, instructionDoc},
		{http.MethodGet, imports + "/account-transfer-status/{import_supplier_code}/{external_account_number}/",
			read, false, false, (*API).transferStatus, statusDoc},
		{http.MethodGet, imports + "/all-account-import-processes/{import_supplier_code}/",
			read, false, true, list(landfall.AllProcesses), allDoc},
		{http.MethodGet, imports + "/pending-account-import-processes/{import_supplier_code}/",
			read, false, true, list(landfall.PendingProcesses), pendingDoc},
		{http.MethodGet, imports + "/imported-account-import-processes/{import_supplier_code}/",
			read, false, true, list(landfall.ImportedProcesses), importedDoc},
		{http.MethodGet, imports + "/failed-account-import-processes/{import_supplier_code}/",
			read, false, true, (*API).failed, failedDoc},
		{http.MethodGet, imports + "/error-summary/{import_supplier_code}/", read, false, false, (*API).errorSummary, summaryDoc},
		{http.MethodGet, imports + "/rules/", read, false, false, (*API).ruleBook, rulesDoc},
		{http.MethodPost, "/v1/graphql/", open, false, false, (*API).token, tokenDoc},
		{http.MethodGet, "/v1/graphql/", open, false, false, (*API).token, tokenQueryDoc},

		{http.MethodGet, "/healthz", open, false, false, (*API).healthz, healthDoc},
		{http.MethodGet, "/readyz", open, false, false, (*API).readyz, readyDoc},
		{http.MethodGet, "/openapi.json", open, false, false, (*API).openAPI, openAPIDoc},
		{http.MethodGet, "/docs/", open, false, false, (*API).docsPage, nil},
		{http.MethodGet, "/docs/{file}", open, false, false, (*API).docsFile, nil},
		{http.MethodGet, "/", open, false, false, (*API).welcome, nil},
	}
}

// choose gives the route of a method, or nil.
func choose(routes []*route, method string) *route {
	for _, r := range routes {
		if r.method == method {
			return r
		}
	}
	return nil
}

// allowed lists the methods of a path for the Allow header.
func allowed(routes []*route) string {
	methods := make([]string, len(routes))
	for i, r := range routes {
		methods[i] = r.method
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}
