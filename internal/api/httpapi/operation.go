package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"

	"landfall/internal/api/contract"
)

// operationDoc is the documentation of a route.
type operationDoc struct {
	id          string
	tag         string
	summary     string
	description string
	query       []parameter
	request     *mediaContent // of the body, when there is one
	responses   []responseDoc
}

// parameter is a path or query parameter.
type parameter struct {
	name        string
	description string
	schema      object
	example     any
	required    bool // of a query parameter
}

// mediaContent is a body: its schema by name and an example.
type mediaContent struct {
	schema  string
	example any
	media   string // "": application/json
}

// responseDoc is one possible response.
type responseDoc struct {
	status      int
	description string
	content     *mediaContent // nil: no body
	headers     []string      // names of header components
}

const (
	tagImport    = "Account import"
	tagStatus    = "Migration status"
	tagBulk      = "Bulk"
	tagAccounts  = "Whole accounts"
	tagToken     = "Authentication"
	tagProof     = "Reconciliation"
	tagReference = "Reference"
	tagOperation = "Operation"
)

var includeWarnings = parameter{
	name:        "include_warnings",
	description: "Adds a `warnings` list to a 2xx response: rules that were violated but do not refuse the request.",
	schema:      object{{"type", "boolean"}, {"default", false}},
	example:     true,
}

var includeAdded = parameter{
	name:        "include_added",
	description: "Adds `added` to a 201 response: the number of items that were new. Without it, the response to a repeated request is the same as the first one.",
	schema:      object{{"type", "boolean"}, {"default", false}},
	example:     true,
}

var paging = []parameter{
	{
		name:        "limit",
		description: "Maximum number of entries. If there are more, the response has a `Link` header to the next page.",
		schema:      object{{"type", "integer"}, {"minimum", 1}, {"maximum", 10000}},
		example:     1000,
	},
	{
		name:        "after",
		description: "Cursor: start after this entry. Take the value from a `Link` header.",
		schema:      object{{"type", "string"}},
	},
}

var pathParameters = map[string]parameter{
	"import_supplier_code": {
		description: "Code of the import supplier.",
		schema:      object{{"type", "string"}}, example: "DEMO_ENERGY",
	},
	"event_type": {
		description: "Event type.",
		schema:      object{{"type", "string"}}, example: "account_import.completed",
	},
	"run_id": {
		description: "Id of the run.",
		schema:      object{{"type", "string"}}, example: "R-7K2M9QXZ",
	},
	"delivery_id": {
		description: "Id of the delivery: the `Idempotency-Key` of its request.",
		schema:      object{{"type", "string"}}, example: "1042-hga1g4gfv4",
	},
	"external_account_number": {
		description: "Account number in the source system, percent-encoded once. Write a slash as `%2F`.",
		schema:      object{{"type", "string"}}, example: "EXT-0001",
	},
}

var validateDoc = &operationDoc{
	id: "validateAccount", tag: tagImport, summary: "Validate one account",
	description: "Checks one account against every rule without storing anything. All violations are reported at once. " +
		"The response repeats the data as sent. API keys with the role `viewer` can use this endpoint, too.",
	query:   []parameter{includeWarnings},
	request: requestContent("Account", contract.ExampleAccount),
	responses: []responseDoc{
		{http.StatusOK, "The account is valid. The body is the data as sent.", responseContent(contract.ValidatedBody), nil},
		{http.StatusBadRequest, "The account violates a rule, or the body is malformed.", errorContent(exampleRefusal), nil},
	},
}

var stageDoc = &operationDoc{
	id: "stageAccount", tag: tagImport, summary: "Stage one account, or replace its staged data",
	description: "Validates one account and stores it. No account is created yet. " +
		"You can stage an account as often as you like until it is imported. Sending the same request twice changes nothing.",
	query:   []parameter{includeWarnings},
	request: requestContent("Account", contract.ExampleAccount),
	responses: []responseDoc{
		{http.StatusCreated, "The account was staged for the first time.", responseContent(contract.StagedBody), nil},
		{http.StatusOK, "The staged data was replaced.", responseContent(contract.StagedBody), nil},
		{http.StatusBadRequest, "The account violates a rule (`account_failed_validation`), has already been imported " +
			"(`account_already_imported`, with both account numbers and the attrs in which it differs from the existing account), is marked as skipped (`account_marked_as_skipped`), " +
			"is currently being imported (`account_import_in_progress`), or its supplier is paused or complete " +
			"(`import_supplier_migration_not_ongoing`).", errorContent(exampleImportedOther), nil},
	},
}

