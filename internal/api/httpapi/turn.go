package httpapi

import (
	"runtime"
	"time"

	"landfall"
	"landfall/internal/lib/turnstile"
)

const (
	// DefaultInWork is how many requests are worked on at once. It is far more
	// than a machine has use for, so that the database can join many of them;
	// beyond it more would only make all of them later.
	DefaultInWork = 256
	// turnPatience is how long a request waits for its turn. Whoever is served
	// after it has time left to be answered within two seconds; whoever is not
	// may as well come back.
	turnPatience = time.Second
)

// errBusy is told to who would have waited too long.
var errBusy = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: turnPatience,
	Detail: "The service has more to do than it can. Send the same request again shortly.",
}

// newTurns lets so many requests be worked on at once.
func newTurns(most int) *turnstile.Turnstile { return turnstile.New(most, turnPatience, errBusy) }

// newLongTurns is for the bodies that take a processor for a while. At most as
// many are worked on as there are processors, and half as many of one
// organisation: whoever sends nothing else must leave some for the others.
func newLongTurns() *turnstile.Turnstile {
	processors := runtime.GOMAXPROCS(0)
	turns := newTurns(processors)
	turns.Share = max(1, processors/2)
	return turns
}
