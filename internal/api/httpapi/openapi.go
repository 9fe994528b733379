package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/calendar"
)

//go:generate go test -run TestOpenAPIIsCheckedIn -update .

// OpenAPI returns the OpenAPI 3.1 document, generated from the route table and
// the payload tables.
func OpenAPI() []byte { return OpenAPIOf(contract.PlainSchema()) }

// OpenAPIOf returns the document with the fields of packs.
func OpenAPIOf(schema *contract.Schema) []byte { return formatDocument(buildDocument(schema)) }

// formatDocument writes a document with indentation.
func formatDocument(document object) []byte {
	// An error here is a mistake in the tables, which a test finds.
	raw, err := marshal(document)
	if err != nil {
		panic("httpapi: the reference cannot be written: " + err.Error())
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		panic("httpapi: the reference is not JSON: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// openAPI serves the document.
func (a *API) openAPI(_ context.Context, x *exchange) error {
	// Caches must revalidate, because the document changes with an update.
	x.Header().Set("Cache-Control", "no-cache")
	return x.json(http.StatusOK, a.description())
}

// supplierOpenAPI serves the document with the fields of a supplier's packs.
func (a *API) supplierOpenAPI(ctx context.Context, x *exchange) error {
	values, _ := url.ParseQuery(x.query)
	code := values.Get("import_supplier_code")
	if code == "" {
		return refuseParameter("import_supplier_code", "required", "This parameter is required.")
	}
	schema, err := a.Schema(ctx, x.who, code)
	if err != nil {
		return landfall.UserError("openapi", err)
	}
	documents := values["document"]
	if len(documents) > maxAskedDocuments {
		return refuseParameter("document", "max_items", fmt.Sprintf("Ask about at most %d documents.", maxAskedDocuments))
	}
	if schema == nil {
		return errSupplierUnknown
	}
	facts, err := a.Facts(ctx, x.who, code, documents)
	if err != nil {
		return landfall.UserError("openapi", err)
	}
	if facts == nil {
		return errSupplierUnknown
	}
	x.Header().Set("Cache-Control", "no-store")
	return x.json(http.StatusOK, formatDocument(append(buildDocument(schema),
		member{"x-payment-vendors", facts.Vendors}, member{"x-import-supplier", supplierFacts(facts)})))
}

// maxAskedDocuments is how many documents one request may ask about.
const maxAskedDocuments = 20

// supplierFacts is what a caller has to know about a supplier, as JSON.
func supplierFacts(facts *landfall.SupplierFacts) object {
	members := object{
		{"status", facts.Status}, {"statement_amounts", facts.StatementAmounts}, {"verify_documents", facts.VerifyDocuments},
		{"file_store_available", !facts.NoFileStore}, {"missing_documents", append([]string{}, facts.MissingDocuments...)},
		{"server_time", calendar.FormatInstant(facts.Now)},
	}
	if facts.BytesPerDay > 0 {
		members = append(members, member{"bytes_per_day", facts.BytesPerDay}, member{"bytes_left_today", facts.BytesLeft})
	}
	return members
}

// errSupplierUnknown is returned for suppliers that do not exist and for those of
// other organisations.
var errSupplierUnknown = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeSupplierUnknown, Detail: "There is no import supplier with this code.",
}

// refuseParameter refuses a query parameter.
func refuseParameter(name, code, detail string) error {
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The request is not valid.")
	refusal.Violations = []landfall.Violation{{Code: code, Attr: name, Detail: detail}}
	return refusal
}

// buildDocument assembles the OpenAPI document.
func buildDocument(schema *contract.Schema) object {
	return object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Landfall"},
			{"version", "1"},
			{"summary", "Account migration import service"},
			{"description", introduction},
			{"contact", object{{"name", "The operator of this service"}}},
		}},
		{"servers", []object{{
			{"url", "{base_url}"},
			{"description", "Base URL of the service."},
			{"variables", object{{"base_url", object{
				{"default", "http://127.0.0.1:8080"},
				{"description", "All paths are relative to this URL."},
			}}}},
		}}},
		{"tags", []object{
			{{"name", tagToken}, {"description", "Exchange an API key for short-lived access tokens."}},
			{{"name", tagImport}, {"description", "Validate and stage account data, and create accounts from it."}},
			{{"name", tagPosting}, {"description", "Add notes, transactions, statements and payment instructions to an imported account."}},
			{{"name", tagBulk}, {"description", "Send many calls of one kind in one request: one JSON object per line in, one result per line out."}},
			{{"name", tagStatus}, {"description", "Import status of one account or of all accounts of a supplier."}},
			{{"name", tagAccounts}, {"description", "Read accounts with all of their data, including personal data."}},
			{{"name", tagEvents}, {"description", "Read events in order, or wait for new ones."}},
			{{"name", tagRuns}, {"description", "Let the service create a supplier's accounts in the background."}},
			{{"name", tagProof}, {"description", "Prove that everything arrived: compare what the source system claims with what exists."}},
			{{"name", tagTargets}, {"description", "Calls of a target, the system that accounts are delivered to."}},
			{{"name", tagReference}, {"description", "Rules, error codes and this document."}},
			{{"name", tagOperation}, {"description", "Health checks for the operator."}},
		}},
		{"security", []object{{{"token", []string{}}}}},
		{"paths", paths()},
		{"components", components(schema)},
	}
}

