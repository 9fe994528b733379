package tokenql

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

// silent takes the library's own log lines: a resolver's panic comes back as
// an error and is logged once, by the handler.
type silent struct{}

// LogPanic does nothing.
func (silent) LogPanic(context.Context, any) {}
