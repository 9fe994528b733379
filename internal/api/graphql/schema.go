package graphql

import (
	"context"
	"errors"
	"sync/atomic"

	"landfall"
	"landfall/internal/service/auth"
)

// schemaText declares the schema. The mutation has two names: the one GraphQL
// clients expect, and the one in the documentation.
const schemaText = `
schema { query: Query, mutation: Mutation }

type Query {
	"Name of this service."
	service: String!
}

type Mutation {
	"Exchanges an API key or a refresh token, exactly one of the two, for service tokens."
	obtainServiceToken(input: ObtainServiceTokenInput!): ServiceToken
	"The same mutation under its documented name."
	ObtainServiceToken(input: ObtainServiceTokenInput!): ServiceToken
}

input ObtainServiceTokenInput {
	"API key of an organisation, issued by the operator."
	apiKey: String
	"Refresh token from an earlier response. It can be used once."
	refreshToken: String
}

type ServiceToken {
	"Access token for the Authorization header of every request."
	token: String!
	"Seconds until the token expires."
	expiresIn: Int!
	"Refresh token, exchanged once for new tokens."
	refreshToken: String!
	"Seconds until the refresh token expires."
	refreshExpiresIn: Int!
}
`

// Issuer issues tokens.
type Issuer interface {
	Issue(ctx context.Context, source, apiKey string) (auth.Grant, error)
	Refresh(ctx context.Context, source, refreshToken string) (auth.Grant, error)
}

// root resolves the fields of Query and Mutation.
type root struct{ issuer Issuer }

// Service returns the name of the service.
func (r *root) Service() string { return "landfall" }

// tokenArgs are the arguments of the mutation.
type tokenArgs struct {
	Input struct {
		APIKey       *string
		RefreshToken *string
	}
}

// errInput is the error for wrong arguments. It does not count as a failed
// attempt.
var errInput = errors.New("exactly one of apiKey and refreshToken must be given")

// ObtainServiceToken resolves both names of the mutation.
func (r *root) ObtainServiceToken(ctx context.Context, given tokenArgs) (*serviceToken, error) {
	visit, _ := ctx.Value(requestStateKey{}).(*requestState)
	if visit == nil || visit.tokenRequested.Swap(true) {
		return nil, errors.New("a request can obtain only one token")
	}
	var grant auth.Grant
	var err error
	switch key, refresh := given.Input.APIKey, given.Input.RefreshToken; {
	case (key == nil) == (refresh == nil):
		err = errInput
	case key != nil:
		grant, err = r.issuer.Issue(ctx, visit.source, *key)
	default:
		grant, err = r.issuer.Refresh(ctx, visit.source, *refresh)
	}
	if err != nil {
		return nil, err
	}
	return &serviceToken{grant}, nil
}

// requestState is what the resolver knows about its request.
type requestState struct {
	source         string
	tokenRequested atomic.Bool // a token was asked for already
}

// requestStateKey is the context key of the requestState.
type requestStateKey struct{}

// serviceToken resolves the fields of ServiceToken.
type serviceToken struct{ grant auth.Grant }

// Token is one of the two places where a secret leaves its type.
func (t *serviceToken) Token() string { return t.grant.Token.Reveal() }

// ExpiresIn is relative, so that the client's clock does not matter.
func (t *serviceToken) ExpiresIn() int32 { return int32(t.grant.ExpiresIn.Seconds()) }

// RefreshToken is the other place.
func (t *serviceToken) RefreshToken() string { return t.grant.RefreshToken.Reveal() }

func (t *serviceToken) RefreshExpiresIn() int32 { return int32(t.grant.RefreshExpiresIn.Seconds()) }

var _ Issuer = (*auth.Issuer)(nil)

// kindOf returns the kind of a resolver's error; a foreign error is Internal.
func kindOf(err error) landfall.Kind {
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		return known.Kind
	}
	return landfall.Internal
}
