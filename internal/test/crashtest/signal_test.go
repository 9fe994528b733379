package crashtest_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"landfall/internal/test/crashtest"
	"landfall/internal/test/tooltest"
)

// The servers are stopped with SIGTERM, one after the other, while callers
// work. No request is lost: each gets a response or is refused a connection
// before anything was sent.
func TestTerminatedUnderLoad(t *testing.T) {
	tooltest.SkipIfShort(t)
	onBoth(t, func(t *testing.T, f *fleet) {
		c := &caller{fleet: f, history: &crashtest.History{}}
		l := &load{name: "term", seed: seedOf(t)}
		stop := make(chan struct{})
		var working sync.WaitGroup
		for worker := range 8 {
			working.Go(func() { l.sendUntilAnswered(c, uint64(worker), stop) })
		}
		for _, r := range f.replicas {
			time.Sleep(200 * time.Millisecond)
			if code := r.terminate(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, r.said())
			}
			r.start()
		}
		close(stop)
		working.Wait()
		checkHistory(c, l.name)
	})
}

// sendUntilAnswered sends every intent until there is a response. The only errors it
// accepts are a refused connection, and one reset per stopped server: the kernel
// resets a connection that it had taken and the server had not when the listener closed.
func (l *load) sendUntilAnswered(c *caller, worker uint64, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(l.seed, worker))
	for {
		select {
		case <-stop:
			return
		default:
		}
		intent := l.intent(random)
		for {
			answer, err := c.send(c.pick(random), intent)
			if err == nil {
				if answer.Status >= 500 {
					c.t.Errorf("%s was answered %d %s", intent.Verb, answer.Status, answer.Code)
				}
				break
			}
			reset := errors.Is(err, syscall.ECONNRESET) && l.resets.Add(1) <= int64(len(c.replicas))
			if !errors.Is(err, syscall.ECONNREFUSED) && !reset {
				c.t.Errorf("%s got no answer: %v", intent.Verb, err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
