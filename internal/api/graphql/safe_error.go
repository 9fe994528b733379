package graphql

import (
	"context"
	"fmt"
	"regexp"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

// safeRules are the rules whose messages speak of names in the document and
// not of values, so that they may be shown where hints are wanted.
var safeRules = map[string]bool{
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

// secretPattern is what a key or token looks like, also in the place of a name.
var secretPattern = regexp.MustCompile(`(?i)lf[ar]?_\w+`)

// maskSecrets masks what looks like a secret.
func maskSecrets(message string) string {
	return secretPattern.ReplaceAllString(message, "‹secret›")
}

// unparsable is the error of a document the library could not even refuse.
func unparsable() []*gqlerrors.QueryError {
	return []*gqlerrors.QueryError{{Message: "unreadable", Err: fmt.Errorf("unreadable document: %w", gqlerrors.ErrSyntax)}}
}

// panicHandler takes the panics of resolvers: each becomes an error that the handler
// logs once, instead of a line of the library's own and a message to the client.
type panicHandler struct{}

// LogPanic leaves the logging to the handler.
func (panicHandler) LogPanic(context.Context, any) {}

// MakePanicError makes a panic an error of ours.
func (panicHandler) MakePanicError(_ context.Context, value any) *gqlerrors.QueryError {
	return &gqlerrors.QueryError{Message: "panic", ResolverError: fmt.Errorf("panic in a resolver: %v", value)}
}
