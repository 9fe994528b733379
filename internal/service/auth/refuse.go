package auth

import (
	"time"

	"landfall"
)

// missing is the error of a request without a token.
func missing() *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated,
		Detail: "Authentication credentials were not provided.",
	}
}

// refused is the error of every invalid credential. It never says which part was
// wrong, because that would help guessing.
func refused() *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unauthenticated, Code: landfall.CodeAuthenticationFailed,
		Detail: "The credentials are not valid.",
	}
}

// keyShown is the error of an API key sent instead of a token, a common mistake. It
// says nothing about the key itself.
func keyShown() *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unauthenticated, Code: landfall.CodeAuthenticationFailed,
		Detail: "This is an API key. Exchange it for a token first, with obtainServiceToken at /v1/graphql/.",
	}
}

// throttled is the error after too many failures.
func throttled(wait time.Duration) *landfall.Error {
	return &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests,
		Detail: "Too many failed attempts. Wait before trying again.", RetryAfter: wait,
	}
}