var statusDoc = &operationDoc{
	id: "accountTransferStatus", tag: tagStatus, summary: "Get the import status of one account",
	description: "`UNKNOWN`: staged, failed or skipped; no account exists. `IN_PROGRESS`: the account is being created. " +
		"`COMPLETED`: the account exists. With `detail`, the response also has the details you need to verify a migration.",
	query: []parameter{{
		name: "detail", description: "Adds the state, the staged revision, the last failure and the figures of a created account.",
		schema: object{{"type", "boolean"}, {"default", false}}, example: true,
	}},
	responses: []responseDoc{
		{http.StatusOK, "The account has been staged at least once.", responseContent(contract.StatusBody), nil},
		{http.StatusNotFound, "There is no account for this supplier code and external account number.",
			errorContent(exampleNoAccount), nil},
	},
}

var (
	allDoc = listDoc("allAccountImportProcesses", "List all accounts of a supplier",
		"Both account fields are null for pending entries.", contract.AllBody)
	pendingDoc = listDoc("pendingAccountImportProcesses", "List accounts of a supplier that are pending",
		"Both account fields are always null.", contract.PendingBody)
	importedDoc = listDoc("importedAccountImportProcesses", "List accounts of a supplier that have been imported",
		"No field is null. With `detail`, every entry also has the figures of its account.", contract.ImportedBody).
		with(parameter{
			name: "detail", description: "Adds the balance, the currency, the number of ledger entries, notes and statements, and how far the delivery to the target is.",
			schema: object{{"type", "boolean"}, {"default", false}}, example: true,
		})
)

func (o *operationDoc) with(one parameter) *operationDoc {
	// Clone, because the lists share their parameters.
	o.query = append(slices.Clone(o.query), one)
	return o
}

// listDoc describes one of the three lists.
func listDoc(id, summary, fields string, body contract.Answer) *operationDoc {
	return &operationDoc{
		id: id, tag: tagStatus, summary: summary,
		description: "Sorted by first staging time, then by external account number. " + fields + " Accounts marked as " +
			"skipped are not included. Without `limit` the whole list is streamed. If the list cannot be completed, the " +
			"connection is aborted, so an incomplete list never looks complete.",
		query: paging,
		responses: []responseDoc{
			{http.StatusOK, "The list.", responseContent(body), []string{"Link"}},
			{http.StatusBadRequest, "A query parameter is invalid.", errorContent(exampleBadLimit), nil},
			{http.StatusNotFound, "The import supplier does not exist.", errorContent(exampleNoSupplier), nil},
		},
	}
}

var rulesDoc = &operationDoc{
	id: "ruleBook", tag: tagReference, summary: "List rules and error codes",
	description: "Every rule with its default severity, and every error code with its meaning.",
	responses: []responseDoc{
		{http.StatusOK, "Rules and error codes.", responseContent(contract.RuleBookBody), nil},
	},
}

var tokenDoc = &operationDoc{
	id: "obtainServiceToken", tag: tagToken, summary: "Obtain a token (GraphQL)",
	description: "GraphQL over HTTP. The mutation `obtainServiceToken` (also available as `ObtainServiceToken`) takes either an " +
		"API key or a refresh token. If the credential is rejected, the response is HTTP 200 with `errors[0].extensions.code` = `AUTHENTICATION_FAILED`.",
	request: &mediaContent{schema: "TokenRequest", example: exampleTokenRequest},
	responses: []responseDoc{
		{http.StatusOK, "The GraphQL response.", &mediaContent{schema: "TokenResponse", example: exampleToken}, nil},
		{http.StatusBadRequest, "Not a GraphQL request.", &mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusNotAcceptable, "The client accepts neither `application/json` nor `application/graphql-response+json`.",
			&mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusRequestEntityTooLarge, "The body is larger than 64 KiB.", &mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusUnsupportedMediaType, "The body is not application/json.", &mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusTooManyRequests, "Too many failed attempts. Wait before trying again.",
			&mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, []string{"Retry-After"}},
		{http.StatusInternalServerError, "Something went wrong on our side.", &mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusServiceUnavailable, "The database is unavailable. Try again shortly.",
			&mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, []string{"Retry-After"}},
	},
}

