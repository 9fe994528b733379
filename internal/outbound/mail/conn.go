package mail

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

	"landfall/internal/lib/limits"
)

// Limits on what a server may send.
const (
	maxReplyLines = 100
)

// smtpConn is a connection that reads SMTP replies.
type smtpConn struct {
	net.Conn
	reader *bufio.Reader
}

// newConn uses a buffer of the longest line, so that a longer one fails instead of
// being assembled.
func newConn(conn net.Conn) *smtpConn {
	return &smtpConn{conn, bufio.NewReaderSize(conn, limits.MailReplyLine)}
}

// reply is a reply of the server.
type reply struct {
	code  int
	lines []string
}

// text returns the reply as one line that is safe to show in a terminal.
func (r reply) text() string { return printable(strings.Join(r.lines, " ")) }

// setLimit applies a time limit and the context to the next exchange. The caller
// calls the result when the exchange is over.
func (c *smtpConn) setLimit(ctx context.Context, limit time.Duration) (done func()) {
	deadline := time.Now().Add(limit)
	if until, ok := ctx.Deadline(); ok && until.Before(deadline) {
		deadline = until
	}
	_ = c.SetDeadline(deadline) // a closed connection fails when it is used
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// command sends a command and reads the reply.
func (c *smtpConn) command(ctx context.Context, limit time.Duration, line string) (reply, error) {
	if strings.ContainsAny(line, "\r\n") {
		return reply{}, errors.New("an SMTP command must be one line")
	}
	defer c.setLimit(ctx, limit)()
	if _, err := c.Write([]byte(line + "\r\n")); err != nil {
		return reply{}, err
	}
	return c.readReply()
}

// greeting reads the reply that the server sends first.
func (c *smtpConn) greeting(ctx context.Context, limit time.Duration) (reply, error) {
	defer c.setLimit(ctx, limit)()
	return c.readReply()
}

// errNotSMTP means that another service answered, often one that expects TLS.
var errNotSMTP = errors.New("the mail server does not speak SMTP")

// readReply reads all lines of one reply: "250-first", "250 last".
func (c *smtpConn) readReply() (reply, error) {
	var result reply
	for range maxReplyLines {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = fmt.Errorf("%w: a line is too long", errNotSMTP)
			}
			return reply{}, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) < 3 || len(line) > 3 && line[3] != ' ' && line[3] != '-' {
			return reply{}, errNotSMTP
		}
		code, err := strconv.Atoi(string(line[:3]))
		if err != nil || code < 200 || code > 599 || result.code != 0 && result.code != code {
			return reply{}, errNotSMTP
		}
		result.code = code
		last := len(line) == 3 || line[3] == ' '
		result.lines = append(result.lines, string(bytes.TrimLeft(line[3:], "- ")))
		if last {
			return result, nil
		}
	}
	return reply{}, fmt.Errorf("%w: a reply has too many lines", errNotSMTP)
}

// write sends data within a time limit.
func (c *smtpConn) write(ctx context.Context, limit time.Duration, data []byte) error {
	defer c.setLimit(ctx, limit)()
	_, err := c.Write(data)
	return err
}
