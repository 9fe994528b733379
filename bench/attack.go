package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// attackResult is the effect of an attack by one organisation on another: the worst of
// all attacks, by throughput and by p99.
type attackResult struct{ rate, p99 measured }

// measureAttack returns the share of its throughput that an organisation keeps
// while another one attacks.
func measureAttack(name string, database func(context.Context, *harness) (string, error)) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		found, err := m.siege(ctx, p, name, database)
		return found.rate, err
	}
}

// measureAttackDelay returns by which factor its p99 grows.
func measureAttackDelay(name string, database func(context.Context, *harness) (string, error)) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		found, err := m.siege(ctx, p, name, database)
		return found.p99, err
	}
}

// siege attacks a server and keeps the result for both measurements.
func (m *harness) siege(ctx context.Context, p plan, name string, database func(context.Context, *harness) (string, error)) (attackResult, error) {
	// Two lines of the report are about one attack: attacking twice would take
	// minutes, and the figures would be from different runs.
	if found, already := m.sieges[name]; already {
		return found, nil
	}
	address, err := database(ctx, m)
	if err != nil {
		return attackResult{}, err
	}
	s, err := m.start(ctx, address)
	if err != nil {
		return attackResult{}, err
	}
	defer s.stop()
	// Set the attacker up first, so that its twenty thousand accounts are not
	// part of the attack.
	evil, err := m.attacker(ctx, s, address)
	if err != nil {
		return attackResult{}, err
	}
	defer evil.leave()
	neighbour := s.neighbour()
	if _, err := neighbour.run(ctx, p.length/2); err != nil { // so that there is something to read
		return attackResult{}, err
	}
	before, err := neighbour.run(ctx, p.length)
	if err != nil {
		return attackResult{}, err
	}
	// Start with values that any attack makes worse.
	found := attackResult{rate: measured{ratio: 1e9}, p99: measured{atMost: true}}
	for _, attack := range evil.attacks() {
		// Set for each attack: a quota left from the previous one would make
		// this one harmless.
		if _, err := m.tell(ctx, "organisation", "set", "Evil", "--requests-per-second", strconv.Itoa(attack.quota), "--database", address); err != nil {
			return attackResult{}, err
		}
		attacked, err := neighbour.duringAttack(ctx, attack, p.length)
		if err != nil {
			return attackResult{}, fmt.Errorf("%s: %w", attack.name, err)
		}
		after, err := neighbour.run(ctx, p.length)
		if err != nil {
			return attackResult{}, err
		}
		// Measure before and after without an attack, so that a machine that
		// becomes slower affects both sides.
		alone := mean(before, after)
		before = after
		ratio, delay := attacked.rate/alone.rate, attacked.p99.Seconds()/alone.p99.Seconds()
		fmt.Fprintf(os.Stderr, "  during %s: %.2f of the rate, p99 %.1f times\n", attack.name, ratio, delay)
		words := measured{ours: attacked.of("answers during attack: " + attack.name), raw: alone.of("answers alone")}
		if ratio < found.rate.ratio {
			found.rate = measured{ratio: ratio, ours: words.ours, raw: words.raw}
		}
		if delay > found.p99.ratio {
			found.p99 = measured{ratio: delay, ours: words.ours, raw: words.raw, atMost: true}
		}
	}
	m.sieges[name] = found
	return found, nil
}

// duringAttack runs a load during an attack.
func (l load) duringAttack(ctx context.Context, attack attackKind, length time.Duration) (sample, error) {
	attacked, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	for number := range attackers {
		group.Go(func() { attack.run(attacked, number) })
	}
	// Deferred in this order: first tell the attackers to stop, then wait for
	// them, so that none reaches into the next measurement.
	defer group.Wait()
	defer stop()
	time.Sleep(time.Second) // until the attack is under way
	return l.run(ctx, length)
}

// neighbour is the load of a well-behaved organisation: it stages, asks for the
// status of accounts, and reads lists. A refusal counts as an answer that takes
// for ever.
func (s *service) neighbour() load {
	numbers := &counter{}
	stage := post(stagePath, s.token, numbers.account)
	read := func(dst []byte, path string) []byte {
		return append(append(append(append(dst, "GET "...), path...), " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token "...),
			s.token+"\r\n\r\n"...)
	}
	return load{
		// Lenient, because causing refusals is what an attack can achieve: a
		// refusal counts as the slowest answer and does not end the run.
		address: s.address, connections: attackers, want: "20", lenient: true,
		next: func(n int64, dst []byte) []byte {
			switch n % 4 {
			case 1:
				// Far enough behind the newest account that no other connection
				// is still staging it.
				staged := accountOffset + max(1, numbers.last.Load()-1000) // which exists by now
				return read(dst, "/v1/data-import/account-transfer-status/"+supplier+"/EXT-"+strconv.FormatInt(staged, 10)+"/")
			case 3:
				return read(dst, listPath+"?limit=50")
			}
			return stage(n, dst)
		},
	}
}
