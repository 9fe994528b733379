package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// bulkStagePath is the call under test.
const bulkStagePath = "/v1/data-import/bulk/account-import-process/create-or-update/"

// stream sends accounts in one bulk request until the time is up or there are
// no more, and gives the rate at which they were staged. It reads the answers
// while it sends and looks at the summary alone, so that the server under test
// gets nearly all of the processors.
func (s *service) stream(ctx context.Context, numbers *counter, length time.Duration, most int64) (*streamed, error) {
	found := &streamed{}
	return found, s.streamTo(ctx, found, numbers, length, most)
}

// streamTo does so for somebody who looks on.
func (s *service) streamTo(ctx context.Context, found *streamed, numbers *counter, length time.Duration, most int64) error {
	// A plain connection and no client of net/http: it would take a processor away from the
	// server under test.
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	found.began = time.Now()
	// Sending and reading go on at the same time, as the call is meant to be used; to read at the
	// end would measure the spool.
	var sending sync.WaitGroup
	sending.Go(func() { found.sent = sendAccounts(ctx, conn, s.token, numbers, found.began.Add(length), most) })
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 256<<10), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("bulk was answered %d: %s", answer.StatusCode, text)
	}
	if err := found.read(answer.Body); err != nil {
		return err
	}
	sending.Wait()
	return nil
}

// streamed is what became of a bulk request.
type streamed struct {
	began    time.Time
	sent     int64
	answered atomic.Int64 // lines so far, for whoever looks on
	lines    int64
	ended    time.Time
	tail     []byte
}

// read counts answers and keeps the last one, which is the summary.
func (s *streamed) read(body io.Reader) error {
	piece := make([]byte, 256<<10)
	for {
		n, err := body.Read(piece)
		s.answered.Add(int64(bytes.Count(piece[:n], []byte{'\n'})))
		s.tail = append(s.tail, piece[:n]...)
		// Only the end is kept: a million answers would be more memory than the server takes.
		if len(s.tail) > 4<<10 {
			s.tail = append([]byte(nil), s.tail[len(s.tail)-1<<10:]...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	s.ended = time.Now()
	last := bytes.TrimSpace(s.tail)
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	var told struct {
		Summary struct {
			Lines    int64            `json:"lines"`
			Statuses map[string]int64 `json:"statuses"`
			Complete bool             `json:"complete"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(last, &told); err != nil {
		return fmt.Errorf("no summary but %q", last)
	}
	s.lines = told.Summary.Lines
	// A stream that was refused in part is no measurement, however fast it was.
	if !told.Summary.Complete || told.Summary.Statuses["201"] != s.lines {
		return fmt.Errorf("not everything was staged: %s", last)
	}
	return nil
}

// rate is how many lines were done a second, the end included.
func (s *streamed) rate() float64 { return float64(s.lines) / s.ended.Sub(s.began).Seconds() }

// sendAccounts writes a request in chunks of some hundred lines.
func sendAccounts(ctx context.Context, to io.Writer, token string, numbers *counter, until time.Time, most int64) (sent int64) {
	fmt.Fprintf(to, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n"+
		"Authorization: Token %s\r\n\r\n", bulkStagePath, token)
	var lines, chunk []byte
	for ctx.Err() == nil && time.Now().Before(until) && (most == 0 || sent < most) {
		lines = lines[:0]
		// Two hundred accounts to a chunk are some hundred kilobytes: fewer system calls than one
		// for each line, and still a steady stream.
		for range 200 {
			lines = append(account(numbers.last.Add(1), lines), '\n')
		}
		sent += 200
		chunk = append(fmt.Appendf(chunk[:0], "%x\r\n", len(lines)), lines...)
		if _, err := to.Write(append(chunk, "\r\n"...)); err != nil {
			return sent
		}
	}
	_, _ = io.WriteString(to, "0\r\n\r\n")
	return sent
}
