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

// The exit codes, as scripts rely on them.
const (
	exitDone        = 0
	exitRefused     = 1 // understood, but not done, or some accounts failed
	exitUsage       = 2 // the command line or a setting is wrong
	exitUnreachable = 3 // the server or the database is away or not fit for use
)

// usageError marks what the user typed wrongly.
type usageError struct{ error }

// Unwrap keeps the code of what was wrong, where it has one.
func (e usageError) Unwrap() error { return e.error }

// unreachableError marks a database that cannot be used.
type unreachableError struct{ error }

// Unwrap likewise.
func (e unreachableError) Unwrap() error { return e.error }

// exitCode lets scripts tell what was typed wrongly, what was refused and
// what was away apart, without reading sentences.
func exitCode(err error) int {
	// What was typed goes before what was refused: a usage error may carry a refusal inside, and
	// its code is kept for machines.
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

// jsonInArguments looks at the arguments themselves: the flag may stand behind the
// one that could not be read.
func jsonInArguments(args []string) bool {
	// Behind two dashes there are no flags any more, only words.
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--"+jsonFlag) || slices.Contains(args, "--"+jsonFlag+"=true")
}

// printError says on standard error what went wrong: in one line a person needs, or
// as an object with the code a program can act on.
func printError(stderr io.Writer, err error, machine bool) {
	if !machine {
		fmt.Fprintln(stderr, "landfall: "+errorText(err))
		return
	}
	type violation struct {
		Detail string `json:"detail"`
		Code   string `json:"code"`
		Attr   string `json:"attr"`
	}
	// What a person reads, and the codes beside it, so that no program has to read sentences.
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
	// One line, so that a log of many commands stays one object a line.
	encoder := json.NewEncoder(stderr)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(map[string]any{"error": failure}) //nolint:errchkjson // there is nowhere left to complain
}

// errorCode is the code of the catalogue where the error has one. What only
// the command line can get wrong has codes of its own.
func errorCode(err error) string {
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		return known.Code
	}
	switch exitCode(err) {
	case exitUsage:
		return "usage"
	case exitRefused:
		if errors.Is(err, errSomeFailed) {
			return "some_failed"
		}
		if errors.Is(err, errDiffers) {
			return "book_differs"
		}
	case exitUnreachable:
		return landfall.CodeServiceUnavailable
	}
	return landfall.CodeInternalError
}

// errorText gives the one line a person needs. That the database is unavailable
// goes without saying where the reason follows.
func errorText(err error) string {
	text := strings.ReplaceAll(err.Error(), landfall.ErrUnavailable.Error()+": ", "")
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		// What was refused has a detail made for people; the chain of errors around it says where
		// in the program that was.
		text = known.Detail
	}
	return escapeText(strings.ReplaceAll(text, "\n", "; "))
}
