package graphql_test

import (
	"strings"
	"testing"

	"landfall/internal/api/graphql"
)

func TestAWronglySpelledNameIsAnsweredWithTheRightOne(t *testing.T) {
	for document, want := range map[string]string{
		`mutation { obtainServiceToken(input: {apikey: "k"}) { token } }`:        "Did you mean apiKey?",
		`mutation { obtainServiceToken(input: {api_key: "k"}) { token } }`:       "Did you mean apiKey?",
		`mutation { obtainServiceToken(inputs: {apiKey: "k"}) { token } }`:       "Did you mean input?",
		`mutation { obtainServiceTokens(input: {apiKey: "k"}) { token } }`:       "Did you mean obtainServiceToken?",
		`mutation { obtainServiceToken(input: {apiKey: "k"}) { expires_in } }`:   "Did you mean expiresIn?",
		`mutation { obtainServiceToken(input: {refresh_token: "k"}) { token } }`: "Did you mean refreshToken?",
	} {
		issuer := &stubIssuer{}
		got := ask(t, graphql.New(issuer, graphql.Options{}), hostile{body: quoted(document)}.request())
		if len(got.Errors) == 0 || !strings.Contains(got.Errors[0].Message, want) || len(issuer.keys) > 0 {
			t.Errorf("%s: %s", document, got.Body)
		}
	}
}

func TestIntrospectionIsAnsweredWithWhatToDo(t *testing.T) {
	for _, document := range []string{
		"{ __schema { types { name } } }",
		"query IntrospectionQuery { __schema { queryType { name } } " + strings.Repeat("a: __typename ", 200) + "}",
	} {
		got := ask(t, graphql.New(&stubIssuer{}, graphql.Options{}), hostile{body: quoted(document)}.request())
		if got.Code != 200 || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "obtainServiceToken(input: {apiKey:") {
			t.Errorf("%s: %d %s", document, got.Code, got.Body)
		}
	}
	if got := ask(t, graphql.New(&stubIssuer{}, graphql.Options{Introspection: true}), hostile{body: quoted("{ __schema { types { name } } }")}.request()); len(got.Errors) > 0 {
		t.Errorf("with introspection: %s", got.Body)
	}
}