// introduction is the description at the top of the document.
const introduction = "Landfall moves customer accounts from another supplier's system to this platform: validate the account data, stage it, " +
	"create the account from it, and then add notes, transactions, statements and payment instructions.\n\n" +
	"Every error response has `detail`, `code` and `errors`. Rely on `code`; the wording of `detail` may change. " +
	"Every response has an `X-Request-ID`. It is your own if you send one with at most 64 letters, digits, dots, dashes and underscores.\n\n" +
	"After a 500 or 503, or if you received no response, send the same request again: requests are idempotent. The only exception " +
	"is a transactions request with `check_previously_added=false`, which adds the transactions each time.\n\n" +
	"`HEAD` is supported wherever `GET` is. Paths end with a slash; a request without it is redirected with status 308."

// paths groups the routes by path.
func paths() object {
	// Keep the order of the table.
	var order []string
	methods := map[string]object{}
	for _, r := range routeTable() {
		if r.doc == nil {
			continue
		}
		if methods[r.path] == nil {
			order = append(order, r.path)
		}
		methods[r.path] = append(methods[r.path], member{strings.ToLower(r.method), describeRoute(r)})
	}
	out := make(object, len(order))
	for i, path := range order {
		out[i] = member{path, methods[path]}
	}
	return out
}

func describeRoute(r *route) object {
	doc := r.doc
	out := object{
		{"operationId", doc.id},
		{"tags", []string{doc.tag}},
		{"summary", doc.summary},
		{"description", doc.description},
	}
	if r.access == publicAccess {
		out = append(out, member{"security", []object{}})
	}
	if parameters := describeParameters(r); len(parameters) > 0 {
		out = append(out, member{"parameters", parameters})
	}
	if doc.request != nil {
		out = append(out, member{"requestBody", object{
			{"required", true},
			{"content", jsonContent(doc.request)},
		}})
	}
	return append(out, member{"responses", describeResponses(r)})
}

// placeholder finds parameter names in a path.
var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// describeParameters describes path and query parameters.
func describeParameters(r *route) []object {
	var out []object
	for _, name := range placeholder.FindAllStringSubmatch(r.path, -1) {
		p := pathParameters[name[1]]
		p.name = name[1]
		out = append(out, append(object{{"name", p.name}, {"in", "path"}, {"required", true}}, p.rest()...))
	}
	for _, p := range r.doc.query {
		named := object{{"name", p.name}, {"in", "query"}}
		if p.required {
			named = append(named, member{"required", true})
		}
		out = append(out, append(named, p.rest()...))
	}
	if takesDelivery(r) {
		out = append(out, append(object{{"name", deliveryParameter.name}, {"in", "header"}}, deliveryParameter.rest()...))
	}
	return out
}

// rest returns what path and query parameters have in common.
func (p parameter) rest() object {
	out := object{{"description", p.description}, {"schema", p.schema}}
	if p.example != nil {
		out = append(out, member{"examples", namedExample(p.example)})
	}
	return out
}

// namedExample names an example. The reference page ignores examples without a
// name.
func namedExample(value any) object { return object{{"example", object{{"value", value}}}} }

