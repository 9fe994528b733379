package engine

import (
	"net"
	"sync"
	"time"
)

// wire is the network connection to a server. A read that hears nothing for
// too long fails, whoever reads and whatever it waits for.
type wire struct {
	net.Conn
	lock    sync.Mutex
	asked   time.Time     // the driver's own deadline, if it has set one
	silence time.Duration // the longest pause
	until   time.Time     // the end of what is under way, if it has one
}

// limit sets how long the next exchanges may take, each and together.
func (w *wire) limit(silence time.Duration, until time.Time) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.silence, w.until = silence, until
}

// deadline is when something that begins now must have ended.
func (w *wire) deadline() time.Time {
	end := time.Now().Add(w.silence)
	for _, other := range []time.Time{w.until, w.asked} {
		if !other.IsZero() && other.Before(end) {
			end = other
		}
	}
	return end
}

// Read waits for bytes, but not for ever.
func (w *wire) Read(into []byte) (int, error) {
	w.lock.Lock()
	err := w.Conn.SetReadDeadline(w.deadline())
	w.lock.Unlock()
	if err != nil {
		return 0, err
	}
	return w.Conn.Read(into)
}

// Write sends bytes; a server that takes none is given up too.
func (w *wire) Write(from []byte) (int, error) {
	w.lock.Lock()
	err := w.Conn.SetWriteDeadline(w.deadline())
	w.lock.Unlock()
	if err != nil {
		return 0, err
	}
	return w.Conn.Write(from)
}

// SetDeadline is how the driver ends what is under way.
func (w *wire) SetDeadline(at time.Time) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.asked = at
	return w.Conn.SetDeadline(at)
}

// SetReadDeadline is SetDeadline.
func (w *wire) SetReadDeadline(at time.Time) error { return w.SetDeadline(at) }

// SetWriteDeadline is SetDeadline.
func (w *wire) SetWriteDeadline(at time.Time) error { return w.SetDeadline(at) }
