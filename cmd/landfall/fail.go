package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"landfall"
)

// Exit codes. Scripts rely on them.
const (
	exitDone        = 0
	exitRefused     = 1 // not done, or some accounts failed
	exitUsage       = 2 // a wrong argument or setting
	exitUnreachable = 3 // the server or the database cannot be used
)

// usageError marks a wrong argument or setting.
type usageError struct{ error }

// Unwrap keeps the error code, if there is one.
func (e usageError) Unwrap() error { return e.error }

// unreachableError marks a server or database that cannot be used.
type unreachableError struct{ error }

// Unwrap keeps the error code, if there is one.
func (e unreachableError) Unwrap() error { return e.error }

// codeError gives an error a code for --json.
type codeError struct {
	code string
	error
}

// Unwrap returns the error.
func (e codeError) Unwrap() error { return e.error }

// The command line's own codes.
const (
	codeSomeFailed    = "some_failed"
	codeProblemsFound = "problems_found"
)

func exitCode(err error) int {
	// Usage errors come first: one may wrap a refusal to keep its code.
	known, isOurs := errors.AsType[*landfall.Error](err)
	switch {
	case errors.As(err, &usageError{}):
		return exitUsage
	case errors.As(err, &unreachableError{}), errors.Is(err, landfall.ErrUnavailable), errors.Is(err, landfall.ErrUnknownOutcome):
		return exitUnreachable
	case isOurs && known.Kind == landfall.Unavailable:
		return exitUnreachable
	case isOurs && known.Code == landfall.CodeValidationFailed && len(known.Violations) > 0:
		return exitUsage // a value that no database could accept
	}
	return exitRefused
}

// jsonInArguments looks for the flag in the arguments themselves: parsing may have failed before
// it.
func jsonInArguments(args []string) bool {
	// There are no flags after two dashes.
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--"+jsonFlag) || slices.Contains(args, "--"+jsonFlag+"=true")
}

// printError prints an error to standard error: one line of text, or a JSON object with a stable
// code.
func printError(stderr io.Writer, err error, asJSON bool) {
	if !asJSON {
		fmt.Fprintln(stderr, "landfall: "+errorText(err))
		return
	}
	type violation struct {
		Detail string `json:"detail"`
		Code   string `json:"code"`
		Attr   string `json:"attr"`
	}
	failure := struct {
		Code     string      `json:"code"`
		Detail   string      `json:"detail"`
		ExitCode int         `json:"exit_code"`
		Errors   []violation `json:"errors"`
	}{errorCode(err), errorText(err), exitCode(err), []violation{}}
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		for _, one := range known.Violations {
			failure.Errors = append(failure.Errors, violation{one.Detail, one.Code, one.Attr})
		}
	}
	// One line, so that a log of many commands has one object per line.
	encoder := json.NewEncoder(stderr)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(map[string]any{"error": failure}) //nolint:errchkjson // there is nowhere left to complain
}

// errorCode returns the code of the error catalogue, or a code of the command line's own.
func errorCode(err error) string {
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		return known.Code
	}
	if coded, ok := errors.AsType[codeError](err); ok {
		return coded.code
	}
	switch exitCode(err) {
	case exitUsage:
		return "usage"
	case exitRefused:
		if errors.Is(err, errSomeFailed) {
			return codeSomeFailed
		}
		if errors.Is(err, errDiffers) {
			return "book_differs"
		}
	case exitUnreachable:
		return landfall.CodeServiceUnavailable
	}
	return landfall.CodeInternalError
}

// oneLine returns a text of several lines as one line.
func oneLine(text string) string { return escapeText(strings.ReplaceAll(text, "\n", "; ")) }

// errorText returns the error as one line. "Database unavailable" is omitted where the reason
// follows.
func errorText(err error) string {
	text := strings.ReplaceAll(err.Error(), landfall.ErrUnavailable.Error()+": ", "")
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		// Refusals have a detail written for people; the wrapping errors only say where they
		// occurred.
		text = known.Detail
	}
	return oneLine(text)
}
