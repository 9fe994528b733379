package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"landfall/internal/test/pgtest"
)

// TestEveryResponseLost loses the answers to all commits at once, as a failover
// does. All outcomes are looked up concurrently, within seconds.
func TestEveryResponseLost(t *testing.T) {
	for name, options := range map[string]Options{"usual": {}, "few connections": {Connections: 5}} {
		t.Run(name, func(t *testing.T) {
			if err := losing(t, options); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWritesAreCommitted runs writes that return rows. The engine must not take
// them for reads.
func TestWritesAreCommitted(t *testing.T) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": tempFile, "postgres": pgtest.URL} {
		t.Run(name, func(t *testing.T) {
			if answered, err := openTest(t, address(t), Options{}).crowd(t.Context(), "", 12); err != nil || answered != 12 {
				t.Errorf("%d of 12 were committed: %v", answered, err)
			}
		})
	}
}

func losing(t testing.TB, options Options) error {
	proxy := pgtest.NewProxy(t, pgtest.URL(t))
	r := openTest(t, proxy.URL, options)
	if _, err := r.crowd(t.Context(), "warm ", 64); err != nil { // so that all workers are connected
		return err
	}
	r.hold(64)
	proxy.LoseCommits(true)
	go func() {
		for deadline := time.Now().Add(leeway); proxy.Lost() < 2 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		proxy.LoseCommits(false)
	}()
	began := time.Now()
	answered, err := r.crowd(t.Context(), "lost ", 64)
	switch took := time.Since(began); {
	case err != nil:
		return err
	case proxy.Lost() == 0:
		return errors.New("nothing was lost")
	case answered != 64:
		return fmt.Errorf("only %d of 64 calls succeeded, after %s", answered, took)
	}
	return r.works(t.Context(), "afterwards")
}

// TestEveryExchangeLost loses each exchange of a single write in turn.
func TestEveryExchangeLost(t *testing.T) {
	loseEach(t, func(r *testDB, name string) error { return r.put(t.Context(), "t", name) })
}

// loseEach loses each exchange of a write in turn and compares what the caller
// was told with what is in the database.
func loseEach(t *testing.T, write func(r *testDB, name string) error) {
	t.Helper()
	proxy := pgtest.NewProxy(t, pgtest.URL(t))
	r := openTest(t, proxy.URL, Options{})
	for _, request := range []bool{false, true} {
		for n := int64(1); n < 20; n++ {
			name := fmt.Sprint(request, n)
			before := proxy.Lost()
			proxy.Lose(n, request)
			err := write(r, name)
			proxy.Lose(0, false)
			count, trouble := r.count(t.Context(), name)
			if trouble != nil || err == nil && count != 1 || err != nil && count != 0 {
				t.Errorf("exchange %d lost: got %v, stored %d times, %v", n, err, count, trouble)
			}
			if proxy.Lost() == before {
				break
			}
		}
	}
}

// TestSilentServer uses a server that accepts connections and never answers.
// Callers get an answer within the limits, silent connections are closed, and
// new ones are used as soon as they work.
func TestSilentServer(t *testing.T) {
	limits := shortLimits
	limits.Transaction, limits.Silence, limits.Statement, limits.Lock = 1500*time.Millisecond, time.Second, 900*time.Millisecond, 800*time.Millisecond
	limits.Commit, limits.Resolve, limits.Connect = time.Second, time.Second, 500*time.Millisecond
	for name, silence := range map[string]func(*pgtest.Proxy){
		"old connections": (*pgtest.Proxy).Freeze,
		"all connections": func(p *pgtest.Proxy) { p.Mute(true) },
	} {
		t.Run(name, func(t *testing.T) {
			proxy := pgtest.NewProxy(t, pgtest.URL(t))
			r := openTest(t, proxy.URL, Options{Limits: limits})
			if err := r.works(t.Context(), "before"); err != nil {
				t.Fatal(err)
			}
			silence(proxy)
			began := time.Now()
			var callers sync.WaitGroup
			for i := range 40 {
				callers.Go(func() {
					err := r.put(t.Context(), fmt.Sprint(i%4), fmt.Sprint("silence ", i))
					if err != nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnknownOutcome) {
						t.Errorf("got %v", err)
					}
				})
			}
			callers.Wait()
			if took := time.Since(began); took > limits.QueueWait+limits.served()+leeway {
				t.Errorf("callers waited for %s", took)
			}
			proxy.Mute(false)
			began = time.Now()
			if err := r.works(t.Context(), "after"); err != nil {
				t.Error(err)
			}
			if err := r.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > leeway {
				t.Errorf("it took %s until new connections were used", took)
			}
		})
	}
}

// TestLockedRow locks one row for long. Calls that do not need it continue;
// those that do wait alone and succeed when it is unlocked.
func TestLockedRow(t *testing.T) {
	if err := neighbours(t, Options{}); err != nil {
		t.Error(err)
	}
}

func neighbours(t testing.TB, options Options) error {
	server := pgtest.URL(t)
	r := openTest(t, server, options)
	if err := r.put(t.Context(), "t", "held"); err != nil {
		return err
	}
	release, err := lockRow(t, server, "held")
	if err != nil {
		return err
	}
	defer release()
	const others = 40
	r.hold(others + 2) // so that they share a batch with the call that needs the row
	unlucky, operator := make(chan error, 1), make(chan error, 1)
	go func() { unlucky <- r.put(t.Context(), "t", "held") }()
	go func() {
		operator <- r.Update(t.Context(), "t", func(tx *Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE item SET value = value WHERE name = 'held'`)
			return err
		})
	}()
	// The machine may be busy in one round, but a lock would delay all of them.
	quickest := time.Hour
	for round := range 4 {
		answers := make(chan error, others)
		began := time.Now()
		for i := range others {
			go func() { answers <- r.put(t.Context(), "t", fmt.Sprint("free ", round, i)) }()
		}
		for range others {
			if err := <-answers; err != nil {
				return fmt.Errorf("another caller got %w", err)
			}
		}
		quickest = min(quickest, time.Since(began))
	}
	if quickest > shortLimits.Lock {
		return fmt.Errorf("callers of other rows waited for %s", quickest)
	}
	select {
	case err := <-unlucky:
		return fmt.Errorf("a caller waiting for the row was answered before it was unlocked: %w", err)
	case err := <-operator:
		return fmt.Errorf("the operator was answered before the row was free: %w", err)
	default:
	}
	release()
	return errors.Join(<-operator, <-unlucky)
}

// lockRow locks a row until release is called.
func lockRow(t testing.TB, server, name string) (release func(), err error) {
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		return nil, err
	}
	var once sync.Once
	release = func() { once.Do(func() { conn.Close(context.Background()) }) }
	if _, err = conn.Exec(t.Context(), "BEGIN"); err == nil {
		_, err = conn.Exec(t.Context(), "SELECT * FROM item WHERE name = $1 FOR UPDATE", name)
	}
	return release, err
}

// TestReadModifyWrite lets many callers add one to a number that they read.
func TestReadModifyWrite(t *testing.T) {
	for name, server := range map[string]func() string{
		"sqlite": func() string { return tempFile(t) }, "postgres": func() string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := adding(t, server(), Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func adding(t testing.TB, server string, options Options) error {
	const times = 24
	r := openTest(t, server, options)
	if err := r.put(t.Context(), "t", "sum"); err != nil {
		return err
	}
	failed := make([]error, times)
	var callers sync.WaitGroup
	for i := range times {
		callers.Go(func() {
			failed[i] = r.Update(t.Context(), fmt.Sprint(i), func(tx *Tx) error {
				var value int64
				if err := tx.One(t.Context(), `SELECT held.value FROM item held WHERE held.name = 'sum' {for_update}`, nil, []any{&value}); err != nil {
					return err
				}
				time.Sleep(time.Millisecond) // so that transactions overlap
				_, err := tx.Exec(t.Context(), `UPDATE item SET value = $1 WHERE name = 'sum'`, value+1)
				return err
			})
		})
	}
	callers.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if count, err := r.count(t.Context(), "sum"); err != nil || count != times+1 {
		return errors.Join(fmt.Errorf("%d of %d are stored", count-1, times), err)
	}
	return nil
}

// TestRefusalIsCommitted checks that an update that was refused inserts a
// mark too: what it found must be as durable as what it writes.
func TestRefusalIsCommitted(t *testing.T) {
	for _, server := range []string{tempFile(t), pgtest.URL(t)} {
		r := openTest(t, server, Options{})
		marks := func() (count int) {
			if err := r.View(t.Context(), "", func(tx *Tx) error {
				return tx.One(t.Context(), `SELECT count(*) FROM commit_mark`, nil, []any{&count})
			}); err != nil {
				t.Fatal(err)
			}
			return count
		}
		before := marks()
		exists := errors.New("it exists")
		for _, answer := range []error{nil, exists} {
			if err := r.Update(t.Context(), "t", func(*Tx) error { return answer }); !errors.Is(err, answer) {
				t.Errorf("got %v", err)
			}
		}
		if err := r.Update(t.Context(), "t", func(*Tx) error { return ErrUndone }); err != nil {
			t.Error(err)
		}
		if found := marks() - before; found != 2 {
			t.Errorf("%d marks for two answers", found)
		}
	}
}
