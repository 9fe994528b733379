package app

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// SignalContext gives a context that also ends when the terminal hangs up, and keeps
// the program alive when the reader of its log goes away: without that, the
// next line on a closed standard error would kill it together with every
// request under way. A hang-up may be sent twice, by the terminal and by its
// shell, so unlike an interrupt the second one does not end the program at
// once. Who started it with nohup does not want to hear of hang-ups at all.
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

// removeOnSecondSignal takes a folder away when a second signal comes while the first one
// is being obeyed, and ends the program. Elsewhere the second one kills it where it
// stands, which would leave a throw-away world behind for good. It need not be
// impatience: make passes on to its child what the child has got already. What is
// given back ends the watch.
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
		// Whoever still writes may put a file into a folder that was just emptied.
		for range 10 {
			if os.RemoveAll(folder) == nil {
				break
			}
		}
		code := 1
		if number, is := last.(syscall.Signal); is {
			code = 128 + int(number) // as a shell tells of who died of it
		}
		os.Exit(code) // nobody is left who could be told
	}()
	return sync.OnceFunc(func() {
		signal.Stop(signals)
		close(over)
	})
}
