package mail

import (
	"context"
	"errors"
	"sync"
	"time"

	"landfall/internal/outbound/smtp"
)

const (
	// mostOverALine is when a line is given back: servers count.
	mostOverALine = 100
	// idleLine is how long one is kept without work. Servers close them after
	// minutes; before that they are a place somebody else could have.
	idleLine = 10 * time.Second
)

// lines keeps sessions with the mail server for the next mail.
type lines struct {
	connect func(context.Context) (*smtp.Session, error)
	mu      sync.Mutex
	idle    []*kept // the latest used last
}

// kept is a session between two mails.
type kept struct {
	*smtp.Session
	since time.Time
	used  int
}

// send hands a message over. A line that was kept may have been closed by the
// server meanwhile: that is nobody's trouble, and a fresh one is tried.
func (l *lines) send(ctx context.Context, from, to string, message []byte) (string, error) {
	session := l.take()
	if session != nil {
		words, err := session.Send(ctx, from, to, message)
		var failure *smtp.Failure
		if errors.As(err, &failure) && failure.Stage == smtp.Sender && !session.Usable() {
			session.Close()
		} else {
			l.give(session)
			return words, err
		}
	}
	opened, err := l.connect(ctx)
	if err != nil {
		return "", err
	}
	fresh := &kept{Session: opened}
	words, err := fresh.Send(ctx, from, to, message)
	l.give(fresh)
	return words, err
}

func (l *lines) take() *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) == 0 {
		return nil
	}
	last := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	return last
}

func (l *lines) give(session *kept) {
	if session.used++; !session.Usable() || session.used >= mostOverALine {
		session.Close()
		return
	}
	session.since = time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, session)
}

// tidy closes lines that had nothing to do for a while.
func (l *lines) tidy() { l.closeIdle(idleLine) }

func (l *lines) close() { l.closeIdle(0) }

func (l *lines) closeIdle(longer time.Duration) {
	l.mu.Lock()
	var ended []*kept
	for len(l.idle) > 0 && time.Since(l.idle[0].since) >= longer {
		ended, l.idle = append(ended, l.idle[0]), l.idle[1:]
	}
	l.mu.Unlock()
	for _, session := range ended {
		session.Close()
	}
}
