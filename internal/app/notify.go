package app

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"landfall/internal/lib/limits"
)

// notify reports the state of the program to systemd, if systemd asked for it. It
// sends a datagram and ignores errors.
func notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' {
		socket = "\x00" + socket[1:] // an abstract socket
	}
	line, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer func() { _ = line.Close() }() // a datagram is sent at once or not at all
	_, _ = line.Write([]byte(state))
}

// extendStart keeps systemd from ending a start that takes long, because the database
// is away or a schema step changes large tables, until the returned function is
// called.
func extendStart() (stop func()) {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			notify("EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(limits.StartExtension.Microseconds(), 10))
			select {
			case <-time.After(limits.StartExtension / 3):
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

// keepWatchdog tells systemd that the program is alive, twice as often as
// required. This proves only that goroutines run; an unavailable database is no
// reason for a restart.
func keepWatchdog(ctx context.Context) {
	limit, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || limit <= 0 {
		return
	}
	beat := time.NewTicker(time.Duration(limit) * time.Microsecond / 2)
	defer beat.Stop()
	for {
		notify("WATCHDOG=1")
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
	}
}
