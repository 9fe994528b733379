package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"

	"landfall/internal/api/contract"
)

// operation is what the reference says about a route.
type operation struct {
	id          string
	tag         string
	summary     string
	description string
	query       []parameter
	request     *content // of the body, when there is one
	responses   []response
}

// parameter is one value in a path or query.
type parameter struct {
	name        string
	description string
	schema      object
	example     any
	required    bool // of one in a query
}

// content is a JSON body: its schema by name and an example.
type content struct {
	schema  string
	example any
	media   string // "": application/json
}

// response is one answer a client must expect.
type response struct {
	status      int
	description string
	content     *content // nil: no body
	headers     []string // names of the components
}

const (
	tagImport    = "Account import"
	tagStatus    = "Migration status"
	tagBulk      = "Bulk"
	tagToken     = "Authentication"
	tagProof     = "Reconciliation"
	tagReference = "Reference"
	tagOperation = "Operation"
)

var includeWarnings = parameter{
	name:        "include_warnings",
	description: "Adds a `warnings` list to a 2xx body: rules that were broken but do not refuse the account.",
	schema:      object{{"type", "boolean"}, {"default", false}},
	example:     true,
}

var includeAdded = parameter{
	name:        "include_added",
	description: "Adds `added` to a 201 body: how many of those sent were new. Without it a repeat is answered like the first time.",
	schema:      object{{"type", "boolean"}, {"default", false}},
	example:     true,
}

var paging = []parameter{
	{
		name:        "limit",
		description: "Answers with at most so many entries and, when there are more, a `Link` to the next page.",
		schema:      object{{"type", "integer"}, {"minimum", 1}, {"maximum", 10000}},
		example:     1000,
	},
	{
		name:        "after",
		description: "Starts behind an entry. The value comes from a `Link` header and means nothing else.",
		schema:      object{{"type", "string"}},
	},
}

// pathParameters explains the names that occur in paths.
var pathParameters = map[string]parameter{
	"import_supplier_code": {
		description: "Code of the import supplier.",
		schema:      object{{"type", "string"}}, example: "DEMO_ENERGY",
	},
	"event_type": {
		description: "Type of an event.",
		schema:      object{{"type", "string"}}, example: "account_import.completed",
	},
	"run_id": {
		description: "Id of the run.",
		schema:      object{{"type", "string"}}, example: "R-7K2M9QXZ",
	},
	"external_account_number": {
		description: "Account number in the external system, percent-encoded once; a slash in it is `%2F`.",
		schema:      object{{"type", "string"}}, example: "EXT-0001",
	},
}

var validateDoc = &operation{
	id: "validateAccount", tag: tagImport, summary: "Validate one account",
	description: "Checks one account against every rule and keeps nothing. All violations are reported at once. " +
		"The answer is the data as it was sent. A key with the role `viewer` may validate too.",
	query:   []parameter{includeWarnings},
	request: requestContent("Account", contract.ExampleAccount),
	responses: []response{
		{http.StatusOK, "The account is valid; the body is the data as it was sent.", responseContent(contract.ValidatedBody), nil},
		{http.StatusBadRequest, "The account breaks a rule, or the body is not what we read.", errorContent(exampleRefusal), nil},
	},
}

var stageDoc = &operation{
	id: "stageAccount", tag: tagImport, summary: "Stage one account, or replace its staged data",
	description: "Checks one account with the rules of validation and keeps it. No account is created. " +
		"It may be staged again any number of times until it is imported; the same request sent twice changes nothing.",
	query:   []parameter{includeWarnings},
	request: requestContent("Account", contract.ExampleAccount),
	responses: []response{
		{http.StatusCreated, "Staged for the first time.", responseContent(contract.StagedBody), nil},
		{http.StatusOK, "The data of a staged account was replaced.", responseContent(contract.StagedBody), nil},
		{http.StatusBadRequest, "The account breaks a rule (`account_failed_validation`), was imported already " +
			"(`account_already_imported`, with both account numbers), is marked to be skipped (`account_marked_as_skipped`), " +
			"is being imported right now (`account_import_in_progress`), or its supplier is paused or complete " +
			"(`import_supplier_migration_not_ongoing`).", errorContent(exampleImported), nil},
	},
}

var statusDoc = &operation{
	id: "accountTransferStatus", tag: tagStatus, summary: "How far one account is",
	description: "`UNKNOWN`: staged, failed or skipped, no account exists. `IN_PROGRESS`: the account is being created. " +
		"`COMPLETED`: it exists. With `detail` also what is known about it, enough to prove a migration.",
	query: []parameter{{
		name: "detail", description: "Adds the state, the staged revision, the last failure, and the figures of a created account.",
		schema: object{{"type", "boolean"}, {"default", false}}, example: true,
	}},
	responses: []response{
		{http.StatusOK, "The account was staged at least once.", responseContent(contract.StatusBody), nil},
		{http.StatusNotFound, "There is no account for this supplier code and external account number.",
			errorContent(exampleNoAccount), nil},
	},
}

