package app

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// SignalContext returns a context that also ends when the terminal hangs up (SIGHUP). It ignores
// SIGPIPE, because otherwise the next log line on a closed standard error would kill the
// program with all running requests. SIGHUP may be sent twice, by the terminal and by its
// shell, so the second one does not kill the program. Under nohup it is ignored.
func SignalContext(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	hungUp := make(chan os.Signal, 1)
	signal.Notify(hungUp, syscall.SIGHUP)
	go func() {
		<-hungUp
		cancel()
	}()
	return ctx, cancel
}

// ServerContext is SignalContext for a server that reloads its settings. Without a terminal
// SIGHUP is a request to do so, which is sent to the channel. With a terminal it ends the
// context, because that is how a closed terminal tells its programs.
func ServerContext(ctx context.Context) (context.Context, <-chan os.Signal, context.CancelFunc) {
	reload := make(chan os.Signal, 1)
	if hasTerminal() {
		ctx, cancel := SignalContext(ctx)
		return ctx, reload, cancel
	}
	signal.Ignore(syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(reload, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(ctx)
	return ctx, reload, cancel
}

// hasTerminal reports whether a terminal controls this process.
func hasTerminal() bool {
	terminal, err := os.Open("/dev/tty")
	if err == nil {
		_ = terminal.Close() // it was only a check
	}
	return err == nil
}

// removeOnSecondSignal removes a folder and exits when a second signal arrives during the
// shutdown. Otherwise the second signal would kill the program and leave the folder of a
// demo behind. make sends a signal to its child a second time. The returned function turns
// this off.
func removeOnSecondSignal(folder string) (leave func()) {
	signals, over := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var last os.Signal
		for range 2 {
			select {
			case last = <-signals:
			case <-over:
				return
			}
		}
		// A running write may create a file in the emptied folder.
		for range 10 {
			if os.RemoveAll(folder) == nil {
				break
			}
		}
		code := 1
		if number, is := last.(syscall.Signal); is {
			code = 128 + int(number) // as shells report it
		}
		os.Exit(code) // nothing is left to clean up
	}()
	return sync.OnceFunc(func() {
		signal.Stop(signals)
		close(over)
	})
}
