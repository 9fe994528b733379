package sqlstore

import (
	"context"
	"time"
)

// chore is work that is done again and again while somebody is served.
type chore struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// firstRest lets a program start before it tidies.
const firstRest = time.Second

// newChore does work until it is closed, resting in between as long as the work
// says.
func newChore(work func(context.Context) (rest time.Duration)) *chore {
	ctx, cancel := context.WithCancel(context.Background())
	c := &chore{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for rest := firstRest; ; rest = work(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rest):
			}
		}
	}()
	return c
}

// close ends the work and waits for its end.
func (c *chore) close() {
	c.cancel()
	<-c.done
}
