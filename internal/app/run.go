package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// opsConnections is enough for metrics.
const opsConnections = 64

// Listen opens the listeners and returns the address of the API. Connections wait until Run
// is called.
func (a *App) Listen(ctx context.Context) (net.Addr, error) {
	var err error
	settings := a.settings
	settings.MaxConnections = fitDescriptors(settings.MaxConnections, settings.Connections)
	if a.main, err = newServer(ctx, settings.Listen, a.api, settings, a.log.Logger); err != nil {
		return nil, err
	}
	if settings.TLS.Certificate != "" {
		shown, err := newCredentials(settings.TLS, a.log.Logger)
		if err != nil {
			return nil, errors.Join(err, a.main.listener.Close())
		}
		a.main.secure(shown)
	}
	a.listening.Store(a.main)
	if settings.OpsListen == "" {
		return a.main.address(), nil
	}
	settings.WriteTimeout = time.Hour // profiles take long
	// Metrics are collected from one address.
	settings.MaxConnections, settings.MaxPerSource = opsConnections, 0
	if a.ops, err = newServer(ctx, settings.OpsListen, a.api.Ops(), settings, a.log.Logger); err != nil {
		return nil, errors.Join(err, a.main.listener.Close())
	}
	return a.main.address(), nil
}

// Run serves until the context ends and then shuts down: first it reports not ready, then
// it stops new connections, then it waits for running requests. The ops listener stops
// last, so that you can watch the shutdown.
func (a *App) Run(ctx context.Context) error {
	a.logStartup()
	a.offerSetUp(ctx)
	// Buffered for both servers, so that neither blocks.
	failed := make(chan error, 2)
	go func() { failed <- a.main.serve() }()
	if a.ops != nil {
		go func() { failed <- a.ops.serve() }()
	}
	chores, stopChores := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { a.AdvanceRuns(ctx) })
	// Keep the systemd watchdog alive during the shutdown.
	watched, unwatched := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatched()
	go keepWatchdog(watched)
	notify("READY=1")
	running.Go(func() { a.deleteExpired(chores) })
	running.Go(func() { a.keepBytes(chores) })
	running.Go(func() { releaseMemory(chores) })
	running.Go(func() { a.recordKeyUses(chores) })
	running.Go(func() { a.beat(chores) })
	running.Go(func() { a.watchDatabase(chores) })
	if a.mail != nil {
		running.Go(func() { a.mail.Run(chores) })
	}
	running.Go(func() { a.webhooks.Run(chores) })
	running.Go(func() { a.deliveries.Run(chores) })
	running.Go(func() { a.chainer.Run(chores) })
	// Stop the background tasks and wait for them before the database is closed.
	defer running.Wait()
	defer stopChores()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return a.drain(context.WithoutCancel(ctx))
}

// drain shuts down within the time of the settings.
func (a *App) drain(ctx context.Context) error {
	a.log.Info("shutting down")
	notify("STOPPING=1")
	a.draining.Store(true)
	close(a.shutdown)
	// Load balancers notice, and clients are asked to close their connections, before idle
	// connections are closed.
	time.Sleep(a.settings.ShutdownDelay)
	grace, cancel := context.WithTimeout(ctx, a.settings.ShutdownGrace)
	defer cancel()
	err := a.main.drain(grace)
	if a.ops != nil {
		err = errors.Join(err, a.ops.http.Close())
	}
	if err != nil {
		return fmt.Errorf("requests were still running after %s: %w", a.settings.ShutdownGrace, err)
	}
	a.log.Info("shut down")
	return nil
}
