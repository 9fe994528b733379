package landfall

import "context"

// Caller is for whom a store works. Organisations take turns, so that none
// blocks another, and the kinds of work of one organisation take turns as well.
type Caller struct {
	Organisation string // "" is the service itself
	Priority     Priority
}

// Priority is a kind of work. Each has queues of its own: otherwise the single
// calls of an organisation would wait for its bulk requests and runs.
type Priority uint8

// The kinds of work.
const (
	Interactive  Priority = iota // single calls
	BulkPriority                 // lines of bulk requests
	RunPriority                  // runs
)

// String returns the name of the queue.
func (p Priority) String() string {
	return [...]string{"interactive", "bulk", "run"}[p]
}

// Turn waits until work that needs a processor may begin. The returned function
// must be called when the work is done. A nil Turn does not wait.
type Turn func(ctx context.Context) (leave func())

// Wait waits for the turn.
func (t Turn) Wait(ctx context.Context) (leave func()) {
	if t == nil {
		return func() {}
	}
	return t(ctx)
}
