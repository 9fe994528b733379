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
	"time"
)

// bulkStagePath is the call under test.
const bulkStagePath = "/v1/data-import/bulk/account-import-process/create-or-update/"

// stream sends accounts in one bulk request until the time is up or there are
// no more, and gives the rate at which they were staged. It reads the answers
// while it sends and looks at the summary alone, so that the server under test
// gets nearly all of the processors.
func (s *service) stream(ctx context.Context, numbers *counter, length time.Duration, most int64) (*streamed, error) {
	// A plain connection and no client of net/http: it would take a processor away from the
	// server under test.
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	found := &streamed{began: time.Now()}
	// Sending and reading go on at the same time, as the call is meant to be used; to read at the
	// end would measure the spool.
	var sending sync.WaitGroup
	sending.Go(func() { found.sent = sendAccounts(ctx, conn, s.token, numbers, found.began.Add(length), most) })
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 256<<10), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("bulk was answered %d: %s", answer.StatusCode, text)
	}
	if err := found.read(answer.Body); err != nil {
		return nil, err
	}
	sending.Wait()
	return found, nil
}

// streamed is what became of a bulk request.
type streamed struct {
	began time.Time
	sent  int64
	lines int64
	ended time.Time
	marks []mark // how far it was when
	tail  []byte
}

// mark is how far a stream was at a moment, from which the pace of any part follows.
type mark struct {
	lines int64
	at    time.Time
}

// read counts answers and keeps the last one, which is the summary.
func (s *streamed) read(body io.Reader) error {
	piece := make([]byte, 256<<10)
	for {
		n, err := body.Read(piece)
		s.lines += int64(bytes.Count(piece[:n], []byte{'\n'}))
		// A mark for each read, which costs next to nothing and lets any part of the stream be
		// timed afterwards.
		s.marks = append(s.marks, mark{s.lines, time.Now()})
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

// between gives the rate from one part of the lines to another.
func (s *streamed) between(from, to float64) float64 {
	var first, last mark
	for _, m := range s.marks {
		// The first mark at or behind the beginning and the last before the end: pieces do not
		// fall on exact shares.
		if first.at.IsZero() && float64(m.lines) >= from*float64(s.lines) {
			first = m
		}
		if float64(m.lines) <= to*float64(s.lines) {
			last = m
		}
	}
	return float64(last.lines-first.lines) / last.at.Sub(first.at).Seconds()
}

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
