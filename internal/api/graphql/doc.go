// Package graphql serves the GraphQL mutation that exchanges an API key or a
// refresh token for service tokens. It follows the GraphQL over HTTP
// specification. Requests are limited before the GraphQL library sees them,
// because the endpoint is public.
package graphql
