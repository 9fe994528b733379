package bulk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
	"landfall/internal/store/pack"
)

const (
	// After a stop, the rest of the body is read and discarded. A client that
	// sends everything before it reads anything would otherwise never learn why
	// the request was stopped. These are the limits: in total, in total during a
	// shutdown, and without receiving a byte.
	drainTime         = limits.BulkDrain
	drainTimeShutdown = limits.BulkDrainAtShutdown
	drainIdleTime     = limits.BulkDrainIdle
)

// read reads lines until the body ends or the request is stopped.
func (t *stream) read(ctx context.Context) {
	defer close(t.ready)
	arriving := lineReader{
		source: (*bodyReader)(t), limit: int(t.LineLimit),
		reserve: func() (func(), error) {
			return t.large.Acquire(ctx, admission.Request{Tenant: t.request.Who.Organisation})
		},
	}
	for blanks := 0; ; {
		line, err := arriving.next()
		blanks++
		if !line.blank() {
			blanks = 0
		}
		// Compressed, millions of blank lines are a small request.
		if err == nil && blanks > limits.BulkBlankLines {
			err = errBlankLines
		}
		if err != nil {
			t.arrived(arriving.number, err)
			break
		}
		// The quota counts lines, blank ones too, not bytes. It slows the sender down
		// instead of refusing, so no line is lost.
		if t.request.WaitQuota != nil && t.request.WaitQuota(ctx) != nil {
			break
		}
		if blanks > 0 {
			continue
		}
		if !t.push(ctx, &entry{bodyLine: line}) {
			break
		}
	}
	if !t.bodyArrived() {
		t.drain()
	}
}

// arrived records why the body ended after a number of lines, the last of which
// may have been blank. Lines that arrived are processed even if the rest never
// arrives.
func (t *stream) arrived(number int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped != nil {
		return
	}
	t.next = number + 1
	if t.bodyComplete = errors.Is(err, io.EOF); !t.bodyComplete {
		t.bodyErr = bodyError(err)
	}
	t.changed.Broadcast()
}

// bodyArrived reports whether the whole body has arrived.
func (t *stream) bodyArrived() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bodyComplete
}

// bodyError returns why the rest of a body was not read.
func bodyError(err error) *landfall.Error {
	var known *landfall.Error
	switch {
	case errors.As(err, &known):
		return known // a quota
	case errors.Is(err, pack.ErrRatio):
		return &landfall.Error{
			Kind: landfall.TooLarge, Code: landfall.CodePayloadTooLarge,
			Detail: "The body expands too much when decompressed. Use less compression, or split it.",
		}
	case errors.Is(err, pack.ErrWindow):
		return &landfall.Error{
			Kind: landfall.TooLarge, Code: landfall.CodePayloadTooLarge,
			Detail: "The body needs a decompression window larger than 8 MiB. Compress it without --long and --ultra.",
		}
	case errors.Is(err, pack.ErrBroken):
		return malformed("The body cannot be decompressed from next_line on. Check the Content-Encoding and compress it again.", err)
	case errors.Is(err, pack.ErrTrailing):
		return malformed("There are other bytes behind the end of the compressed body. All lines before them were read. Send further lines, from next_line on, without those bytes.", err)
	case errors.Is(err, pack.ErrTruncated):
		return malformed("The compressed body is truncated. Compress and send the lines from next_line on again.", err)
	}
	return malformed("The body is incomplete. Send the lines from next_line on again.", err)
}

// errBlankLines ends a request that consists of blank lines.
var errBlankLines = malformed(fmt.Sprintf("More than %d blank lines follow each other. Leave them out.", limits.BulkBlankLines), nil)

func malformed(detail string, cause error) *landfall.Error {
	return &landfall.Error{Kind: landfall.Invalid, Code: rules.CodeMalformedJSON, Detail: detail, Cause: cause}
}

// bodyReader reads the body of a request and records its progress.
type bodyReader stream

// Read records that the service is waiting for the client, so that watch can
// tell an idle client from slow processing.
func (a *bodyReader) Read(into []byte) (int, error) {
	t := (*stream)(a)
	t.reading.Store(true)
	n, err := t.request.Body.Read(into)
	t.reading.Store(false)
	t.moved.Add(int64(n))
	return n, err
}

// drain reads what the client still sends, and discards it.
func (t *stream) drain() {
	long := drainTime
	if t.Draining() {
		long = drainTimeShutdown
	}
	scratch := make([]byte, pieceSize)
	for until := time.Now().Add(long); time.Now().Before(until) && !t.isClientGone(); {
		soon := time.Now().Add(drainIdleTime)
		if soon.After(until) {
			soon = until
		}
		_ = t.request.SetReadDeadline(soon)
		if _, err := (*bodyReader)(t).Read(scratch); err != nil {
			return
		}
	}
}

// isClientGone reports whether the client has disconnected.
func (t *stream) isClientGone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gone
}
