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

// typeLines is the content type of bulk responses.
var typeLines = []string{"application/x-ndjson"}

// streamTypes are the accepted content types of bulk requests.
var streamTypes = []string{"application/x-ndjson", "application/jsonl"}

const (
	// streamsEach and streamsAll limit concurrent bulk requests: per organisation
	// and in total.
	streamsEach = 4
	streamsAll  = 16
)

// The errors of bulk requests that would wait too long for another one to end.
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

// stream serves a bulk request. The status is 200 before the first line is
// known, so from here on errors are reported in lines.
func (a *API) stream(ctx context.Context, x *exchange) error {
	encoding, err := checkStream(x.request.Header)
	if err != nil {
		return err
	}
	// Check before acquiring a slot: a new stream would delay the shutdown.
	if a.Draining() {
		return errShuttingDown
	}
	// Acquire a slot before reading the body, so that a waiting request costs a
	// connection but no memory.
	free, err := a.streams.Acquire(ctx, admission.Request{Tenant: x.who.Organisation})
	if err != nil {
		return err
	}
	defer free()
	line := http.NewResponseController(x.ResponseWriter)
	request := bulk.Request{Verb: x.route.verb, Who: x.who, Query: x.query, SetReadDeadline: line.SetReadDeadline}
	// The listener may have its own body timeout, which must be extended, too.
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
	// Results are sent while lines are still arriving.
	if err := line.EnableFullDuplex(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	// Close the body before the server does. After a full-duplex response the server
	// would mistake the end of this body for a pending read of its own and panic.
	defer func() { _ = x.request.Body.Close() }()
	x.Header()["Content-Type"] = typeLines
	request.Body, request.Writer, request.Authenticate = body, streamWriter{x, line}, func(ctx context.Context) error { return a.authenticate(ctx, x) }
	a.Metrics.streams.Inc()
	defer a.Metrics.streams.Dec()
	a.recordStream(x, a.bulk.Serve(ctx, request))
	return nil
}

// recordStream records the result of a stream for the log and the metrics.
func (a *API) recordStream(x *exchange, result bulk.Result) {
	x.supplier, x.stream = result.Supplier, &result
	if result.Stopped != nil {
		x.code = result.Stopped.Code
		a.Metrics.stopped.WithLabelValues(x.code).Inc()
	}
	// Without a status, the client left before the response; with one, the response
	// was cut off.
	if result.Aborted {
		x.status, x.aborted = cmp.Or(x.status, statusClientClosed), true
	}
}

// streamWriter is the connection as used by package bulk.
type streamWriter struct {
	*exchange
	control *http.ResponseController
}

// Flush sends what was written so far.
func (s streamWriter) Flush() error { return supported(s.control.Flush()) }

// SetWriteDeadline sets the time by which the client must read.
func (s streamWriter) SetWriteDeadline(at time.Time) error {
	return supported(s.control.SetWriteDeadline(at))
}

// supported ignores that a response recorder in a test has no connection.
func supported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// checkStream accepts newline-delimited JSON in UTF-8, optionally compressed.
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

func isLines(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || !slices.Contains(streamTypes, media) || len(params) > 1 {
		return false
	}
	charset, given := params["charset"]
	return len(params) == 0 || given && strings.EqualFold(charset, "utf-8")
}
