package app

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// notify tells systemd how far the program is, where systemd asked for it. The
// protocol is a datagram; who does not listen misses nothing.
func notify(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	if socket[0] == '@' {
		socket = "\x00" + socket[1:] // a name without a file
	}
	line, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer func() { _ = line.Close() }() // a datagram is sent or not
	_, _ = line.Write([]byte(state))
}

// keepWatchdog tells systemd that the program lives, twice as often as it wants
// to hear it. What it proves is that goroutines still run; a database that is
// away is no reason to be restarted.
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
