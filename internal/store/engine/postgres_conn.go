package engine

import (
	"net"
	"sync"
	"time"
)

// deadlineConn is a network connection whose reads and writes fail after a
// silence, whatever the driver waits for.
type deadlineConn struct {
	net.Conn
	lock    sync.Mutex
	asked   time.Time     // the driver's own deadline, if it has set one
	silence time.Duration // the longest silence
	until   time.Time     // the deadline of all, if there is one
}

// limit sets how long each of the next reads and writes may take, and all of them.
func (w *deadlineConn) limit(silence time.Duration, until time.Time) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.silence, w.until = silence, until
}

// deadline is when a read or write that starts now must have ended.
func (w *deadlineConn) deadline() time.Time {
	end := time.Now().Add(w.silence)
	for _, other := range []time.Time{w.until, w.asked} {
		if !other.IsZero() && other.Before(end) {
			end = other
		}
	}
	return end
}

// Read reads within the deadline.
func (w *deadlineConn) Read(into []byte) (int, error) {
	w.lock.Lock()
	err := w.Conn.SetReadDeadline(w.deadline())
	w.lock.Unlock()
	if err != nil {
		return 0, err
	}
	return w.Conn.Read(into)
}

// Write writes within the deadline.
func (w *deadlineConn) Write(from []byte) (int, error) {
	w.lock.Lock()
	err := w.Conn.SetWriteDeadline(w.deadline())
	w.lock.Unlock()
	if err != nil {
		return 0, err
	}
	return w.Conn.Write(from)
}

// SetDeadline is how the driver cancels.
func (w *deadlineConn) SetDeadline(at time.Time) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.asked = at
	return w.Conn.SetDeadline(at)
}

// SetReadDeadline is SetDeadline.
func (w *deadlineConn) SetReadDeadline(at time.Time) error { return w.SetDeadline(at) }

// SetWriteDeadline is SetDeadline.
func (w *deadlineConn) SetWriteDeadline(at time.Time) error { return w.SetDeadline(at) }