var (
	allDoc = listDoc("allAccountImportProcesses", "All accounts of a supplier, pending and imported",
		"Both account fields are null for pending entries.", contract.AllBody)
	pendingDoc = listDoc("pendingAccountImportProcesses", "Accounts of a supplier that are pending import",
		"Both account fields are always null.", contract.PendingBody)
	importedDoc = listDoc("importedAccountImportProcesses", "Accounts of a supplier that have been imported",
		"No field is null. With `detail` every entry also says what its account comes to, enough to prove a migration.", contract.ImportedBody).
		with(parameter{
			name: "detail", description: "Adds the balance, the currency and how many ledger entries, notes and statements there are.",
			schema: object{{"type", "boolean"}, {"default", false}}, example: true,
		})
)

// with adds a parameter of its own.
func (o *operation) with(one parameter) *operation {
	// The lists share their parameters: to append in place would give one list's parameter to the
	// next.
	o.query = append(slices.Clone(o.query), one)
	return o
}

// listDoc describes one of the three lists.
func listDoc(id, summary, fields string, body contract.Answer) *operation {
	return &operation{
		id: id, tag: tagStatus, summary: summary,
		description: "In the order of first staging, then external account number. " + fields + " Accounts marked to be " +
			"skipped are left out. Without `limit` the whole list is streamed; a list that breaks off is cut off in the " +
			"middle of the connection and never looks complete.",
		query: paging,
		responses: []response{
			{http.StatusOK, "The list.", responseContent(body), []string{"Link"}},
			{http.StatusBadRequest, "A query parameter is not what it should be.", errorContent(exampleBadLimit), nil},
			{http.StatusNotFound, "There is no such import supplier.", errorContent(exampleNoSupplier), nil},
		},
	}
}

var rulesDoc = &operation{
	id: "ruleBook", tag: tagReference, summary: "The rule book and the catalogue of codes",
	description: "Every rule with its default severity, and every code a body can carry with its meaning.",
	responses: []response{
		{http.StatusOK, "The catalogue.", responseContent(contract.RuleBookBody), nil},
	},
}

var tokenDoc = &operation{
	id: "obtainServiceToken", tag: tagToken, summary: "Obtain a token (GraphQL)",
	description: "GraphQL over HTTP. The mutation `obtainServiceToken`, also offered as `ObtainServiceToken`, takes either an " +
		"API key or a refresh token. A refused credential is HTTP 200 with `errors[0].extensions.code` = `AUTHENTICATION_FAILED`.",
	request: &content{schema: "TokenRequest", example: exampleTokenRequest},
	responses: []response{
		{http.StatusOK, "The GraphQL answer.", &content{schema: "TokenResponse", example: exampleToken}, nil},
		{http.StatusBadRequest, "Not a GraphQL request.", &content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusNotAcceptable, "Neither `application/json` nor `application/graphql-response+json` is accepted.",
			&content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusRequestEntityTooLarge, "The body is larger than 64 KiB.", &content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusUnsupportedMediaType, "The body is not application/json.", &content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusTooManyRequests, "Too many failed attempts. Wait before trying again.",
			&content{schema: "TokenResponse", example: exampleTokenRefused}, []string{"Retry-After"}},
		{http.StatusInternalServerError, "Something went wrong on our side.", &content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusServiceUnavailable, "The database is away. Try again shortly.",
			&content{schema: "TokenResponse", example: exampleTokenRefused}, []string{"Retry-After"}},
	},
}

var tokenQueryDoc = &operation{
	id: "queryTokenSchema", tag: tagToken, summary: "Ask the token service about itself (GraphQL)",
	description: "Queries by GET, as GraphQL over HTTP has them. A mutation by GET is 405: nothing can be obtained this way.",
	query: []parameter{{
		name: "query", description: "A GraphQL query.",
		schema: object{{"type", "string"}}, example: "{ __typename }",
	}},
	responses: []response{
		{http.StatusOK, "The GraphQL answer.", &content{schema: "TokenResponse", example: exampleTypeName}, nil},
		{http.StatusBadRequest, "Not a GraphQL request.", &content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusMethodNotAllowed, "A mutation is served by POST alone.", &content{schema: "TokenResponse", example: exampleTokenRefused}, []string{"Allow"}},
		{http.StatusNotAcceptable, "Neither `application/json` nor `application/graphql-response+json` is accepted.",
			&content{schema: "TokenResponse", example: exampleTokenRefused}, nil},
	},
}

var healthDoc = &operation{
	id: "healthz", tag: tagOperation, summary: "Does the process live?",
	description: "Always 200 while the process runs, whatever the database does.",
	responses:   []response{{http.StatusOK, "It lives.", responseContent(contract.HealthBody), nil}},
}

var readyDoc = &operation{
	id: "readyz", tag: tagOperation, summary: "Should requests be sent here?",
	description: "503 while the database is away or the process is shutting down.",
	responses: []response{
		{http.StatusOK, "Yes.", &content{schema: "Health", example: json.RawMessage(`{"status":"ready"}`)}, nil},
		{http.StatusServiceUnavailable, "Not now.", errorContent(exampleNotReady), []string{"Retry-After"}},
	},
}

var openAPIDoc = &operation{
	id: "openapi", tag: tagReference, summary: "This document",
	description: "The OpenAPI description of everything here. It needs no token.",
	responses:   []response{{http.StatusOK, "The document.", &content{schema: "OpenAPI", example: nil}, nil}},
}
