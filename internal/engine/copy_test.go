package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"landfall/internal/pgtest"
)

// copied is a table of every kind, and how rows get into it.
const (
	copiedTable = `CREATE TABLE copied (n BIGINT PRIMARY KEY, t TEXT, j JSON, b BOOLEAN, d BYTEA)`
	copiedText  = `COPY copied (n, t, j, b, d) FROM STDIN (FORMAT binary)`
)

var copiedKinds = []string{"bigint", "text", "json", "boolean", "bytea"}

// TestCopiedRowsArriveAsTheyWere sends every kind of value, more rows than one piece
// holds, and one that is longer than any piece.
func TestCopiedRowsArriveAsTheyWere(t *testing.T) {
	r := enter(t, pgtest.URL(t), Options{})
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
			// The first statement of a transaction, as it happens.
			if err := tx.Copy(ctx, copiedText, copiedKinds, rows); err != nil {
				return err
			}
			return tx.Copy(ctx, copiedText, copiedKinds, nil)
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
			row := []any{n, value(text), value(document), value(yes), nil}
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
	// What is there already is refused by name, and takes the whole copy with it.
	if err := copied(t.Context()); !NotUnique(err) {
		t.Errorf("the same rows again: %v", err)
	}
	if err := r.works(t.Context(), "afterwards"); err != nil {
		t.Error(err)
	}
}

// value is what a pointer leads to, nil for none.
func value[T any](from *T) any {
	if from == nil {
		return nil
	}
	return *from
}

// TestCopiesAreTheSameInPieces reads rows in pieces of every size.
func TestCopiesAreTheSameInPieces(t *testing.T) {
	rows := []any{int64(1), "a text", []byte("some bytes"), int64(2), nil, []byte(nil), int64(3), strings.Repeat("long ", 20), []byte{1}}
	all := func(read func(io.Reader) io.Reader) []byte {
		text, err := io.ReadAll(read(&copying{rows: rows, width: 3}))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	whole := all(func(r io.Reader) io.Reader { return r })
	if !bytes.HasPrefix(whole, []byte(copyHeader)) || !bytes.HasSuffix(whole, []byte{1, 0xff, 0xff}) {
		t.Errorf("%q", whole)
	}
	if one := all(iotest.OneByteReader); !bytes.Equal(one, whole) {
		t.Errorf("%q by the byte, %q as a whole", one, whole)
	}
	for size := 1; size < 200; size++ {
		if got := all(func(r io.Reader) io.Reader { return inPieces{r, size} }); !bytes.Equal(got, whole) {
			t.Errorf("%q in pieces of %d, %q as a whole", got, size, whole)
		}
	}
}

// inPieces reads no more than so many bytes at a time.
type inPieces struct {
	io.Reader
	size int
}

func (p inPieces) Read(into []byte) (int, error) { return p.Reader.Read(into[:min(p.size, len(into))]) }

// TestCopiesHoldTheirKinds refuses a value that would arrive as something else, and to
// copy into a file at all.
func TestCopiesHoldTheirKinds(t *testing.T) {
	for name, database := range map[string]string{"a wrong kind": pgtest.URL(t), "a file": file(t)} {
		t.Run(name, func(t *testing.T) {
			r := enter(t, database, Options{})
			err := r.Update(t.Context(), "", func(tx *Tx) error {
				return tx.Copy(t.Context(), `COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, []any{"a", "8letters"})
			})
			if err == nil || errors.Is(err, ErrUnavailable) {
				t.Errorf("it was %v", err)
			}
			if count, err := r.count(t.Context(), "a"); err != nil || count != 0 {
				t.Errorf("it is there %d times, %v", count, err)
			}
			if err := r.works(t.Context(), "afterwards"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEveryExchangeOfACopyLost loses each of them in turn.
func TestEveryExchangeOfACopyLost(t *testing.T) {
	loseEach(t, func(r *room, name string) error {
		return r.Update(t.Context(), "", func(tx *Tx) error {
			return tx.Copy(t.Context(), `COPY item (name, value) FROM STDIN (FORMAT binary)`, []string{"text", "bigint"}, []any{name, int64(0)})
		})
	})
}
