package graphql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"

	"landfall/internal/lib/spelling"
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

// introspectionOff answers introspection where it is not allowed.
const introspectionOff = "Introspection is off. This endpoint has one mutation: obtainServiceToken(input: {apiKey: \"…\"}) " +
	"{ token expiresIn refreshToken refreshExpiresIn }, or with refreshToken instead of apiKey. " +
	"To read the schema from the service, ask the operator to allow introspection."

// schemaNames are the names that a document can use.
var schemaNames = []string{
	"obtainServiceToken", "ObtainServiceToken", "input", "apiKey", "refreshToken", "token", "expiresIn", "refreshExpiresIn", "service", "ObtainServiceTokenInput", "String",
}

// hint names what a document probably means where it uses an unknown name. It
// never repeats what was sent, which may be a key in the wrong place.
func hint(document string) string {
	scan, depth := newScanner(document), 0
	var meant []string
	for previous := ""; ; {
		token := nextToken(scan)
		switch token {
		case "":
			if meant == nil {
				return ""
			}
			return " Did you mean " + strings.Join(meant, ", ") + "?"
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			depth--
		default:
			if depth == 0 || previous == "$" || slices.Contains(schemaNames, token) {
				break
			}
			if near := spelling.Near(token, schemaNames); len(near) > 0 && !slices.Contains(meant, near[0]) {
				meant = append(meant, near[0])
			}
		}
		previous = token
	}
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
