package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is a closed-loop load generator: each connection sends its next request
// as soon as it has read the previous response. It writes prepared bytes and
// parses as little as HTTP allows, so that on a small machine the server gets
// nearly all of the CPU.
type load struct {
	address     string
	connections int
	next        func(n int64, request []byte) []byte // appends the n-th request
	most        int64                                // maximum number of requests; 0 means until the time is up
	want        string                               // the start of every good answer's status, e.g. "20"
	lenient     bool                                 // count other responses as ones that took for ever
}

// run sends requests for a while and returns the rate of good responses and how
// long they took. Any other response ends the run, because refusals are cheap.
func (l load) run(ctx context.Context, length time.Duration) (sample, error) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	var number atomic.Int64
	var mutex sync.Mutex
	var failure error
	var group sync.WaitGroup
	var taken stopwatch
	started := time.Now()
	for range l.connections {
		group.Go(func() {
			// Each connection has its own list of times: a shared one would
			// make them wait for each other.
			own, err := l.drive(ctx, &number)
			mutex.Lock()
			defer mutex.Unlock()
			taken = append(taken, own...)
			if err != nil && failure == nil {
				failure = err
				stop()
			}
		})
	}
	group.Wait()
	return sample{rate: taken.good() / time.Since(started).Seconds(), p50: taken.percentile(0.5), p99: taken.percentile(0.99)}, failure
}

// drive is one client on one connection. It writes HTTP itself, because the
// client of net/http would use as much CPU as the server.
func (l load) drive(ctx context.Context, number *atomic.Int64) (taken stopwatch, err error) {
	conn, err := net.Dial("tcp", l.address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReaderSize(conn, 16<<10)
	var request []byte
	for ctx.Err() == nil {
		n := number.Add(1)
		if l.most > 0 && n > l.most {
			return taken, nil
		}
		request = l.next(n, request[:0])
		// Start the clock after composing the request, which is the generator's
		// work.
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			return taken, err
		}
		answer, err := readResponse(reader)
		if err != nil {
			return taken, err
		}
		if !strings.HasPrefix(answer.status, l.want) {
			if l.lenient {
				// Count a refusal, so that the percentiles show it.
				taken = append(taken, forever)
				continue
			}
			return taken, fmt.Errorf("the server answered %s, not %s…", answer.status, l.want)
		}
		taken = append(taken, time.Since(began))
	}
	return taken, nil
}

// response is the part of a response that measurements look at.
type response struct {
	status string
	retry  int // seconds of Retry-After; -1 without it
}

// readResponse reads a response with a Content-Length.
func readResponse(reader *bufio.Reader) (response, error) {
	line, err := reader.ReadSlice('\n')
	if err != nil {
		return response{}, err
	}
	if len(line) < 12 {
		return response{}, fmt.Errorf("not an HTTP answer: %q", line)
	}
	read, length := response{status: string(line[9:12]), retry: -1}, -1
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return response{}, err
		}
		if len(line) <= 2 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		var number *int
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			number = &length
		case bytes.EqualFold(name, []byte("Retry-After")):
			number = &read.retry
		default:
			continue
		}
		if *number, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
			return response{}, err
		}
	}
	// No measured endpoint sends chunked responses.
	if length < 0 {
		return response{}, fmt.Errorf("answer %s has no Content-Length", read.status)
	}
	if _, err := io.CopyN(io.Discard, reader, int64(length)); err != nil {
		return response{}, err
	}
	return read, nil
}

// post prepares requests to one path whose bodies come from a function.
func post(path, token string, body func(n int64, dst []byte) []byte) func(int64, []byte) []byte {
	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	if token != "" {
		head += "Authorization: Token " + token + "\r\n"
	}
	// The length comes before the body, so write the body to a buffer first.
	bodies := sync.Pool{New: func() any { return new([]byte) }}
	return func(n int64, dst []byte) []byte {
		scratch := bodies.Get().(*[]byte)
		defer bodies.Put(scratch)
		*scratch = body(n, (*scratch)[:0])
		dst = append(dst, head...)
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(*scratch)), 10)
		dst = append(dst, "\r\n\r\n"...)
		return append(dst, *scratch...)
	}
}
