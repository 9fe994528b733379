package app

import (
	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

// How long a caller's request may take follows from the engine's table of time
// limits, which begins with it: whatever is inside gives up first, so that the
// caller gets an answer and not a cut line.
var (
	// requestTime is what a request has from its last byte to its answer.
	requestTime = engine.DefaultLimits().Request
	// shortestAnswer is the least time to take an answer that leaves room for
	// the request's own, for its turn, and for sending it.
	shortestAnswer = requestTime + spareTime
)

// spareTime is what everything around the database takes at most.
const spareTime = limits.RequestSpare
