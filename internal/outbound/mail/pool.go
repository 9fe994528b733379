package mail

import (
	"context"
	"errors"
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

const (
	// maxMailsPerSession is when a session is closed. Servers limit this.
	maxMailsPerSession = 100
	// maxIdle is how long an unused session stays open. Servers close idle sessions
	// after minutes, and until then they use up a connection.
	maxIdle = limits.MailIdle
)

// sessionPool keeps sessions with the mail server for the next mail.
type sessionPool struct {
	connect func(context.Context) (*Session, error)
	mu      sync.Mutex
	idle    []*pooledSession // the last used last
}

type pooledSession struct {
	*Session
	idleSince time.Time
	mails     int
}

// send sends a message. The server may have closed a pooled session in the
// meantime; that is not a failure, and send tries a new session.
func (p *sessionPool) send(ctx context.Context, from, to string, message []byte) (string, error) {
	if session := p.get(); session != nil {
		text, err := session.Send(ctx, from, to, message)
		var failure *SMTPError
		if !errors.As(err, &failure) || failure.Stage != StageSender || session.Usable() {
			p.put(session)
			return text, err
		}
		session.Close()
	}
	opened, err := p.connect(ctx)
	if err != nil {
		return "", err
	}
	session := &pooledSession{Session: opened}
	text, err := session.Send(ctx, from, to, message)
	p.put(session)
	return text, err
}

func (p *sessionPool) get() *pooledSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	last := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return last
}

func (p *sessionPool) put(session *pooledSession) {
	if session.mails++; !session.Usable() || session.mails >= maxMailsPerSession {
		session.Close()
		return
	}
	session.idleSince = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, session)
}

// closeIdle closes sessions that have been idle for at least this long.
func (p *sessionPool) closeIdle(longer time.Duration) {
	p.mu.Lock()
	var expired []*pooledSession
	for len(p.idle) > 0 && time.Since(p.idle[0].idleSince) >= longer {
		expired, p.idle = append(expired, p.idle[0]), p.idle[1:]
	}
	p.mu.Unlock()
	for _, session := range expired {
		session.Close()
	}
}
