package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"landfall/internal/api/answer"
	"landfall/internal/api/contract"
)

// route is one row of the route table: its path, what it requires, who serves
// it, and its documentation.
type route struct {
	method string
	path   string // as in the OpenAPI document
	access access
	// verb serves the route; if it is nil, page does.
	verb *answer.Verb
	page func(*API, context.Context, *exchange) error
	bulk bool          // many calls of the verb, one per line
	doc  *operationDoc // nil: not part of the API
}

// access is who may use a route.
type access uint8

const (
	publicAccess   access = iota // anybody
	readAccess                   // any valid token
	writeAccess                  // a token of an importer key
	personalAccess               // a token of a reader key
)

const (
	importPath = "/v1/data-import"
	runsPath   = importPath + "/runs/"

	deliveriesPath = importPath + "/deliveries/"
)

// The names of values in paths.
const (
	supplierParam = "{import_supplier_code}/"
	accountParams = supplierParam + "{external_account_number}/"
	runParam      = "{run_id}/"
	deliveryParam = "{delivery_id}/"
)

// routeTable is the route table, in the order of the documentation.
func routeTable() []*route {
	return []*route{
		postRoute(answer.Validate, validateDoc),
		postRoute(answer.Stage, stageDoc),
		postRoute(answer.Process, processDoc),
		postRoute(answer.Notes, notesDoc),
		postRoute(answer.Transactions, transactionsDoc),
		postRoute(answer.Statements, statementsDoc),
		postRoute(answer.Instruction, instructionDoc),
		stream(answer.Validate, validateDoc),
		stream(answer.Stage, stageDoc),
		stream(answer.Process, processDoc),
		stream(answer.Notes, notesDoc),
		stream(answer.Transactions, transactionsDoc),
		stream(answer.Statements, statementsDoc),
		stream(answer.Instruction, instructionDoc),
		getRoute(answer.Status, accountParams, statusDoc),
		getRoute(answer.WholeAccount, accountParams, wholeAccountDoc),
		getRoute(answer.WholeAccounts, supplierParam, wholeAccountsDoc),
		getRoute(answer.All, supplierParam, allDoc),
		getRoute(answer.Pending, supplierParam, pendingDoc),
		getRoute(answer.Imported, supplierParam, importedDoc),
		getRoute(answer.Failed, supplierParam, failedDoc),
		getRoute(answer.Summary, supplierParam, summaryDoc),
		getRoute(answer.Duplicates, supplierParam, duplicatesDoc),
		getRoute(answer.Events, "", eventsDoc),
		put(answer.SetTotals, supplierParam, setTotalsDoc),
		getRoute(answer.Totals, supplierParam, totalsDoc),
		getRoute(answer.Reconciliation, supplierParam, reconciliationDoc),
		{method: http.MethodGet, path: "/v1/data-import/reconciliation/" + supplierParam + "sign-offs/", access: readAccess, verb: answer.SignOffs, doc: signOffsDoc},
		getRoute(answer.Rules, "", rulesDoc),
		{method: http.MethodGet, path: contract.EventSchemas, page: (*API).eventTypes, doc: eventTypesDoc},
		{method: http.MethodGet, path: contract.EventSchemas + "{event_type}/", page: (*API).eventSchema, doc: eventSchemaDoc},
		postRoute(answer.StartRun, startRunDoc),
		getRoute(answer.Runs, "", runsDoc),
		getRoute(answer.Run, runParam, runDoc),
		{method: http.MethodPost, path: runsPath + runParam + "pause/", access: writeAccess, verb: answer.PauseRun, doc: pauseRunDoc},
		{method: http.MethodPost, path: runsPath + runParam + "resume/", access: writeAccess, verb: answer.ResumeRun, doc: resumeRunDoc},
		{method: http.MethodPost, path: runsPath + runParam + "cancel/", access: writeAccess, verb: answer.CancelRun, doc: cancelRunDoc},
		{method: http.MethodGet, path: runsPath + runParam + "failures/", access: readAccess, verb: answer.RunFailures, doc: runFailuresDoc},
		{method: http.MethodPost, path: deliveriesPath + deliveryParam + "confirm/", access: writeAccess, verb: answer.ConfirmDelivery, doc: confirmDeliveryDoc},
		{method: http.MethodPost, path: deliveriesPath + deliveryParam + "refuse/", access: writeAccess, verb: answer.RefuseDelivery, doc: refuseDeliveryDoc},
		{method: http.MethodPost, path: "/v1/graphql/", page: (*API).token, doc: tokenDoc},
		{method: http.MethodGet, path: "/v1/graphql/", page: (*API).token, doc: tokenQueryDoc},

		{method: http.MethodGet, path: "/healthz", page: (*API).healthz, doc: healthDoc},
		{method: http.MethodGet, path: "/readyz", page: (*API).readyz, doc: readyDoc},
		{method: http.MethodGet, path: "/openapi.json", page: (*API).openAPI, doc: openAPIDoc},
		{method: http.MethodGet, path: "/v1/openapi.json", access: readAccess, page: (*API).supplierOpenAPI, doc: supplierOpenAPIDoc},
		{method: http.MethodGet, path: "/docs/", page: (*API).docsPage},
		{method: http.MethodGet, path: "/docs/{file}", page: (*API).docsFile},
		{method: http.MethodGet, path: "/docs/handbook/", page: (*API).handbookFile},
		{method: http.MethodGet, path: "/docs/handbook/{page}", page: (*API).handbookFile},
		{method: http.MethodGet, path: "/", page: (*API).index},
	}
}

// postRoute is the route of a verb that reads a body.
func postRoute(verb *answer.Verb, doc *operationDoc) *route {
	r := getRoute(verb, "", doc)
	r.method = http.MethodPost
	return r
}

func stream(verb *answer.Verb, single *operationDoc) *route {
	r := postRoute(verb, bulkOperation(single))
	r.path = importPath + "/bulk/" + verb.Path + "/"
	r.bulk = true
	return r
}

// put is the route of a verb that reads a body and has path parameters.
func put(verb *answer.Verb, values string, doc *operationDoc) *route {
	r := getRoute(verb, values, doc)
	r.method = http.MethodPut
	return r
}

// getRoute is the route of a verb without a body. Access depends on the verb, so that
// a route cannot be more open than its verb.
func getRoute(verb *answer.Verb, values string, doc *operationDoc) *route {
	r := &route{method: http.MethodGet, path: importPath + "/" + verb.Path + "/" + values, access: readAccess, verb: verb, doc: doc}
	if verb.Writes {
		r.access = writeAccess
	}
	if verb.ReadsPersonal {
		r.access = personalAccess
	}
	return r
}

// hasBody reports whether the route takes a JSON body.
func (r *route) hasBody() bool { return r.verb != nil && r.method != http.MethodGet && !r.bulk }

// omitsBody reports whether the request has no body and needs none.
func (x *exchange) omitsBody() bool { return x.route.verb.BodyOptional && x.request.ContentLength == 0 }

// routeFor returns the route of a method, or nil. HEAD uses the route of GET;
// the server omits the body.
func routeFor(routes []*route, method string) *route {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, r := range routes {
		if r.method == method {
			return r
		}
	}
	return nil
}

// allowedMethods lists the methods of a path for the Allow header.
func allowedMethods(routes []*route) string {
	var methods []string
	for _, r := range routes {
		methods = append(methods, r.method)
		if r.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}
