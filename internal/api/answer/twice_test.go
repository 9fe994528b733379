package answer_test

import (
	"fmt"
	"slices"
	"testing"

	"landfall/internal/api/answer"
	"landfall/internal/test/dbtest"
)

// An account that occurs twice in one call is staged and then updated.
func TestAccountTwiceInOneBatch(t *testing.T) {
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return dbtest.SQLite(t) },
		"postgres": func(t *testing.T) string { return dbtest.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, database(t))
			s.begin(t, "S")
			var calls []answer.Call
			for _, external := range []string{"1", "2", "1", "1"} {
				calls = append(calls, answer.Call{Who: s.who, Body: fmt.Appendf(nil,
					`{"import_supplier":"S","external_account_number":%q,"customers":[{}],"notes":[{"body":"%d"}]}`, external, len(calls))})
			}
			var got []int
			for _, told := range s.api.DoBatch(t.Context(), answer.Stage, calls, nil) {
				got = append(got, told.Status)
				if told.Cause != nil || told.Supplier != "S" {
					t.Errorf("%+v", told)
				}
			}
			if !slices.Equal(got, []int{201, 201, 200, 200}) {
				t.Errorf("the answers are %v", got)
			}
			s.inspect(t)
		})
	}
}
