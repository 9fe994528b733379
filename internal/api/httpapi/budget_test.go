package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"landfall/internal/lib/limits"
)

// mustTake reserves bytes that must be available.
func mustTake(t *testing.T, b *budget, who string, size int64) func() {
	t.Helper()
	memory, err := b.reserve(t.Context(), who, size)
	if err != nil {
		t.Fatalf("%d bytes for %s: %v", size, who, err)
	}
	return memory.release
}

// TestBodyMemoryIsBounded fills the memory for bodies with large ones. Small
// requests must still get through, and nothing may wait forever.
func TestBodyMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(40<<20, 10<<20, limits.BodyWait) // 10 MiB for small bodies, 30 for large ones
		first := mustTake(t, b, "a", 10<<20)
		mustTake(t, b, "b", 10<<20)
		mustTake(t, b, "c", 10<<20)
		began := time.Now()
		if _, err := b.reserve(t.Context(), "d", 10<<20); !errors.Is(err, errTooManyBodies) || time.Since(began) != limits.BodyWait {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		// Large bodies do not make small ones wait.
		mustTake(t, b, "d", limits.SmallBody)()
		go func() {
			time.Sleep(time.Second)
			first()
		}()
		mustTake(t, b, "d", 10<<20)
		if used, waiting := b.large.Usage(); waiting != 0 || used != 30<<20 {
			t.Errorf("%d bytes are in use, %d bodies wait", used, waiting)
		}
	})
}

// An organisation that fills the budget does not block another one.
func TestBodiesAreSharedFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(80<<20, 10<<20, limits.BodyWait) // 60 MiB for large bodies
		var frees []func()
		for range 3 {
			frees = append(frees, mustTake(t, b, "greedy", 10<<20))
		}
		if _, err := b.reserve(t.Context(), "greedy", 10<<20); err == nil {
			t.Error("one organisation holds more than half")
		}
		for range 3 {
			frees = append(frees, mustTake(t, b, "modest", 10<<20))
		}
		served := make(chan string, 2)
		for _, who := range []string{"greedy", "newcomer"} {
			go func() {
				if _, err := b.reserve(t.Context(), who, 10<<20); err == nil {
					served <- who
				}
			}()
			synctest.Wait()
		}
		frees[0]()
		if first := <-served; first != "newcomer" {
			t.Errorf("%s was served before a caller that holds nothing", first)
		}
		frees[1]()
		<-served
	})
}

// A caller that leaves while waiting holds no memory.
func TestWaitingForBodyMemoryEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(1, 100<<10, limits.BodyWait)
		free := mustTake(t, b, "a", 100<<10)
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := b.reserve(ctx, "b", 100<<10); err == nil {
			t.Error("a caller that left was served")
		}
		free()
		mustTake(t, b, "c", 100<<10)()
		if used, waiting := b.large.Usage(); waiting != 0 || used != 0 {
			t.Errorf("%d bytes are in use, %d bodies wait", used, waiting)
		}
	})
}

// TestQueueForBytesIsBounded has more waiting bodies than are allowed. An
// unbounded queue is only a slower way to run out of memory.
func TestQueueForBytesIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(4*limits.SmallBody, 1, limits.BodyWait)
		for range limits.BodiesWaiting + 1 {
			go func() { _, _ = b.reserve(t.Context(), "a", limits.SmallBody) }()
		}
		synctest.Wait()
		began := time.Now()
		if _, err := b.reserve(t.Context(), "b", limits.SmallBody); err == nil || time.Since(began) != 0 {
			t.Error("the queue grows without end")
		}
		time.Sleep(limits.BodyWait)
	})
}

// Bodies that are announced but not sent use up at most the memory for bodies.
// The next caller is told when to retry.
func TestSlowBodiesAreRefusedWhenThereAreTooMany(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open(func(o *Options) { o.BodyMemory, o.BodyLimit = 4<<20, 1<<20 })
		h.api.budget = newBudget(4<<20, 1<<20, 50*time.Millisecond)
		for _, who := range []string{"importer", "other", "importer"} {
			conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Token %s\r\nContent-Length: %d\r\n\r\n{",
				validatePath, h.tokens[who], 1<<20)
		}
		deadline := time.Now().Add(soon)
		for h.api.budget.spent() < 2<<20 && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		large := strings.Repeat(" ", 900<<10)
		if got := h.callJSON("importer", validatePath, large); got.status != 503 || got.code() != "service_unavailable" || got.header.Get("Retry-After") == "" {
			t.Errorf("got %d %s %v", got.status, got.body, got.header)
		}
		if got := h.callJSON("importer", validatePath, accountJSON("OURS", "1")); got.status != 200 {
			t.Errorf("a small body: %d %s", got.status, got.body)
		}
		if strings.Contains(h.log.String(), `"level":"ERROR"`) {
			t.Error("refusing many callers is logged as an error")
		}
	})
}

func (b *budget) spent() int64 {
	used, _ := b.large.Usage()
	return used
}

// A body without a declared length used to be charged for the maximum length,
// so a few small ones blocked everyone's large ones.
func TestChunkedBodiesReserveAsTheyGrow(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open(func(o *Options) { o.BodyMemory, o.BodyLimit = 4<<20, 1<<20 })
		h.api.budget = newBudget(4<<20, 1<<20, 50*time.Millisecond)
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 200<<10, strings.Repeat(" ", 200<<10))
		for i := range 8 {
			conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Token %s\r\nTransfer-Encoding: chunked\r\n\r\n",
				validatePath, h.tokens["importer"])
			if i == 0 {
				fmt.Fprint(conn, chunk)
			}
		}
		deadline := time.Now().Add(soon)
		for h.api.budget.spent() < 128<<10 && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		if spent := h.api.budget.spent(); spent < 128<<10 || spent > 512<<10 {
			t.Errorf("%d bytes are paid for 200 KiB that came", spent)
		}
		for _, who := range []string{"importer", "other"} {
			if got := h.callJSON(who, validatePath, strings.Repeat(" ", 900<<10)); got.status != 400 {
				t.Errorf("a large body beside them: %d %s", got.status, got.body)
			}
		}
	})
}

// Growing bodies do not wait for each other until all are refused: the one that
// has grown most continues before a new one is admitted.
func TestLargestBodyContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(4<<20, 3<<20, limits.BodyWait) // 3 MiB for large bodies
		grown := func(who string, size int64) *bodyMemory {
			l, err := b.reserve(t.Context(), who, limits.SmallBody)
			if err == nil {
				err = l.grow(t.Context(), size)
			}
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		far, near := grown("a", 2<<20), grown("b", 512<<10)
		served := make(chan string, 3)
		for name, ask := range map[string]func() error{
			"near": func() error { return near.grow(t.Context(), 2<<20) },
			"far":  func() error { return far.grow(t.Context(), 3<<20) },
			"new":  func() error { _, err := b.reserve(t.Context(), "c", 1<<20); return err },
		} {
			go func() {
				if ask() == nil {
					served <- name
				}
			}()
		}
		synctest.Wait()
		time.Sleep(time.Second)
		near.release()
		synctest.Wait()
		if len(served) == 0 || <-served != "far" {
			t.Error("the largest body does not continue")
		}
		far.release()
		time.Sleep(limits.BodyWait)
	})
}
