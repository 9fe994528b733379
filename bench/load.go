package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load is a closed-loop generator: each connection sends its next request as
// soon as it has read the answer to the last one. It writes prepared bytes and
// reads as little as HTTP allows, so that on a small machine the server under
// test gets nearly all of the processor.
type load struct {
	address     string
	connections int
	next        func(n int64, request []byte) []byte // appends the n-th request
	most        int64                                // stop after so many; 0 means when time is up
	want        string                               // the start of every good answer's status, e.g. "20"
}

// run sends requests for a while and gives the rate of good answers. Any other
// answer ends the run: a benchmark of refusals measures nothing.
func (l load) run(ctx context.Context, length time.Duration) (float64, error) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	var number, answered atomic.Int64
	var failure error
	var once sync.Once
	var group sync.WaitGroup
	started := time.Now()
	for range l.connections {
		group.Go(func() {
			if err := l.drive(ctx, &number, &answered); err != nil {
				once.Do(func() { failure = err })
				stop()
			}
		})
	}
	group.Wait()
	return float64(answered.Load()) / time.Since(started).Seconds(), failure
}

func (l load) drive(ctx context.Context, number, answered *atomic.Int64) error {
	conn, err := net.Dial("tcp", l.address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReaderSize(conn, 16<<10)
	var request []byte
	for ctx.Err() == nil {
		n := number.Add(1)
		if l.most > 0 && n > l.most {
			return nil
		}
		request = l.next(n, request[:0])
		if _, err := conn.Write(request); err != nil {
			return err
		}
		status, err := readAnswer(reader)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(status, []byte(l.want)) {
			return fmt.Errorf("the server answered %s, not %s…", status, l.want)
		}
		answered.Add(1)
	}
	return nil
}

// readAnswer reads one answer with a Content-Length and gives its status.
func readAnswer(reader *bufio.Reader) ([]byte, error) {
	line, err := reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 12 {
		return nil, fmt.Errorf("not an HTTP answer: %q", line)
	}
	status := append([]byte(nil), line[9:12]...)
	length := -1
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("answer %s has no Content-Length", status)
	}
	if _, err := io.CopyN(io.Discard, reader, int64(length)); err != nil {
		return nil, err
	}
	return status, nil
}

// post prepares requests to one path whose bodies come from a function.
func post(path, token string, body func(n int64, dst []byte) []byte) func(int64, []byte) []byte {
	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	if token != "" {
		head += "Authorization: Token " + token + "\r\n"
	}
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
