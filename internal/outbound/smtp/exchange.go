package smtp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// A server that talks without end must not fill the memory.
const (
	longestLine = 4 << 10 // RFC 5321 wants 512
	mostLines   = 100
)

// line is a connection with the reader of its answers.
type line struct {
	net.Conn
	reader *bufio.Reader
}

// newLine reads with a buffer of the longest line, so that a longer one is noticed
// and never put together.
func newLine(connection net.Conn) *line {
	return &line{connection, bufio.NewReaderSize(connection, longestLine)}
}

// reply is an answer of the server.
type reply struct {
	code  int
	lines []string
}

// text is the server's answer in one line without control characters: it goes into
// lists that people read in a terminal.
func (r reply) text() string { return plain(strings.Join(r.lines, " ")) }

// within bounds what follows by a time limit and the context.
func (l *line) within(ctx context.Context, limit time.Duration) (done func()) {
	deadline := time.Now().Add(limit)
	if until, ok := ctx.Deadline(); ok && until.Before(deadline) {
		deadline = until
	}
	_ = l.SetDeadline(deadline) // a closed line says so when it is used
	stop := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// ask writes a command and reads its answer.
func (l *line) ask(ctx context.Context, limit time.Duration, command string) (reply, error) {
	if strings.ContainsAny(command, "\r\n") {
		return reply{}, errors.New("a command is one line")
	}
	defer l.within(ctx, limit)()
	if _, err := l.Write([]byte(command + "\r\n")); err != nil {
		return reply{}, err
	}
	return l.read()
}

// hear reads an answer that nobody asked for.
func (l *line) hear(ctx context.Context, limit time.Duration) (reply, error) {
	defer l.within(ctx, limit)()
	return l.read()
}

// errGibberish means that another service listens there, most often one for TLS.
var errGibberish = errors.New("the mail server does not speak SMTP")

// read takes all lines of one answer: "250-first", "250 last".
func (l *line) read() (reply, error) {
	var answer reply
	for range mostLines {
		text, err := l.reader.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = fmt.Errorf("%w: a line has no end", errGibberish)
			}
			return reply{}, err
		}
		text = bytes.TrimRight(text, "\r\n")
		if len(text) < 3 || len(text) > 3 && text[3] != ' ' && text[3] != '-' {
			return reply{}, errGibberish
		}
		code, err := strconv.Atoi(string(text[:3]))
		if err != nil || code < 200 || code > 599 || answer.code != 0 && answer.code != code {
			return reply{}, errGibberish
		}
		answer.code = code
		last := len(text) == 3 || text[3] == ' '
		answer.lines = append(answer.lines, string(bytes.TrimLeft(text[3:], "- ")))
		if last {
			return answer, nil
		}
	}
	return reply{}, fmt.Errorf("%w: an answer has no end", errGibberish)
}

// give writes a part of a message.
func (l *line) give(ctx context.Context, limit time.Duration, part []byte) error {
	defer l.within(ctx, limit)()
	_, err := l.Write(part)
	return err
}
