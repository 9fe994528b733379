package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// The schema that the engine needs, and a table to write into.
const (
	schemaSQLite = `-- +goose Up
CREATE TABLE commit_mark (id BLOB PRIMARY KEY, at INTEGER NOT NULL, void INTEGER NOT NULL, step INTEGER NOT NULL) STRICT;
CREATE TABLE item (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
-- +goose Down
DROP TABLE item;`
	schemaPostgres = `-- +goose Up
CREATE TABLE commit_mark (id BYTEA PRIMARY KEY, at BIGINT NOT NULL, void BOOLEAN NOT NULL, step BIGINT NOT NULL);
CREATE TABLE item (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
-- +goose Down
DROP TABLE item;`
)

var steps = fstest.MapFS{
	"sqlite/0001_schema.sql":   {Data: []byte(schemaSQLite)},
	"postgres/0001_schema.sql": {Data: []byte(schemaPostgres)},
}

// shortLimits are limits short enough for tests and long enough for a busy
// machine.
var shortLimits = Limits{
	Request: 20 * time.Second, QueueWait: 4 * time.Second, Transaction: 6 * time.Second, Commit: 2 * time.Second,
	Resolve: 4 * time.Second, Silence: 5 * time.Second, Statement: 4 * time.Second, Lock: 3 * time.Second,
	Admission: 3 * time.Second, Connect: time.Second, BatchLock: 100 * time.Millisecond, LoneLock: 20 * time.Millisecond,
}

// leeway is how much longer than a limit a busy machine may take.
const leeway = 15 * time.Second

// testDB is an open database with one kind of work: puts.
type testDB struct {
	*DB
	puts *Kind
}

// item is the work of a put: a row with this name.
type item struct{ name string }

func openTest(t testing.TB, name string, options Options) *testDB {
	t.Helper()
	options.Steps, options.ApplySchema = steps, true
	if options.Limits == (Limits{}) {
		options.Limits = shortLimits
	}
	parsed, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), parsed, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &testDB{db, db.NewKind(func(ctx context.Context, tx *Tx, calls []*Call) error {
		for _, c := range calls {
			// This write returns rows, so the engine must not take it for a
			// read.
			var name string
			err := tx.One(ctx, `INSERT INTO item (name, value) VALUES ($1, 0)
				ON CONFLICT (name) DO UPDATE SET value = item.value + 1 RETURNING name`,
				[]any{c.Work.(*item).name}, []any{&name})
			if err != nil {
				return err
			}
		}
		return nil
	})}
}

func tempFile(t testing.TB) string { return filepath.Join(t.TempDir(), "room.db") }

// put writes an item for a tenant.
func (r *testDB) put(ctx context.Context, tenant, name string) error {
	return r.puts.Do(ctx, &Call{Tenant: tenant, Key: name, Weight: 100, Work: &item{name}})
}

// count returns how often an item was put.
func (r *testDB) count(ctx context.Context, name string) (count int, err error) {
	err = r.View(ctx, "", func(tx *Tx) error {
		err := tx.One(ctx, `SELECT value + 1 FROM item WHERE name = $1`, []any{name}, []any{&count})
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	})
	return count, err
}

// hold keeps the workers from taking work until this many calls wait, so that
// they run together.
func (r *testDB) hold(calls int) {
	kinds := map[*Kind]int{r.puts: r.puts.maxBatches, r.updates: r.updates.maxBatches}
	set := func(lanes func(*Kind) int) {
		r.queue.lock.Lock()
		defer r.queue.lock.Unlock()
		for kind := range kinds {
			kind.maxBatches = lanes(kind)
		}
		r.queue.changed.Broadcast()
	}
	set(func(*Kind) int { return 0 })
	go func() {
		for deadline := time.Now().Add(3 * time.Second); queued(r.queue) < calls && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		set(func(kind *Kind) int { return kinds[kind] })
	}()
}

// crowd puts many items at once. Every caller must get one true answer in time;
// the error says what went wrong.
func (r *testDB) crowd(ctx context.Context, prefix string, callers int) (answered int, err error) {
	limit := shortLimits.QueueWait + shortLimits.served() + leeway
	answers := make([]error, callers)
	took := make([]time.Duration, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			began := time.Now()
			if i%3 == 2 {
				answers[i] = r.Update(ctx, "operators", func(tx *Tx) error {
					var name string
					return tx.One(ctx, `INSERT INTO item (name, value) VALUES ($1, 0) RETURNING name`,
						[]any{fmt.Sprint(prefix, i)}, []any{&name})
				})
			} else {
				answers[i] = r.put(ctx, fmt.Sprint("tenant", i%5), fmt.Sprint(prefix, i))
			}
			took[i] = time.Since(began)
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit + 5*time.Second):
		return 0, errors.New("somebody was never answered")
	}
	for i, answer := range answers {
		count, trouble := r.count(ctx, fmt.Sprint(prefix, i))
		switch {
		case trouble != nil:
			err = errors.Join(err, trouble)
		case took[i] > limit:
			err = errors.Join(err, fmt.Errorf("caller %d waited for %s", i, took[i]))
		case answer == nil && count != 1:
			err = errors.Join(err, fmt.Errorf("caller %d succeeded, but the write is stored %d times", i, count))
		case answer == nil:
			answered++
		case errors.Is(answer, ErrUnknownOutcome):
			err = errors.Join(err, fmt.Errorf("caller %d got an unknown outcome that could be resolved", i))
		case count != 0:
			err = errors.Join(err, fmt.Errorf("caller %d got %w, but the write is stored", i, answer))
		}
	}
	return answered, err
}

// works checks that the database works again.
func (r *testDB) works(ctx context.Context, name string) error {
	deadline := time.Now().Add(leeway)
	for {
		err := r.put(ctx, "afterwards", name)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not recover: %w", err)
		}
	}
	if count, err := r.count(ctx, name); err != nil || count < 1 {
		return errors.Join(fmt.Errorf("a later write is stored %d times", count), err)
	}
	return nil
}

// queued returns the number of waiting calls.
func queued(q *queue) int {
	q.lock.Lock()
	defer q.lock.Unlock()
	return q.count
}
