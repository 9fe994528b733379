package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is a refusal of the server.
type Error struct {
	Status     int         // the HTTP status
	Code       string      // stable, unlike Detail
	Detail     string      // for people
	Violations []Violation // all of them, in the order of the document
	RequestID  string      // for the operator of the server
	RetryAfter time.Duration
	// Body is the whole response; some refusals contain more.
	Body json.RawMessage
}

// Violation is an error or a warning about one attribute of a document.
type Violation struct {
	Code   string `json:"code"`
	Attr   string `json:"attr"` // dotted path, such as customers.0.landline
	Detail string `json:"detail"`
}

// Error returns the detail and the first violations.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s, status %d)", e.Detail, e.Code, e.Status)
	for i, violation := range e.Violations {
		if i == 3 {
			fmt.Fprintf(&text, "; and %d more", len(e.Violations)-i)
			break
		}
		fmt.Fprintf(&text, "; %s: %s", violation.Attr, violation.Code)
	}
	return text.String()
}

// IsCode reports whether an error is a refusal with one of these codes.
func IsCode(err error, codes ...string) bool {
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	return slices.Contains(codes, refusal.Code)
}

// readError reads a refusal, which may come from a proxy.
func readError(response *http.Response) *Error {
	defer response.Body.Close()
	if response.StatusCode < http.StatusBadRequest {
		return &Error{Status: response.StatusCode, Code: "redirected", Detail: fmt.Sprintf(
			"the server redirects to %q; nothing is sent there: use the address of the server itself", response.Header.Get("Location"))}
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // a partial body is enough
	return parseError(response.StatusCode, text, response)
}

func parseError(status int, text []byte, response *http.Response) *Error {
	refusal := &Error{Status: status}
	if response != nil {
		refusal.RequestID, refusal.RetryAfter = response.Header.Get("X-Request-ID"), retryAfter(response)
	}
	var body struct {
		Code   string      `json:"code"`
		Detail string      `json:"detail"`
		Errors []Violation `json:"errors"`
	}
	if err := json.Unmarshal(text, &body); err != nil || body.Code == "" {
		refusal.Code, refusal.Detail = "http_"+strconv.Itoa(status), "the server, or a proxy, responded with "+http.StatusText(status)
		return refusal
	}
	refusal.Code, refusal.Detail, refusal.Violations, refusal.Body = body.Code, body.Detail, body.Errors, text
	return refusal
}

// retryAfter parses Retry-After, in seconds or as a date.
func retryAfter(response *http.Response) time.Duration {
	asked := response.Header.Get("Retry-After")
	if at, err := http.ParseTime(asked); err == nil {
		return max(0, time.Until(at))
	}
	seconds, err := strconv.Atoi(asked)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
