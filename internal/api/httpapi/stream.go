package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/bulk"
	"landfall/internal/lib/admission"
	"landfall/internal/store/pack"
)

// typeLines is what bulk answers with, whichever of its names was sent.
var typeLines = []string{"application/x-ndjson"}

// streamTypes are the names of lines of JSON.
var streamTypes = []string{"application/x-ndjson", "application/jsonl"}

const (
	// streamsEach and streamsAll are how many bulk requests are worked on at
	// once: of one organisation, and in all.
	streamsEach = 4
	streamsAll  = 16
)

// The refusals of who would have waited too long for another to end.
var (
	errOwnStreams = &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: limitWait,
		Detail: "Your organisation is sending too many bulk requests at once. Finish one, or try again shortly.",
	}
	errAllStreams = &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitWait,
		Detail: "Too many bulk requests are being sent at once. Send the same request again shortly.",
	}
)

// stream has the lines of a request answered. From here on whatever goes wrong
// is told in a line, for the status is 200 before the first one is known.
func (a *API) stream(ctx context.Context, x *exchange) error {
	encoding, err := checkStream(x.request.Header)
	if err != nil {
		return err
	}
	// Asked before a place is taken: a stream that begins now would hold up the end.
	if a.Draining() {
		return errShuttingDown
	}
	// The place is taken before the body is touched, so that who waits for one costs a connection
	// and no memory.
	free, err := a.streams.Acquire(ctx, admission.Request{Tenant: x.who.Organisation})
	if err != nil {
		return err
	}
	defer free()
	line := http.NewResponseController(x.ResponseWriter)
	request := bulk.Request{Verb: x.route.verb, Who: x.who, Query: x.query, SetReadDeadline: line.SetReadDeadline}
	// The listener may have its own idea of how long a body may take; it is
	// told, or it would cut the line off while we still read.
	if patient, is := x.request.Body.(interface{ EndBy(at time.Time) error }); is {
		request.SetReadDeadline = patient.EndBy
	}
	body := io.Reader(x.request.Body)
	if encoding != "" {
		unpacked := pack.NewReader(encoding, body)
		defer unpacked.Close()
		body = unpacked
	}
	if a.Quota != nil {
		if body, request.WaitQuota, err = a.Quota.Stream(ctx, x.who, body); err != nil {
			return err
		}
	}
	// Answers go out while lines still come in.
	if err := line.EnableFullDuplex(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	// What was not read of the body is, before the server does: after answers
	// that went out meanwhile it would take the end of this body for a read of
	// its own that is still under way, and end the connection with a panic.
	defer func() { _ = x.request.Body.Close() }()
	x.Header()["Content-Type"] = typeLines
	request.Body, request.Writer, request.Authenticate = body, streamWriter{x, line}, func(ctx context.Context) error { return a.authenticate(ctx, x) }
	a.Metrics.streams.Inc()
	defer a.Metrics.streams.Dec()
	a.recordStream(x, a.bulk.Serve(ctx, request))
	return nil
}

// recordStream notes what became of a stream, for the log and the metrics.
func (a *API) recordStream(x *exchange, result bulk.Result) {
	x.supplier, x.stream = result.Supplier, &result
	if result.Stopped != nil {
		x.code = result.Stopped.Code
		a.Metrics.stopped.WithLabelValues(x.code).Inc()
	}
	// Without a status it was the client who left; with one the answers were cut off in the
	// middle.
	if result.Aborted {
		x.status, x.aborted = cmp.Or(x.status, statusClientClosed), true
	}
}

// streamWriter is the connection as bulk uses it.
type streamWriter struct {
	*exchange
	control *http.ResponseController
}

// Flush sends what was written so far.
func (s streamWriter) Flush() error { return supported(s.control.Flush()) }

// SetWriteDeadline says until when the caller must take what was written.
func (s streamWriter) SetWriteDeadline(at time.Time) error {
	return supported(s.control.SetWriteDeadline(at))
}

// supported leaves out that a recorder in a test has no connection.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// checkStream accepts lines of JSON in UTF-8, packed or not.
func checkStream(header http.Header) (encoding string, err error) {
	types := header["Content-Type"]
	if len(types) != 1 || !isLines(types[0]) {
		return "", unsupportedMedia("The body must be application/x-ndjson or application/jsonl: one JSON object on each line.")
	}
	for _, one := range header["Content-Encoding"] {
		switch one = strings.ToLower(strings.TrimSpace(one)); {
		case one == "identity":
		case (one == pack.Gzip || one == pack.Zstd) && encoding == "":
			encoding = one
		default:
			return "", unsupportedMedia("The body may be compressed with gzip or zstd, once.")
		}
	}
	return encoding, nil
}

// isLines reads a media type under any of its names.
func isLines(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || !slices.Contains(streamTypes, media) || len(params) > 1 {
		return false
	}
	charset, given := params["charset"]
	return len(params) == 0 || given && strings.EqualFold(charset, "utf-8")
}
