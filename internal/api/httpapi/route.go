package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"landfall/internal/api/answer"
	"landfall/internal/api/contract"
)

// route is one row of the table: how a request gets here, what it needs, who
// answers, and what the reference says about it.
type route struct {
	method string
	path   string // as the OpenAPI document spells it
	access access
	// verb answers; where there is none, the page does.
	verb *answer.Verb
	page func(*API, context.Context, *exchange) error
	bulk bool       // many calls of the verb, a line each
	doc  *operation // nil: for people, not part of the API
}

// access says who may use a route.
type access uint8

const (
	open  access = iota // anybody
	read                // any good token
	write               // a token of an importer's key
)

const (
	imports = "/v1/data-import"
	runs    = imports + "/runs/"
)

// The names of values in paths.
const (
	ofSupplier = "{import_supplier_code}/"
	ofAccount  = ofSupplier + "{external_account_number}/"
	ofRun      = "{run_id}/"
)

// routes is the table. It is the only place that knows a path.
func routes() []*route {
	// The reference shows them in this order: single calls, the same in bulk, and then the rest.
	return []*route{
		post(answer.Validate, validateDoc),
		post(answer.Stage, stageDoc),
		post(answer.Process, processDoc),
		post(answer.Notes, notesDoc),
		post(answer.Transactions, transactionsDoc),
		post(answer.Statements, statementsDoc),
		post(answer.Instruction, instructionDoc),
		stream(answer.Validate, validateDoc),
		stream(answer.Stage, stageDoc),
		stream(answer.Process, processDoc),
		stream(answer.Notes, notesDoc),
		stream(answer.Transactions, transactionsDoc),
		stream(answer.Statements, statementsDoc),
		stream(answer.Instruction, instructionDoc),
		get(answer.Status, ofAccount, statusDoc),
		get(answer.All, ofSupplier, allDoc),
		get(answer.Pending, ofSupplier, pendingDoc),
		get(answer.Imported, ofSupplier, importedDoc),
		get(answer.Failed, ofSupplier, failedDoc),
		get(answer.Summary, ofSupplier, summaryDoc),
		get(answer.Events, "", eventsDoc),
		put(answer.SetTotals, ofSupplier, setTotalsDoc),
		get(answer.Totals, ofSupplier, totalsDoc),
		get(answer.Reconciliation, ofSupplier, reconciliationDoc),
		get(answer.Rules, "", rulesDoc),
		{method: http.MethodGet, path: contract.EventSchemas, page: (*API).eventTypes, doc: eventTypesDoc},
		{method: http.MethodGet, path: contract.EventSchemas + "{event_type}/", page: (*API).eventSchema, doc: eventSchemaDoc},
		post(answer.StartRun, startRunDoc),
		get(answer.Runs, "", runsDoc),
		get(answer.Run, ofRun, runDoc),
		{method: http.MethodPost, path: runs + ofRun + "pause/", access: write, verb: answer.PauseRun, doc: pauseRunDoc},
		{method: http.MethodPost, path: runs + ofRun + "resume/", access: write, verb: answer.ResumeRun, doc: resumeRunDoc},
		{method: http.MethodPost, path: runs + ofRun + "cancel/", access: write, verb: answer.CancelRun, doc: cancelRunDoc},
		{method: http.MethodGet, path: runs + ofRun + "failures/", access: read, verb: answer.RunFailures, doc: runFailuresDoc},
		{method: http.MethodPost, path: "/v1/graphql/", page: (*API).token, doc: tokenDoc},
		{method: http.MethodGet, path: "/v1/graphql/", page: (*API).token, doc: tokenQueryDoc},

		{method: http.MethodGet, path: "/healthz", page: (*API).healthz, doc: healthDoc},
		{method: http.MethodGet, path: "/readyz", page: (*API).readyz, doc: readyDoc},
		{method: http.MethodGet, path: "/openapi.json", page: (*API).openAPI, doc: openAPIDoc},
		{method: http.MethodGet, path: "/docs/", page: (*API).docsPage},
		{method: http.MethodGet, path: "/docs/{file}", page: (*API).docsFile},
		{method: http.MethodGet, path: "/", page: (*API).welcome},
	}
}

// post is the route of a verb that reads a body.
func post(verb *answer.Verb, doc *operation) *route {
	r := get(verb, "", doc)
	r.method = http.MethodPost
	return r
}

// stream is the route of many calls of a verb at once.
func stream(verb *answer.Verb, single *operation) *route {
	r := post(verb, inBulk(single))
	r.path = imports + "/bulk/" + verb.Tail + "/"
	r.bulk = true
	return r
}

// put is the route of a verb that reads a body about what its path names.
func put(verb *answer.Verb, values string, doc *operation) *route {
	r := get(verb, values, doc)
	r.method = http.MethodPut
	return r
}

// get is the route of a verb that is told everything by the path.
func get(verb *answer.Verb, values string, doc *operation) *route {
	// Access follows from what the verb does, so that no row made here can be more open than its
	// verb.
	r := &route{method: http.MethodGet, path: imports + "/" + verb.Tail + "/" + values, access: read, verb: verb, doc: doc}
	if verb.Writes {
		r.access = write
	}
	return r
}

// reads says whether the route takes a JSON body.
func (r *route) reads() bool { return r.verb != nil && r.method != http.MethodGet && !r.bulk }

// bodiless says that a request brings no body and need not.
func (x *exchange) bodiless() bool { return x.route.verb.Bare && x.request.ContentLength == 0 }

// choose gives the route of a method, or nil. Where GET is answered HEAD is, by
// the same route; the server leaves the body out.
func choose(routes []*route, method string) *route {
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

// allowed lists the methods of a path for the Allow header.
func allowed(routes []*route) string {
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
