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

// bulkStagePath is the endpoint that is measured.
const bulkStagePath = "/v1/data-import/bulk/account-import-process/create-or-update/"

// stream sends accounts in one bulk request until the time is up or none are
// left, and returns the rate at which they were staged. It reads responses
// while it sends and parses only the summary, so that the server gets nearly
// all of the CPU.
func (s *service) stream(ctx context.Context, numbers *counter, length time.Duration, most int64) (*streamed, error) {
	found := &streamed{}
	return found, s.streamTo(ctx, found, numbers, length, most)
}

// streamTo does the same and reports its progress.
func (s *service) streamTo(ctx context.Context, found *streamed, numbers *counter, length time.Duration, most int64) error {
	// A plain connection: the client of net/http would take a CPU away from the
	// server.
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	found.began = time.Now()
	// Send and read at the same time, as intended. Reading only at the end
	// would measure the spool.
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

// streamed is the result of a bulk request.
type streamed struct {
	began    time.Time
	sent     int64
	answered atomic.Int64 // lines so far, for observers
	lines    int64
	ended    time.Time
	tail     []byte
}

// read counts responses and keeps the last line, which is the summary.
func (s *streamed) read(body io.Reader) error {
	piece := make([]byte, 256<<10)
	for {
		n, err := body.Read(piece)
		s.answered.Add(int64(bytes.Count(piece[:n], []byte{'\n'})))
		s.tail = append(s.tail, piece[:n]...)
		// Keep only the end: a million responses would need more memory than
		// the server.
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
	// A stream with refused lines is no valid measurement.
	if !told.Summary.Complete || told.Summary.Statuses["201"] != s.lines {
		return fmt.Errorf("not everything was staged: %s", last)
	}
	return nil
}

// rate is the number of lines per second, including the end.
func (s *streamed) rate() float64 { return float64(s.lines) / s.ended.Sub(s.began).Seconds() }

// sendAccounts writes a request in chunks of a few hundred lines.
func sendAccounts(ctx context.Context, to io.Writer, token string, numbers *counter, until time.Time, most int64) (sent int64) {
	fmt.Fprintf(to, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n"+
		"Authorization: Token %s\r\n\r\n", bulkStagePath, token)
	var lines, chunk []byte
	for ctx.Err() == nil && time.Now().Before(until) && (most == 0 || sent < most) {
		lines = lines[:0]
		// Two hundred accounts per chunk are a few hundred kilobytes: fewer
		// system calls than one per line, and still a steady stream.
		for range 200 {
			lines = append(appendAccount(numbers.last.Add(1), lines), '\n')
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
