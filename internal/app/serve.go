package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	headerTimeout = 5 * time.Second
	// net/http adds 4 KiB of its own to the limit it is given.
	headerLimit = 32<<10 - 4<<10
)

// server is one listener with its handler and its way to end.
type server struct {
	http     *http.Server
	listener net.Listener
	draining atomic.Bool
}

func newServer(address string, handler http.Handler, settings Settings, log *slog.Logger) (*server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &server{listener: steadyListener{listener, settings.StallTimeout}}
	server.http = &http.Server{
		Handler:           server.polite(handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       settings.ReadTimeout,
		IdleTimeout:       settings.IdleTimeout,
		MaxHeaderBytes:    headerLimit,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return server, nil
}

// polite wraps a handler with what only the server knows.
func (s *server) polite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			// The caller opens its next connection elsewhere, instead of
			// finding this one closed under its next request.
			w.Header().Set("Connection", "close")
		}
		if len(r.TransferEncoding) > 0 {
			// A chunked request that also names a length could hide a second
			// request behind it; no connection is used again after one.
			w.Header().Set("Connection", "close")
		}
		if r.Body == http.NoBody {
			// The time limit for sending the request has been kept. Left in
			// place it would end a long answer, taken for a lost caller.
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) address() net.Addr { return s.listener.Addr() }

func (s *server) serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// drain ends the server without losing a request: it goes on serving for the
// delay while telling every caller to leave, then closes the door and waits
// for running requests until the context ends.
func (s *server) drain(ctx context.Context, delay time.Duration) error {
	s.draining.Store(true)
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
