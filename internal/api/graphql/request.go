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
)

// longestBody bounds a request: the document, its variables, some air.
const longestBody = 64 << 10

// question is a GraphQL request, however it came.
type question struct {
	document  string
	operation string
	variables map[string]any
}

// questionTable declares the body of a request. Reading it strictly refuses
// batches, doubled names and anything that is not one JSON object.
var questionTable = rules.NewTable("GraphQLRequest", "A GraphQL request.",
	rules.Need("query", rules.Text(longestBody), "The GraphQL document."),
	rules.May("operationName", rules.Text(256), "Which operation of the document to run."),
	rules.May("variables", rules.AnyJSON(), "Values of the document's variables."),
	rules.May("extensions", rules.AnyJSON(), "Reserved for extensions of the protocol; not read."),
)

// readPost reads a request from a JSON body.
func readPost(r *http.Request) (question, *problem) {
	kinds := r.Header.Values("Content-Type")
	if len(kinds) != 1 || !isJSON(kinds[0]) || r.Header.Get("Content-Encoding") != "" {
		return question{}, &problem{http.StatusUnsupportedMediaType, codeBadRequest,
			"The body must be application/json in UTF-8."}
	}
	// Query strings end up in the logs of proxies. A key must not.
	if r.URL.RawQuery != "" {
		return question{}, badRequest("Everything belongs into the body; leave the query string out.")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, longestBody+1))
	if tooLarge := new(http.MaxBytesError); len(body) > longestBody || errors.As(err, &tooLarge) {
		return question{}, &problem{http.StatusRequestEntityTooLarge, codeBadRequest, "The body is too large."}
	}
	if err != nil {
		return question{}, badRequest("The body could not be read to its end.")
	}
	return decode(body)
}

// isJSON wants the media type and not its ending: a form that a browser sends
// across origins without asking must not pass.
func isJSON(contentType string) bool {
	kind, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// readGet reads a request from the query string, by way of the same strict
// reader.
func readGet(r *http.Request) (question, *problem) {
	const unreadable = "The query string cannot be read."
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > longestBody {
		return question{}, badRequest(unreadable)
	}
	members := map[string]json.RawMessage{}
	for name, given := range values {
		if len(given) != 1 {
			return question{}, badRequest(unreadable)
		}
		member := json.RawMessage(given[0])
		if name == "query" || name == "operationName" {
			member = rules.AppendString(nil, given[0])
		}
		members[name] = member
	}
	body, err := json.Marshal(members)
	if err != nil {
		return question{}, badRequest(unreadable)
	}
	return decode(body)
}

// decode reads a request's members. The refusals never repeat what was sent:
// it may be a key in the wrong place.
func decode(body []byte) (question, *problem) {
	doc, fault := questionTable.Read(body, rules.Limits{})
	if fault != nil {
		return question{}, badRequest("The request must be one JSON object; batches are not served. " + fault.Detail)
	}
	if report := doc.Report(); report.Failed() {
		first := report.Errors()[0]
		return question{}, badRequest("The request's member " + known(first.Attr) + " cannot be used. " + first.Detail)
	}
	asked := question{
		document:  doc.Root().Field("query").Text(),
		operation: doc.Root().Field("operationName").Text(),
	}
	for _, name := range []string{"variables", "extensions"} {
		raw := doc.Root().Field(name).Raw()
		if raw == "" || raw == "null" {
			continue
		}
		if !strings.HasPrefix(raw, "{") {
			return question{}, badRequest("The request's member " + name + " must be an object.")
		}
		if name == "variables" {
			if err := json.Unmarshal([]byte(raw), &asked.variables); err != nil {
				return question{}, badRequest("The request's variables cannot be used.")
			}
		}
	}
	return asked, nil
}

// known gives a member's name when it is one of ours.
func known(attr string) string {
	switch attr {
	case "query", "operationName", "variables", "extensions":
		return attr
	}
	return "of another name"
}