// describeResponses lists the responses of a route, including the general ones.
func describeResponses(r *route) object {
	var out object
	told := map[int]bool{}
	// A route's own response replaces the general one with the same status.
	for _, answer := range append(r.doc.responses, generalResponses(r)...) {
		if told[answer.status] {
			continue
		}
		told[answer.status] = true
		description := object{{"description", answer.description}}
		if len(answer.headers) > 0 {
			headers := make(object, len(answer.headers))
			for i, name := range answer.headers {
				headers[i] = member{name, object{{"$ref", "#/components/headers/" + name}}}
			}
			description = append(description, member{"headers", headers})
		}
		if answer.content != nil {
			description = append(description, member{"content", jsonContent(answer.content)})
		}
		out = append(out, member{strconv.Itoa(answer.status), description})
	}
	return out
}

// generalResponses are the errors that many routes can return.
func generalResponses(r *route) []responseDoc {
	fault := func(status int, code, description string, headers ...string) responseDoc {
		return responseDoc{status, description, errorContent(exampleError(code, description)), headers}
	}
	var out []responseDoc
	if strings.HasSuffix(r.path, "/") {
		out = append(out, responseDoc{http.StatusPermanentRedirect, "The trailing slash is missing. " +
			"Send the request to the path in `Location`.", nil, []string{"Location"}})
	}
	if r.access != publicAccess {
		out = append(out, responseDoc{http.StatusBadRequest, "A query parameter is unknown or invalid.",
			errorContent(exampleBadParameter), nil})
		out = append(out, responseDoc{http.StatusUnauthorized, "The token is missing or invalid.",
			errorContent(exampleError(landfall.CodeNotAuthenticated, "Authentication credentials were not provided.")), []string{"WWW-Authenticate"}})
	}
	if r.access == writeAccess {
		out = append(out, fault(http.StatusForbidden, "permission_denied", "This API key is read-only."))
	}
	if r.access == personalAccess {
		out = append(out, fault(http.StatusForbidden, "permission_denied", "Reading whole accounts needs an API key with the role reader."))
	}
	out = append(out, fault(http.StatusMethodNotAllowed, "method_not_allowed", "This path does not support this method.", "Allow"))
	out = append(out, fault(http.StatusRequestHeaderFieldsTooLarge, "request_header_fields_too_large",
		"The request has too many header fields."))
	if r.access != publicAccess {
		out = append(out, tooMany(r))
	}
	if r.bulk {
		out = append(out,
			fault(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body is not newline-delimited JSON, or its compression is not supported."))
	}
	if r.hasBody() {
		out = append(out,
			fault(http.StatusRequestEntityTooLarge, "payload_too_large", "The body is larger than this service accepts."),
			fault(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body is not application/json in UTF-8."))
	}
	if r.access != publicAccess {
		out = append(out,
			fault(http.StatusInternalServerError, "internal_error", "Something went wrong on our side. Send the same request again."),
			fault(http.StatusServiceUnavailable, "service_unavailable", "The database is unavailable, the service is overloaded or it "+
				"is shutting down. Send the same request again later.", "Retry-After"))
	}
	return out
}

// tooMany is the response to an organisation that is over a quota or a limit of
// concurrent requests.
func tooMany(r *route) responseDoc {
	description, example := "Your organisation is over a quota.", landfall.OverQuota(landfall.QuotaRequests, 100, time.Second)
	switch {
	case r.verb == nil:
	case r.bulk:
		description, example = "Your organisation is sending too many bulk requests at the same time, or is over a quota.", errOwnStreams
	case r.verb.Streams:
		description, example = "Your organisation is reading too many lists at the same time, or is over a quota.", errOwnLists
	case r.verb.LongPolls:
		description, example = "Your organisation waits for events with too many requests at the same time, or is over a quota.", errOwnWaits
	}
	return responseDoc{http.StatusTooManyRequests, description, errorContent(example), []string{"Retry-After"}}
}

func jsonContent(c *mediaContent) object {
	body := object{{"schema", schemaRef(c.schema)}}
	if c.example != nil {
		body = append(body, member{"examples", namedExample(c.example)})
	}
	return object{{cmp.Or(c.media, "application/json"), body}}
}
