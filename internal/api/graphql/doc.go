// Package tokenql serves the one GraphQL mutation of the service: an API key
// or a refresh token in, service tokens out. The handler follows the GraphQL
// over HTTP specification; what may be asked is bounded before the GraphQL
// library sees it, because everybody can reach this door without a token.
package graphql
