package graphql

import (
	"context"
	"fmt"
	"regexp"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

// teachable are the rules whose messages speak of names in the document and
// not of values, so that they may be shown where hints are wanted.
var teachable = map[string]bool{
	"FieldsOnCorrectTypeRule":       true,
	"KnownArgumentNamesRule":        true,
	"KnownDirectivesRule":           true,
	"KnownFragmentNamesRule":        true,
	"KnownTypeNamesRule":            true,
	"NoUndefinedVariablesRule":      true,
	"NoUnusedFragmentsRule":         true,
	"NoUnusedVariablesRule":         true,
	"ProvidedRequiredArgumentsRule": true,
	"ScalarLeafsRule":               true,
}

// secretForm is what a key or token looks like, also in the place of a name.
var secretForm = regexp.MustCompile(`(?i)lf[ar]?_\w+`)

// scrub masks what looks like a secret.
func scrub(message string) string { return secretForm.ReplaceAllString(message, "‹secret›") }

// unreadable is the error of a document the library could not even refuse.
func unreadable() []*gqlerrors.QueryError {
	return []*gqlerrors.QueryError{{Message: "unreadable", Err: fmt.Errorf("unreadable document: %w", gqlerrors.ErrSyntax)}}
}

// panics takes the panics of resolvers: each becomes an error that the handler
// logs once, instead of a line of the library's own and a message to the client.
type panics struct{}

// LogPanic leaves the logging to the handler.
func (panics) LogPanic(context.Context, any) {}

// MakePanicError makes a panic an error of ours.
func (panics) MakePanicError(_ context.Context, value any) *gqlerrors.QueryError {
	return &gqlerrors.QueryError{Message: "panic", ResolverError: fmt.Errorf("panic in a resolver: %v", value)}
}
