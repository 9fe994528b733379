package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// opsConnections is plenty for whoever reads metrics.
const opsConnections = 64

// Listen opens the listeners and gives the address of the main one. Callers
// that come before Run wait in line.
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
	if settings.OpsListen == "" {
		return a.main.address(), nil
	}
	settings.WriteTimeout = time.Hour // a profile takes as long as was asked for
	// Whoever collects figures comes from one address.
	settings.MaxConnections, settings.MaxPerSource = opsConnections, 0
	if a.ops, err = newServer(ctx, settings.OpsListen, a.api.Ops(), settings, a.log.Logger); err != nil {
		return nil, errors.Join(err, a.main.listener.Close())
	}
	return a.main.address(), nil
}

// Run serves until the context ends, and then ends in order: not ready first,
// then no new callers, then the running requests. The operator's listener goes
// last, so that the end can be watched.
func (a *App) Run(ctx context.Context) error {
	a.logStartup()
	// Room for both: whichever ends after nobody listens any more must not be left
	// hanging.
	failed := make(chan error, 2)
	go func() { failed <- a.main.serve() }()
	if a.ops != nil {
		go func() { failed <- a.ops.serve() }()
	}
	chores, stopChores := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { a.AdvanceRuns(ctx) })
	// Systemd hears of it until the very end, which may take its time.
	watched, unwatched := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatched()
	go keepWatchdog(watched)
	notify("READY=1")
	running.Go(func() { a.deleteExpired(chores) })
	running.Go(func() { a.keepBytes(chores) })
	running.Go(func() { releaseMemory(chores) })
	running.Go(func() { a.recordKeyUses(chores) })
	running.Go(func() { a.beat(chores) })
	if a.mail != nil {
		running.Go(func() { a.mail.Run(chores) })
	}
	running.Go(func() { a.webhooks.Run(chores) })
	running.Go(func() { a.chainer.Run(chores) })
	// What is deferred runs backwards: chores are stopped, then waited for. The
	// database may be closed only afterwards, since they write to it.
	defer running.Wait()
	defer stopChores()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	return a.drain(context.WithoutCancel(ctx))
}

// drain ends in order, within the time the settings give.
func (a *App) drain(ctx context.Context) error {
	a.log.Info("shutting down")
	notify("STOPPING=1")
	a.draining.Store(true)
	close(a.shutdown)
	// Balancers notice, and callers are told to leave with their next answer,
	// before connections are closed under those that are quiet.
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
