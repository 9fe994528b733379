package app

import (
	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

// The time limit of a request comes from the engine's table of limits. The limits
// are nested: inner ones expire first, so that the caller gets an answer and not
// a closed connection.
var (
	// requestTime is the time from the last byte of a request to its answer.
	requestTime = engine.DefaultLimits().Request
	// shortestAnswer is the shortest write timeout. It covers the request itself,
	// waiting for its turn, and sending the answer.
	shortestAnswer = requestTime + limits.RequestSpare
)
