package engine

import (
	"context"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"landfall/internal/test/pgtest"
)

// TestColumnsRoundTrip sends every kind of value in two modes, with
// parameter types that the connection knows and without, and checks what
// PostgreSQL received.
func TestColumnsRoundTrip(t *testing.T) {
	config, err := pgx.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec} {
		t.Run(mode.String(), func(t *testing.T) {
			config := config.Copy()
			config.DefaultQueryExecMode = mode
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			registerColumns(conn.TypeMap())
			for _, c := range []struct {
				kind string
				rows []any
				want string
			}{
				{"bigint", []any{int64(-1), nil, int64(1) << 62}, `{-1,NULL,4611686018427387904}`},
				{"text", []any{"", nil, "NULL", `a"b\c,{}`, " é\n"}, "{\"\",NULL,\"NULL\",\"a\\\"b\\\\c,{}\",\" é\n\"}"},
				{"json", []any{`{"a": "\"x\\"}`, nil}, `{"{\"a\": \"\\\"x\\\\\"}",NULL}`},
				{"boolean", []any{true, nil, false}, `{t,NULL,f}`},
				{"bytea", []any{[]byte{0, 255, '\\'}, nil, []byte{}}, `{"\\x00ff5c",NULL,"\\x"}`},
				{"text", nil, `{}`},
				{"json", []any{nil}, `{NULL}`},
			} {
				var got string
				err := conn.QueryRow(t.Context(), `SELECT CAST($1::`+c.kind+`[] AS TEXT)`, Column{Rows: c.rows, Width: 1}).Scan(&got)
				if err != nil || got != c.want {
					t.Errorf("%s: %s, want %s: %v", c.kind, got, c.want, err)
				}
			}
		})
	}
}

// TestColumnSelectsItsValues reads the second column of rows with two.
func TestColumnSelectsItsValues(t *testing.T) {
	column := Column{Rows: []any{int64(1), "a", int64(2), nil}, At: 1, Width: 2}
	text, err := column.TextValue()
	if got := []any{column.Index(0), column.Index(1)}; err != nil || text.String != `{"a",NULL}` || !reflect.DeepEqual(got, []any{"a", nil}) {
		t.Errorf("%v, %q, %v", got, text.String, err)
	}
	if _, err := (Column{Rows: []any{1.5}, Width: 1}).TextValue(); err == nil {
		t.Error("an unsupported value was encoded")
	}
}

// TestColumnRejectsMixedKinds checks that a value of another type is refused.
// PostgreSQL would misread its bytes or fail the whole statement.
func TestColumnRejectsMixedKinds(t *testing.T) {
	kinds := pgtype.NewMap()
	registerColumns(kinds)
	for oid, rows := range map[uint32][]any{
		pgtype.Int8ArrayOID: {int64(1), "2"}, pgtype.TextArrayOID: {"a", []byte("b")}, pgtype.JSONArrayOID: {true},
		pgtype.BoolArrayOID: {int64(1)}, pgtype.ByteaArrayOID: {"a"},
	} {
		if sent, err := kinds.Encode(oid, pgtype.BinaryFormatCode, Column{Rows: rows, Width: 1}, nil); err == nil {
			t.Errorf("%v as kind %d: %x", rows, oid, sent)
		}
	}
}
