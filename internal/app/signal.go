package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Orderly gives a context that also ends when the terminal hangs up, and keeps
// the program alive when the reader of its log goes away: without that, the
// next line on a closed standard error would kill it together with every
// request under way. A hang-up may be sent twice, by the terminal and by its
// shell, so unlike an interrupt the second one does not end the program at
// once. Who started it with nohup does not want to hear of hang-ups at all.
func Orderly(ctx context.Context) (context.Context, context.CancelFunc) {
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
