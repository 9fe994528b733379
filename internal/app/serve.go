package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"landfall/internal/api/httpapi"
)

// What a caller may take before we know who it is, in time and in bytes.
const (
	headerTimeout = 5 * time.Second
	// net/http adds 4 KiB of its own to the limit it is given.
	headerLimit = 32<<10 - 4<<10
)

// server is one listener with its handler.
type server struct {
	http     *http.Server
	listener *limitListener
	tls      *credentials // nil: plain HTTP
}

// newServer listens. The most callers it lets in, in all and from one source,
// are the server's own; how long each may take is in the settings.
func newServer(ctx context.Context, address string, handler http.Handler, settings Settings, log *slog.Logger) (*server, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // its sockets take no filter; see shut
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	pace := pace{start: settings.ReadTimeout, rate: settings.BodyRate, answer: settings.WriteTimeout}
	return &server{
		listener: newLimitListener(listener.(*net.TCPListener), settings.MaxConnections, settings.MaxPerSource, settings.Proxies, log), //nolint:forcetypeassert // it was asked to listen on TCP
		http: &http.Server{
			Handler:           patient(handler, pace),
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       settings.ReadTimeout,
			WriteTimeout:      settings.WriteTimeout,
			IdleTimeout:       settings.IdleTimeout,
			MaxHeaderBytes:    headerLimit,
			ConnContext:       httpapi.WithConn,
			// OPTIONS * is a path like any other that does not exist.
			DisableGeneralOptionsHandler: true,
			ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}, nil
}

// secure has a server speak TLS alone.
func (s *server) secure(with *credentials) {
	s.tls, s.http.TLSConfig, s.listener.encrypted = with, with.server(), true
}

// address is where it really listens, which differs where port 0 was asked for.
func (s *server) address() net.Addr { return s.listener.Addr() }

// serve answers until it is shut.
func (s *server) serve() error {
	serve := func() error { return s.http.Serve(s.listener) }
	if s.tls != nil {
		serve = func() error { return s.http.ServeTLS(s.listener, "", "") }
	}
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// queueTime is how long callers in the listener's queue have to be accepted.
const queueTime = 100 * time.Millisecond

// drain shuts the door, lets in who stands in it already, and waits for
// running requests until the context ends; those that are still running then
// are cut off.
func (s *server) drain(ctx context.Context) error {
	stopQueue(s.listener.TCPListener)
	time.Sleep(queueTime)
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
