package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
)

// retryAfter is how long a caller should wait when the database is away.
const retryAfter = time.Second

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

// throttled is the answer to somebody who failed too often.
func throttled(wait time.Duration) *landfall.Error {
	return &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests,
		Detail: "Too many failed attempts. Wait before trying again.", RetryAfter: wait,
	}
}

// storeFault turns a store's failure into what the edge shows. An unknown
// outcome counts as unavailable: asking again with the key is always safe.
func storeFault(doing string, err error) error {
	var known *landfall.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, landfall.ErrUnavailable), errors.Is(err, landfall.ErrUnknownOutcome),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &landfall.Error{
			Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
			Detail:     "The service is temporarily unavailable. Try again shortly.",
			RetryAfter: retryAfter, Cause: fmt.Errorf("%s: %w", doing, err),
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
