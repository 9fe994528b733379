// Package bulk answers many calls of one verb in one request: lines of JSON come
// in, and while they still do, lines of answers go out in the same order, each
// with the very body the single call would have had. It takes lines as fast as
// they can be done and no faster: whatever is short makes it slower, and only
// what cannot be waited for ends it early, with a last line that says where to
// go on.
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

// Options is what bulk needs from the rest of the program.
type Options struct {
	Answers *answer.API
	// LineLimit is the longest a line may be: what a single call's body may.
	LineLimit int64
	// CallTime is how long one line may take.
	CallTimeout time.Duration
	// Draining says that the service is about to end; nil: never.
	Draining func() bool
	// Busy says that single calls have come of late that bulk must not be in
	// the way of; nil: never.
	Busy func() bool
	// Alone says that none has come for so long that bulk may have the whole
	// machine; nil: never.
	Idle func() bool
	// Count takes down the status of every line; nil: nobody does.
	Count  func(verb *answer.Verb, status int)
	Logger *slog.Logger
	Spool  Spool
}

// Service answers bulk requests. All of them share its bounds.
type Service struct {
	Options
	large *admission.Limiter // for lines that do not fit into the usual memory
	disk  *disk
	turns *turns
}

// New gives a service.
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
	return &Service{Options: options, large: newLargeLines(), disk: newDisk(options.Spool), turns: newTurns(options.Idle)}
}

// Writer is the connection to the caller.
type Writer interface {
	io.Writer
	Flush() error
	SetWriteDeadline(at time.Time) error
}

// Request is one bulk request, whose sender was let in already.
type Request struct {
	Verb   *answer.Verb
	Who    landfall.Principal
	Query  string    // holds for every line
	Body   io.Reader // the lines, unpacked
	Writer Writer
	// EndBy sets a time by which whoever waits for more of the body gives up.
	SetReadDeadline func(at time.Time) error
	// Again asks once more whether the sender may do this: his key may be
	// revoked while he sends.
	Authenticate func(ctx context.Context) error
	// Pace waits until the sender's organisation may send one more line; nil
	// when it need not.
	WaitQuota func(ctx context.Context) error
}

// Result is what became of a request, for whoever logs it.
type Result struct {
	Lines    int64 // dealt with, blank ones included
	Statuses map[int]int64
	Supplier string          // whom the lines were about, when it was one alone
	Stopped  *landfall.Error // why it ended early; nil when it did not
	Aborted  bool            // the caller did not get the end of the answer
}

// Serve answers a request. It returns when everything was sent, or when there
// is nobody any more to send it to.
func (s *Service) Serve(ctx context.Context, request Request) Result {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	ctx = landfall.Patiently(ctx, atProcessors{s.turns, request.Who.Organisation})
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
