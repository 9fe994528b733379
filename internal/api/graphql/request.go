package graphql

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
)

// request is a GraphQL request by POST or GET.
type request struct {
	document  string
	operation string
	variables map[string]any
}

// requestTable declares the body. Reading it strictly refuses batches, duplicate
// names and anything but one JSON object.
var requestTable = rules.NewTable("GraphQLRequest", "A GraphQL request.",
	rules.Required("query", rules.Text(limits.GraphQLBody), "The GraphQL document."),
	rules.Optional("operationName", rules.Text(256), "Which operation of the document to run."),
	rules.Optional("variables", rules.AnyJSON(), "Values of the document's variables."),
	rules.Optional("extensions", rules.AnyJSON(), "Reserved for extensions of the protocol; not read."),
)

// readPost reads a request from a JSON body.
func readPost(r *http.Request) (request, *requestError) {
	kinds := r.Header.Values("Content-Type")
	if len(kinds) != 1 || !isJSON(kinds[0]) || r.Header.Get("Content-Encoding") != "" {
		return request{}, &requestError{http.StatusUnsupportedMediaType, codeBadRequest,
			"The body must be application/json in UTF-8."}
	}
	// Query strings end up in proxy logs. A key must not.
	if r.URL.RawQuery != "" {
		return request{}, badRequest("Send everything in the body, without a query string.")
	}
	errTooLarge := &requestError{http.StatusRequestEntityTooLarge, codeBadRequest, "The body is too large."}
	// Before reading, so that a client that sent Expect: 100-continue does not send
	// the body.
	if r.ContentLength > limits.GraphQLBody {
		return request{}, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limits.GraphQLBody+1))
	if tooLarge := new(http.MaxBytesError); len(body) > limits.GraphQLBody || errors.As(err, &tooLarge) {
		return request{}, errTooLarge
	}
	if err != nil {
		return request{}, badRequest("The body is incomplete.")
	}
	return decode(body)
}

// isJSON requires the exact media type, so that a cross-origin form post does
// not pass.
func isJSON(contentType string) bool {
	kind, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// readGet reads a request from the query string, with the same strict reader.
func readGet(r *http.Request) (request, *requestError) {
	const unreadable = "The query string is malformed."
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > limits.GraphQLBody {
		return request{}, badRequest(unreadable)
	}
	members := map[string]json.RawMessage{}
	for name, given := range values {
		if len(given) != 1 {
			return request{}, badRequest(unreadable)
		}
		member := json.RawMessage(given[0])
		if name == "query" || name == "operationName" {
			member = rules.AppendString(nil, given[0])
		}
		members[name] = member
	}
	body, err := json.Marshal(members)
	if err != nil {
		return request{}, badRequest(unreadable)
	}
	return decode(body)
}

// decode reads the members of a request. Errors never repeat what was sent: it
// may be a key in the wrong place.
func decode(body []byte) (request, *requestError) {
	doc, fault := requestTable.Read(body, rules.Limits{})
	if fault != nil {
		return request{}, badRequest("The request must be a single JSON object; batches are not supported. " + fault.Detail)
	}
	if report := doc.Report(); report.Failed() {
		first := report.Errors()[0]
		return request{}, badRequest("Invalid member " + memberName(first.Attr) + ". " + first.Detail)
	}
	asked := request{
		document:  doc.Root().Field("query").Text(),
		operation: doc.Root().Field("operationName").Text(),
	}
	for _, name := range []string{"variables", "extensions"} {
		raw := doc.Root().Field(name).Raw()
		if raw == "" || raw == "null" {
			continue
		}
		if !strings.HasPrefix(raw, "{") {
			return request{}, badRequest("The member " + name + " must be an object.")
		}
		if name == "variables" {
			if err := json.Unmarshal([]byte(raw), &asked.variables); err != nil {
				return request{}, badRequest("The variables are invalid.")
			}
		}
	}
	return asked, nil
}

// memberName returns the name of a known member.
func memberName(attr string) string {
	switch attr {
	case "query", "operationName", "variables", "extensions":
		return attr
	}
	return "(unknown)"
}
