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
	Status     int         // HTTP's
	Code       string      // stable; the words of Detail are not
	Detail     string      // a sentence for people
	Violations []Violation // every one, in the order of the document
	RequestID  string      // for whoever runs the server
	RetryAfter time.Duration
	// Body is the whole answer: some refusals say more than the others.
	Body json.RawMessage
}

// Violation is one thing that is wrong, or strange, in a document.
type Violation struct {
	Code   string `json:"code"`
	Attr   string `json:"attr"` // dotted path, such as customers.0.landline
	Detail string `json:"detail"`
}

// Error is a sentence with the first violations.
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

// readError makes an error of a refusal, whoever wrote it: proxies answer too.
func readError(response *http.Response) *Error {
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // what could be read says enough
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
		refusal.Code, refusal.Detail = "http_"+strconv.Itoa(status), "the server, or something before it, answered "+http.StatusText(status)
		return refusal
	}
	refusal.Code, refusal.Detail, refusal.Violations, refusal.Body = body.Code, body.Detail, body.Errors, text
	return refusal
}

// retryAfter reads how long the server wants to be left alone: in seconds, or
// until an instant, as some proxies say it.
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
