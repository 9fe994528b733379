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

// callersInFlood is how many connect at once, each with a request ready.
const callersInFlood = 5_000

// soon is how fast an answer must come to be worth anything.
const soon = 2 * time.Second

// flood is what came of far more callers than can be served.
type flood struct {
	best      sample    // what 64 callers get
	good      float64   // good answers within time, a second
	refusals  stopwatch // how long refused callers waited
	rate      float64   // refusals a second
	failures  int       // cut connections, refusals that do not say when to come back, other answers
	peak      float64   // MiB of memory
	idle      float64   // MiB some seconds after
	afterward sample    // what 64 callers get right after
	machine   float64   // how fast the machine was by then, in times: noise that is not the flood's
}

// kind makes databases of one kind, as fresh and file do.
type kind func(name string) func(context.Context, *machinery) (string, error)

// measureFlood gives the ratio of good answers under a flood to the best; what
// else there is to know of it is in the words.
func measureFlood(name string, databases kind) func(context.Context, plan, *machinery) (result, error) {
	return func(ctx context.Context, p plan, m *machinery) (result, error) {
		f, err := m.flood(ctx, p, name, databases)
		if err != nil {
			return result{}, err
		}
		return result{
			// The flood lies in between, so the machine is taken as it was in the middle.
			ratio: f.good / f.best.rate / ((1 + f.machine) / 2), raw: f.best.of("staged by 64 callers") + f.meanwhile(),
			ours: fmt.Sprintf("%.0f staged/s within 2 s; %.0f refused/s, p99 %.1f s, %d failed",
				f.good, f.rate, f.refusals.percentile(0.99).Seconds(), f.failures),
		}, nil
	}
}

// measureFloodMemory gives the most memory the server took meanwhile.
func measureFloodMemory(name string, databases kind) func(context.Context, plan, *machinery) (result, error) {
	return func(ctx context.Context, p plan, m *machinery) (result, error) {
		f, err := m.flood(ctx, p, name, databases)
		if err != nil {
			return result{}, err
		}
		return result{
			ratio: f.peak, atMost: true, ours: fmt.Sprintf("%.0f MiB at most", f.peak), raw: fmt.Sprintf("%.0f MiB ten seconds later", f.idle),
		}, nil
	}
}

// measureAfterFlood gives the ratio of what 64 callers get right after a flood
// to what they got before.
func measureAfterFlood(name string, databases kind) func(context.Context, plan, *machinery) (result, error) {
	return func(ctx context.Context, p plan, m *machinery) (result, error) {
		f, err := m.flood(ctx, p, name, databases)
		if err != nil {
			return result{}, err
		}
		return result{
			ratio: f.afterward.rate / f.best.rate / f.machine, ours: f.afterward.of("staged right after"),
			raw: f.best.of("staged before") + f.meanwhile(),
		}, nil
	}
}

// meanwhile says what became of the machine.
func (f *flood) meanwhile() string {
	return fmt.Sprintf(", the machine %.2f times as fast by the end", f.machine)
}

// flood lets it come over a server once for all who want to know of it.
func (m *machinery) flood(ctx context.Context, p plan, name string, databases kind) (*flood, error) {
	if f := m.floods[name]; f != nil {
		return f, nil
	}
	s, err := m.serveNew(ctx, databases("flood"))
	if err != nil {
		return nil, err
	}
	defer s.stop()
	// Its twin is never flooded, and tells by what it gets before and after how the machine changed.
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
	// Three times as long as usual, because callers who are told to come back need time to do so.
	f.rise(ctx, s, numbers, 3*p.length)
	if f.afterward, after, err = s.usual(ctx, p, numbers, twin); err != nil {
		return nil, err
	}
	f.machine = after.rate / before.rate
	// The peak is read after the second usual load, which a flood that left memory behind would
	// raise.
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

// usual gives what 64 callers get of a server, beginning at once, and in turn with it
// of its twin. The means count: a median would forget the first moments after a flood.
func (s *service) usual(ctx context.Context, p plan, numbers *counter, twin *service) (own, other sample, err error) {
	var owns, others []sample
	for range p.rounds {
		found, err := s.load(stagePath, numbers.account).run(ctx, p.length/time.Duration(p.rounds))
		if err != nil {
			return sample{}, sample{}, err
		}
		// What a flood has left behind in the server is not the machine's.
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

// rise sends from everybody at once. Who is refused comes back when he was
// told to, give or take a half; who is served sends the next at once.
func (f *flood) rise(ctx context.Context, s *service, numbers *counter, length time.Duration) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	next := post(stagePath, s.token, numbers.account)
	var mutex sync.Mutex
	var callers sync.WaitGroup
	good, started := 0, time.Now()
	for range callersInFlood {
		callers.Go(func() {
			for ctx.Err() == nil {
				err := converse(ctx, s.address, next, func(answer answer, took time.Duration) {
					mutex.Lock()
					defer mutex.Unlock()
					// Who is refused and told when to come back is treated well; a good answer
					// that comes too late is neither counted as good nor as a failure.
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
					// Not at once, or one that cannot connect would do nothing but try.
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
func converse(ctx context.Context, address string, next func(int64, []byte) []byte, heard func(answer, time.Duration)) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// When time is up nobody waits for an answer any more.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	// A small buffer: five thousand callers are on the same machine as the server.
	reader := bufio.NewReaderSize(conn, 2<<10)
	var request []byte
	for ctx.Err() == nil {
		request = next(0, request[:0])
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			return err
		}
		answer, err := readAnswer(reader)
		if err != nil {
			return err
		}
		heard(answer, time.Since(began))
		if answer.retry > 0 {
			pause(ctx, time.Duration(answer.retry)*time.Second)
		}
	}
	return errors.Join(ctx.Err())
}

// pause waits about so long.
func pause(ctx context.Context, about time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(about/2 + rand.N(about)):
	}
}
