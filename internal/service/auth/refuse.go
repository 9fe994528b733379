package auth

import (
	"time"

	"landfall"
)

// missing is the answer to a request that shows no token at all.
func missing() *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated,
		Detail: "Authentication credentials were not provided.",
	}
}

// refused is the one answer to every bad credential. It never says which part
// was wrong: that would help only somebody who is guessing.
func refused() *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unauthenticated, Code: landfall.CodeAuthenticationFailed,
		Detail: "The credentials are not valid.",
	}
}

// keyShown is the answer to an API key in the place of a token: the mistake
// that everybody makes once. It says nothing about the key itself.
func keyShown() *landfall.Error {
	return &landfall.Error{
		Kind: landfall.Unauthenticated, Code: landfall.CodeAuthenticationFailed,
		Detail: "This is an API key. Swap it for a token first, with obtainServiceToken at /v1/graphql/.",
	}
}

// throttled is the answer to somebody who failed too often.
func throttled(wait time.Duration) *landfall.Error {
	return &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests,
		Detail: "Too many failed attempts. Wait before trying again.", RetryAfter: wait,
	}
}
