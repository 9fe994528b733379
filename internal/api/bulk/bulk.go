// Package bulk answers many calls of one verb in one request. The request body
// is lines of JSON. Results are sent as lines in the same order while the body
// is still arriving, each with the same body as the response to a single call.
// The package reads lines only as fast as it can process them: a shortage slows
// a request down. It stops a request early only if waiting cannot help; the
// last line then says where to continue.
package bulk

import (
	"context"
	"io"
	"log/slog"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/lib/admission"
)

// Options configures a Service.
type Options struct {
	Answers *answer.API
	// LineLimit is the maximum length of a line, the same as for the body of a
	// single call.
	LineLimit int64
	// CallTimeout is how long one line may take.
	CallTimeout time.Duration
	// Draining reports whether the service is shutting down; nil: never.
	Draining func() bool
	// Busy reports whether single calls have arrived recently, which bulk
	// requests must not slow down; nil: never.
	Busy func() bool
	// Idle reports whether no single call has arrived for so long that bulk
	// requests may use the whole machine; nil: never.
	Idle func() bool
	// Count counts the status of every line; nil: not counted.
	Count  func(verb *answer.Verb, status int)
	Logger *slog.Logger
	Spool  Spool
}

// Service answers bulk requests. All of them share its limits.
type Service struct {
	Options
	large *admission.Limiter // of lines longer than maxUsualLine
	disk  *spoolDisk
	turns *turnLimiters
}

// New returns a Service.
func New(options Options) *Service {
	if options.Draining == nil {
		options.Draining = func() bool { return false }
	}
	if options.Busy == nil {
		options.Busy = func() bool { return false }
	}
	if options.Idle == nil {
		options.Idle = func() bool { return false }
	}
	if options.Count == nil {
		options.Count = func(*answer.Verb, int) {}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{Options: options, large: newLargeLines(), disk: newSpoolDisk(options.Spool), turns: newTurnLimiters(options.Idle)}
}

// Writer is the connection to the client.
type Writer interface {
	io.Writer
	Flush() error
	SetWriteDeadline(at time.Time) error
}

// Request is one bulk request. Its sender is already authenticated.
type Request struct {
	Verb   *answer.Verb
	Who    landfall.Principal
	Query  string    // of every line
	Body   io.Reader // the lines, decompressed
	Writer Writer
	// SetReadDeadline sets the time by which a pending read of the body fails.
	SetReadDeadline func(at time.Time) error
	// Authenticate checks again whether the sender is still allowed: the key may
	// be revoked during the request.
	Authenticate func(ctx context.Context) error
	// WaitQuota waits until the sender's organisation may send one more line;
	// nil: no waiting is needed.
	WaitQuota func(ctx context.Context) error
}

// Result is the result of a request, for the log.
type Result struct {
	Lines    int64 // processed, blank ones included
	Statuses map[int]int64
	Supplier string          // of the lines; "" if there were several
	Stopped  *landfall.Error // why it ended early; nil if it did not
	Aborted  bool            // the client did not receive the end of the response
}

// Serve answers a request. It returns when everything was sent, or when the
// client is gone.
func (s *Service) Serve(ctx context.Context, request Request) Result {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	request.Who.Priority = landfall.BulkPriority
	t := newStream(s, request)
	defer t.spool.close()
	t.running.Go(func() { t.collect() })
	t.running.Go(func() { t.send() })
	watching := t.watch(ctx)
	t.read(ctx)
	t.running.Wait()
	watching()
	return t.result()
}
