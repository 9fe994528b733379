package graphql

import (
	"context"
	"fmt"
	"regexp"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

// valueFreeRules are the validation rules whose messages contain names of the
// document, but no values, so that they can be shown as hints.
var valueFreeRules = map[string]bool{
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

// secretPattern matches keys and tokens, also in place of a name.
var secretPattern = regexp.MustCompile(`(?i)lf[ar]?_\w+`)

// maskSecrets masks what looks like a secret.
func maskSecrets(message string) string {
	return secretPattern.ReplaceAllString(message, "‹secret›")
}

// unparsable is the error for a document on which the library panics.
func unparsable() []*gqlerrors.QueryError {
	return []*gqlerrors.QueryError{{Message: "unreadable", Err: fmt.Errorf("unreadable document: %w", gqlerrors.ErrSyntax)}}
}

// panicHandler turns a panic in a resolver into an error that the handler logs
// once. The library would log it and send it to the client.
type panicHandler struct{}

// LogPanic does nothing; the handler logs.
func (panicHandler) LogPanic(context.Context, any) {}

// MakePanicError converts a panic to an error.
func (panicHandler) MakePanicError(_ context.Context, value any) *gqlerrors.QueryError {
	return &gqlerrors.QueryError{Message: "panic", ResolverError: fmt.Errorf("panic in a resolver: %v", value)}
}
