package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
)

// Limits on the headers of a request.
const (
	// net/http adds 4 KiB to the limit.
	headerLimit = limits.HeaderBytes - 4096
)

// httpServer is one listener with its handler.
type httpServer struct {
	http     *http.Server
	listener *limitListener
	tls      *credentials // nil: plain HTTP
}

// newServer listens on an address with the limits of the settings.
func newServer(ctx context.Context, address string, handler http.Handler, settings Settings, log *slog.Logger) (*httpServer, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // its sockets take no filter; see stopQueue
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	deadlines := bodyDeadlines{start: settings.ReadTimeout, rate: settings.BodyRate, answer: settings.WriteTimeout}
	return &httpServer{
		listener: newLimitListener(listener.(*net.TCPListener), settings.MaxConnections, settings.MaxPerSource, settings.Proxies, log), //nolint:forcetypeassert // it was asked to listen on TCP
		http: &http.Server{
			Handler:           withDeadlines(handler, deadlines),
			ReadHeaderTimeout: limits.Header,
			ReadTimeout:       settings.ReadTimeout,
			WriteTimeout:      settings.WriteTimeout,
			IdleTimeout:       settings.IdleTimeout,
			MaxHeaderBytes:    headerLimit,
			ConnContext:       httpapi.WithConn,
			// OPTIONS * is handled like any other unknown path.
			DisableGeneralOptionsHandler: true,
			ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}, nil
}

// secure turns on TLS.
func (s *httpServer) secure(with *credentials) {
	s.tls, s.http.TLSConfig, s.listener.encrypted = with, with.server(), true
}

// address returns the actual address, also for port 0.
func (s *httpServer) address() net.Addr { return s.listener.Addr() }

// serve serves until drain is called.
func (s *httpServer) serve() error {
	serve := func() error { return s.http.Serve(s.listener) }
	if s.tls != nil {
		serve = func() error { return s.http.ServeTLS(s.listener, "", "") }
	}
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// drain stops new connections, accepts those in the listen queue, and waits for running
// requests until the context ends. Requests that still run then are aborted.
func (s *httpServer) drain(ctx context.Context) error {
	stopQueue(s.listener.TCPListener)
	time.Sleep(limits.ListenQueue)
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