var tokenQueryDoc = &operationDoc{
	id: "queryTokenSchema", tag: tagToken, summary: "Query the token schema (GraphQL)",
	description: "GraphQL queries by GET. Mutations by GET are refused with 405, so you cannot obtain a token this way.",
	query: []parameter{{
		name: "query", description: "A GraphQL query.",
		schema: object{{"type", "string"}}, example: "{ __typename }",
	}},
	responses: []responseDoc{
		{http.StatusOK, "The GraphQL response.", &mediaContent{schema: "TokenResponse", example: exampleTypeName}, nil},
		{http.StatusBadRequest, "Not a GraphQL request.", &mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
		{http.StatusMethodNotAllowed, "Mutations require POST.", &mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, []string{"Allow"}},
		{http.StatusNotAcceptable, "The client accepts neither `application/json` nor `application/graphql-response+json`.",
			&mediaContent{schema: "TokenResponse", example: exampleTokenRefused}, nil},
	},
}

var healthDoc = &operationDoc{
	id: "healthz", tag: tagOperation, summary: "Liveness check",
	description: "Returns 200 as long as the process is running, regardless of the database.",
	responses:   []responseDoc{{http.StatusOK, "The process is running.", responseContent(contract.HealthBody), nil}},
}

var readyDoc = &operationDoc{
	id: "readyz", tag: tagOperation, summary: "Readiness check",
	description: "Returns 503 while the database is unavailable or the process is shutting down.",
	responses: []responseDoc{
		{http.StatusOK, "Ready for requests.", &mediaContent{schema: "Health", example: json.RawMessage(`{"status":"ready"}`)}, nil},
		{http.StatusServiceUnavailable, "Not ready.", errorContent(exampleNotReady), []string{"Retry-After"}},
	},
}

var supplierOpenAPIDoc = &operationDoc{
	id: "supplierOpenapi", tag: tagReference, summary: "Get the OpenAPI document of one supplier",
	description: "The OpenAPI document of this service with the fields of the packs that the operator has set for the supplier. " +
		"`x-payment-vendors` lists the codes of the payment vendors that the supplier may use. `x-import-supplier` has what to check before " +
		"a book is sent: `status`, `statement_amounts` (`major` or `minor`), `verify_documents`, the quota `bytes_per_day` with `bytes_left_today` " +
		"if your organisation has one, `server_time`, and if documents are verified, `missing_documents` of those that you ask about, " +
		"or `file_store_available` false if nobody can tell.",
	query: []parameter{
		{name: "import_supplier_code", description: "Code of the import supplier.", schema: object{{"type", "string"}}, example: "DEMO_ENERGY", required: true},
		{name: "document", description: "Path of a document, relative to the supplier's document root; may be given up to 20 times.",
			schema: object{{"type", "string"}}, example: "2024/bill-1.pdf"},
	},
	responses: []responseDoc{
		{http.StatusOK, "The document.", &mediaContent{schema: "OpenAPI", example: nil}, nil},
		{http.StatusNotFound, "There is no such supplier.", errorContent(errSupplierUnknown), nil},
	},
}

var openAPIDoc = &operationDoc{
	id: "openapi", tag: tagReference, summary: "Get this OpenAPI document",
	description: "The OpenAPI document of this service. No token is required.",
	responses:   []responseDoc{{http.StatusOK, "The document.", &mediaContent{schema: "OpenAPI", example: nil}, nil}},
}
