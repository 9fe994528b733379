package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall/internal/test/pgtest"
)

// A table with every type of column, and how to copy rows into it.
const (
	copiedTable = `CREATE TABLE copied (n BIGINT PRIMARY KEY, t TEXT, j JSON, b BOOLEAN, d BYTEA)`
	copiedText  = `COPY copied (n, t, j, b, d) FROM STDIN (FORMAT binary)`
)

var copiedKinds = []string{"bigint", "text", "json", "boolean", "bytea"}

// TestCopyRoundTrip sends every kind of value, more rows than fit
// one piece, and a row that is longer than a piece.
func TestCopyRoundTrip(t *testing.T) {
	r := openTest(t, pgtest.URL(t), Options{})
	long := strings.Repeat("né", 100_000)
	rows := []any{
		int64(-1), "", `{"a": "\"x\\"}`, true, []byte{0, 255, '\\'},
		int64(1) << 62, "NULL\t\n\\.", nil, false, []byte{},
		int64(2), nil, nil, nil, nil,
		int64(3), long, `"` + long + `"`, nil, []byte(long),
	}
	for n := range int64(5000) {
		rows = append(rows, 10+n, fmt.Sprint("row ", n), nil, n%2 == 0, nil)
	}
	copied := func(ctx context.Context) error {
		return r.Update(ctx, "", func(tx *Tx) error {
			// The copy is the first statement of the transaction.
			if err := tx.Copy(ctx, Copied{copiedText, copiedKinds, rows}); err != nil {
				return err
			}
			return tx.Copy(ctx, Copied{copiedText, copiedKinds, nil})
		})
	}
	if err := r.Update(t.Context(), "", func(tx *Tx) error {
		_, err := tx.Exec(t.Context(), copiedTable)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := copied(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := 0
	if err := r.View(t.Context(), "", func(tx *Tx) error {
		got, err := tx.Query(t.Context(), `SELECT n, t, CAST(j AS TEXT), b, d FROM copied`)
		if err != nil {
			return err
		}
		defer got.Close()
		sent := map[any]string{}
		for row := rows; len(row) > 0; row = row[5:] {
			sent[row[0]] = fmt.Sprintf("%q", row[:5])
		}
		for ; got.Next(); found++ {
			var n int64
			var text, document *string
			var yes *bool
			var bytes []byte
			if err := got.Scan(&n, &text, &document, &yes, &bytes); err != nil {
				return err
			}
			row := []any{n, deref(text), deref(document), deref(yes), nil}
			if bytes != nil {
				row[4] = bytes
			}
			if was := fmt.Sprintf("%q", row); was != sent[n] {
				t.Errorf("row %d is %.80s, want %.80s", n, was, sent[n])
			}
		}
		return got.Err()
	}); err != nil || found != len(rows)/5 {
		t.Fatalf("%d of %d rows, %v", found, len(rows)/5, err)
	}
	// Rows that already exist violate the constraint and fail the whole copy.
	if err := copied(t.Context()); !NotUnique(err) {
		t.Errorf("the same rows again: %v", err)
	}
	if err := r.works(t.Context(), "afterwards"); err != nil {
		t.Error(err)
	}
}

// deref returns the value of a pointer, or nil.
func deref[T any](from *T) any {
	if from == nil {
		return nil
	}
	return *from
}

// TestTablesAreCopiedTogether sends several tables at once. When one is
// refused, the error names the cause, no row of any table is stored, and the
// connection can be used again.
func TestTablesAreCopiedTogether(t *testing.T) {
	r := openTest(t, pgtest.URL(t), Options{Connections: 5})
	long := strings.Repeat("x", pieceSize)
	table := func(rows ...any) Copied {
		return Copied{`COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, rows}
	}
	copied := func(tables ...Copied) error {
		return r.Update(t.Context(), "", func(tx *Tx) error { return tx.Copy(t.Context(), tables...) })
	}
	if err := copied(table("first", int64(0), "second", int64(0)), table(), table("third", int64(0))); err != nil {
		t.Fatal(err)
	}
	for range 10 { // often enough to use every connection
		err := copied(table("fourth", int64(0)), table("second", int64(0)), table("fourth", int64(0), "fifth", int64(0)))
		if !NotUnique(err) {
			t.Errorf("an existing row was %v", err)
		}
		err = copied(table("fourth", int64(0)), Copied{`COPY item (name) FROM STDIN (FORMAT binary)`, []string{"bytea"}, []any{[]byte{0xff}}},
			table(long, int64(0)))
		if err == nil || NotUnique(err) || errors.Is(err, ErrUnavailable) {
			t.Errorf("a name that is not a text was %v", err)
		}
	}
	for name, want := range map[string]int{"first": 1, "second": 1, "third": 1, "fourth": 0, "fifth": 0} {
		if count, err := r.count(t.Context(), name); err != nil || count != want {
			t.Errorf("%s is stored %d times, %v", name, count, err)
		}
	}
	if err := r.works(t.Context(), "afterwards"); err != nil {
		t.Error(err)
	}
}

// TestCopyCancelled cancels a copy that waits for a lock. The caller does not
// wait for the server's answer, and that answer is not mistaken for a later
// one.
func TestCopyCancelled(t *testing.T) {
	// Enough connections for two concurrent transactions of this kind.
	limits := Limits{Lock: 10 * time.Second, Statement: 12 * time.Second, Silence: time.Minute}
	r := openTest(t, pgtest.URL(t), Options{Connections: 16, Limits: limits})
	locked, leave := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		if err := r.Update(t.Context(), "holder", func(tx *Tx) error {
			_, err := tx.Exec(t.Context(), `LOCK TABLE item`)
			close(locked)
			<-leave
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	<-locked
	// The caller cancels. A limit of the engine would look like a broken
	// connection.
	ctx, leaves := context.WithCancel(t.Context())
	begun, came := false, time.Now()
	err := r.Update(ctx, "", func(tx *Tx) error {
		begun = true
		time.AfterFunc(200*time.Millisecond, leaves)
		return tx.Copy(ctx, Copied{`COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, []any{"given up", int64(0)}})
	})
	if err == nil || !begun {
		t.Errorf("the copy did not stop: begun %t, %v", begun, err)
	}
	// The server itself gives up only after the whole lock timeout.
	if took := time.Since(came); took > limits.Lock/2 {
		t.Errorf("a cancelled caller waited for %s", took)
	}
	close(leave)
	holding.Wait()
	for i := range 10 { // often enough to use every connection
		if err := r.works(t.Context(), fmt.Sprint("afterwards ", i)); err != nil {
			t.Error(err)
		}
	}
	if count, err := r.count(t.Context(), "given up"); err != nil || count != 0 {
		t.Errorf("stored %d times, %v", count, err)
	}
}

// TestCopyChecksKinds checks that Copy refuses a value of the wrong type,
// and that it refuses SQLite.
func TestCopyChecksKinds(t *testing.T) {
	for name, database := range map[string]string{"a wrong kind": pgtest.URL(t), "a file": tempFile(t)} {
		t.Run(name, func(t *testing.T) {
			r := openTest(t, database, Options{})
			err := r.Update(t.Context(), "", func(tx *Tx) error {
				return tx.Copy(t.Context(), Copied{`COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, []any{"a", "8letters"}})
			})
			if err == nil || errors.Is(err, ErrUnavailable) {
				t.Errorf("it was %v", err)
			}
			if count, err := r.count(t.Context(), "a"); err != nil || count != 0 {
				t.Errorf("stored %d times, %v", count, err)
			}
			if err := r.works(t.Context(), "afterwards"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEveryExchangeOfACopyLost loses each exchange of a copy in turn.
func TestEveryExchangeOfACopyLost(t *testing.T) {
	loseEach(t, func(r *testDB, name string) error {
		return r.Update(t.Context(), "", func(tx *Tx) error {
			return tx.Copy(t.Context(), Copied{`COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, []any{name, int64(0)}})
		})
	})
}
