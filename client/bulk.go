package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
)

// Kind is a call that can be made in bulk: the end of its path.
type Kind string

// The kinds of bulk calls.
const (
	BulkValidate     Kind = "validate-account"
	BulkStage        Kind = "account-import-process/create-or-update"
	BulkProcess      Kind = "account-import-process/process"
	BulkNotes        Kind = "notes/create"
	BulkTransactions Kind = "transactions/create"
	BulkStatements   Kind = "historical-statements/create"
	BulkInstructions Kind = "payment-instruction/create"
)

// Answer is the result of one line.
type Answer struct {
	Line   int             `json:"line"` // from 1, in the order sent
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"` // the body of the single call's response
}

// Err returns the refusal of a line, or nil.
func (a Answer) Err() error {
	if a.Status < http.StatusBadRequest {
		return nil
	}
	return parseError(a.Status, a.Body, nil)
}

// ErrCutOff means that the answers ended early. The outcome of the lines after the last answer is
// unknown, and sending them again is safe.
var ErrCutOff = errors.New("the answers ended early")

// StoppedError means that the server ended the call early, in order: nothing was done from NextLine
// on.
type StoppedError struct{ NextLine int }

// Error names the line to continue with.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("the server stopped before line %d; send the lines from there again", e.NextLine)
}

// Bulk makes one call for each line and yields the answers in order, while further lines are being
// sent. Lines are bodies without line feeds. An error from lines ends the call. Bulk does not
// retry: after an early end, the caller continues with the first line without an answer.
func (c *Client) Bulk(ctx context.Context, kind Kind, query url.Values, lines iter.Seq2[[]byte, error]) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		reader, writer := io.Pipe()
		var failed error // from lines
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			failed = writeLines(writer, lines)
		}()
		defer func() {
			_ = reader.Close() // ends the writer
			<-sent
		}()
		response, err := c.stream(ctx, kind, query, reader)
		if err == nil {
			defer response.Body.Close()
			err = readAnswers(response.Body, yield)
		}
		if errors.Is(err, errStopped) {
			return
		}
		_ = reader.Close()
		<-sent
		if failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
			err = failed
		}
		if err != nil {
			yield(Answer{}, err)
		}
	}
}

// stream opens a bulk call. Its body can be sent only once, so the token is checked first.
func (c *Client) stream(ctx context.Context, kind Kind, query url.Values, body io.Reader) (*http.Response, error) {
	token, err := c.tokens.current(ctx)
	if err != nil {
		return nil, err
	}
	target := c.server + "/v1/data-import/bulk/" + string(kind) + "/"
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	c.setHeaders(request.Header, token)
	// Let the server refuse before a million lines are sent.
	request.Header.Set("Expect", "100-continue")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		if response.StatusCode == http.StatusUnauthorized {
			c.tokens.invalidate(token)
		}
		return nil, readError(response)
	}
	return response, nil
}

// writeLines sends the lines until there are no more or the reader is closed.
func writeLines(writer *io.PipeWriter, lines iter.Seq2[[]byte, error]) error {
	out := bufio.NewWriterSize(writer, 64<<10)
	for line, err := range lines {
		if err == nil && bytes.IndexByte(line, '\n') >= 0 {
			err = errors.New("a line of a bulk call contains a line feed")
		}
		if err == nil {
			_, err = out.Write(line)
		}
		if err == nil {
			err = out.WriteByte('\n')
		}
		if err != nil {
			_ = writer.CloseWithError(err) // so that the server does not take it for the end
			return err
		}
	}
	err := out.Flush()
	_ = writer.CloseWithError(err) // nil ends the body
	return err
}

// errStopped means that the caller wants no more answers.
var errStopped = errors.New("stopped")

// readAnswers yields the answers and expects a summary at the end.
func readAnswers(body io.Reader, yield func(Answer, error) bool) error {
	in := bufio.NewReaderSize(body, 256<<10)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%w: %w", ErrCutOff, err)
		}
		if answer, is := parseAnswer(text); is {
			if !yield(answer, nil) {
				return errStopped
			}
			continue
		}
		var line struct {
			Answer
			Summary *struct {
				Complete bool `json:"complete"`
				NextLine int  `json:"next_line"`
			} `json:"summary"`
		}
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("cannot parse an answer: %w", err)
		}
		switch {
		case line.Summary != nil && line.Summary.Complete:
			_, err := io.Copy(io.Discard, in) // to the end, so that the connection can be reused
			return err
		case line.Summary != nil:
			return &StoppedError{line.Summary.NextLine}
		case !yield(line.Answer, nil):
			return errStopped
		}
	}
}
