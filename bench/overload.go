package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// callersInFlood is the number of concurrent clients, each with a request
// ready.
const callersInFlood = 5_000

// soon is how fast a response must come to count.
const soon = 2 * time.Second

// flood is the result of an overload.
type flood struct {
	best      sample    // with 64 callers
	good      float64   // good responses in time, per second
	refusals  stopwatch // response times of refusals
	rate      float64   // refusals per second
	failures  int       // cut connections, refusals without Retry-After, other responses
	peak      float64   // MiB of memory
	idle      float64   // MiB some seconds after
	afterward sample    // with 64 callers right after
	machine   float64   // speed of the machine by then relative to before, which is noise
}

// newDatabase creates databases of one kind, as fresh and file do.
type newDatabase func(name string) func(context.Context, *harness) (string, error)

// measureFlood returns the ratio of good responses under overload to the best
// rate. The text has the other figures.
func measureFlood(name string, databases newDatabase, polite bool) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		f, err := m.flood(ctx, p, name, databases, polite)
		if err != nil {
			return measured{}, err
		}
		return measured{
			// The overload is between the two, so use the mean speed of the
			// machine.
			ratio: f.good / f.best.rate / ((1 + f.machine) / 2), raw: f.best.of("staged by 64 callers") + f.meanwhile(),
			ours: fmt.Sprintf("%.0f staged/s within 2 s; %.0f refused/s, p99 %.1f s, %d failed",
				f.good, f.rate, f.refusals.percentile(0.99).Seconds(), f.failures),
		}, nil
	}
}

// measureFloodMemory returns the peak memory of the server meanwhile.
func measureFloodMemory(name string, databases newDatabase) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		f, err := m.flood(ctx, p, name, databases, true)
		if err != nil {
			return measured{}, err
		}
		return measured{
			ratio: f.peak, atMost: true, ours: fmt.Sprintf("%.0f MiB at most", f.peak), raw: fmt.Sprintf("%.0f MiB ten seconds later", f.idle),
		}, nil
	}
}

// measureAfterFlood returns the ratio of the throughput with 64 callers right
// after an overload to that before.
func measureAfterFlood(name string, databases newDatabase) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		f, err := m.flood(ctx, p, name, databases, true)
		if err != nil {
			return measured{}, err
		}
		return measured{
			ratio: f.afterward.rate / f.best.rate / f.machine, ours: f.afterward.of("staged right after"),
			raw: f.best.of("staged before") + f.meanwhile(),
		}, nil
	}
}

// meanwhile describes how the speed of the machine changed.
func (f *flood) meanwhile() string {
	return fmt.Sprintf(", the machine %.2f times as fast by the end", f.machine)
}

// flood overloads a server and keeps the result for all measurements.
func (m *harness) flood(ctx context.Context, p plan, name string, databases newDatabase, polite bool) (*flood, error) {
	if !polite {
		name += "-impolite"
	}
	if f := m.floods[name]; f != nil {
		return f, nil
	}
	s, err := m.serveNew(ctx, databases("flood"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	// The second server is never overloaded. Its throughput before and after
	// shows how the machine changed.
	twin, err := m.serveNew(ctx, databases("calm"))
	if err != nil {
		return nil, err
	}
	defer twin.stop()
	numbers, f := &counter{}, &flood{}
	var before, after sample
	if f.best, before, err = s.usual(ctx, p, numbers, twin); err != nil {
		return nil, err
	}
	// Three times as long as usual, because callers that are refused need time
	// to retry.
	f.rise(ctx, s, numbers, 3*p.length, polite)
	if f.afterward, after, err = s.usual(ctx, p, numbers, twin); err != nil {
		return nil, err
	}
	f.machine = after.rate / before.rate
	// Read the peak after the second usual load: memory left behind by the
	// overload would raise it.
	if f.peak, err = s.memory("VmHWM"); err != nil {
		return nil, err
	}
	time.Sleep(10 * time.Second)
	if f.idle, err = s.memory("VmRSS"); err != nil {
		return nil, err
	}
	m.floods[name] = f
	return f, nil
}

// usual returns the throughput with 64 callers, starting at once, alternating
// with the second server. It uses means: a median would hide the first moments
// after an overload.
func (s *service) usual(ctx context.Context, p plan, numbers *counter, twin *service) (own, other sample, err error) {
	var owns, others []sample
	for range p.rounds {
		found, err := s.load(stagePath, numbers.account).run(ctx, p.length/time.Duration(p.rounds))
		if err != nil {
			return sample{}, sample{}, err
		}
		// Correct for the machine only, not for what the overload left behind.
		s.hold()
		beside, err := twin.load(stagePath, numbers.account).run(ctx, p.length/time.Duration(p.rounds))
		s.goOn()
		if err != nil {
			return sample{}, sample{}, err
		}
		owns, others = append(owns, found), append(others, beside)
	}
	return mean(owns...), mean(others...), nil
}

// rise sends from all callers at once. A refused caller retries after
// Retry-After, plus or minus half, if it is polite. Others send the next request
// at once.
func (f *flood) rise(ctx context.Context, s *service, numbers *counter, length time.Duration, polite bool) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	next := post(stagePath, s.token, numbers.account)
	var mutex sync.Mutex
	var callers sync.WaitGroup
	good, started := 0, time.Now()
	for range callersInFlood {
		callers.Go(func() {
			for ctx.Err() == nil {
				err := converse(ctx, s.address, polite, next, func(answer response, took time.Duration) {
					mutex.Lock()
					defer mutex.Unlock()
					// A refusal with Retry-After is correct. A good response
					// that comes too late counts neither as good nor as a
					// failure.
					switch refused := answer.status == "503" || answer.status == "429"; {
					case answer.status[0] == '2' && took <= soon:
						good++
					case refused && answer.retry > 0:
						f.refusals = append(f.refusals, took)
					case answer.status[0] != '2':
						f.failures++
					}
				})
				if err != nil && ctx.Err() == nil {
					mutex.Lock()
					f.failures++
					mutex.Unlock()
					// Wait, or a caller that cannot connect would only retry.
					pause(ctx, time.Second)
				}
			}
		})
	}
	callers.Wait()
	lasted := time.Since(started).Seconds()
	f.good, f.rate = float64(good)/lasted, float64(len(f.refusals))/lasted
}

// converse sends one request after the other over a connection.
func converse(ctx context.Context, address string, polite bool, next func(int64, []byte) []byte, heard func(response, time.Duration)) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// Do not wait for a response when the time is up.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	// A small buffer: five thousand callers share the machine with the server.
	reader := bufio.NewReaderSize(conn, 2<<10)
	var request []byte
	for ctx.Err() == nil {
		request = next(0, request[:0])
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			return err
		}
		answer, err := readResponse(reader)
		if err != nil {
			return err
		}
		heard(answer, time.Since(began))
		if answer.retry > 0 && polite {
			pause(ctx, time.Duration(answer.retry)*time.Second)
		}
	}
	return errors.Join(ctx.Err())
}

// pause waits for roughly that long.
func pause(ctx context.Context, about time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(about/2 + rand.N(about)):
	}
}
