package shape_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"landfall/internal/outbound/shape"
)

// TestMain makes this program its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == shape.WorkerArgument {
		shape.Work(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

func newPool(t *testing.T) *shape.Pool {
	t.Helper()
	t.Setenv("SHAPE_TEST", "visible")
	pool := shape.NewPool(shape.Self)
	t.Cleanup(pool.Close)
	return pool
}

func TestProgramsTurnDocumentsIntoOthers(t *testing.T) {
	pool := newPool(t)
	for program, want := range map[string]string{
		`.`:                 `{"a":12345678901234567890,"b":["x",1.10]}`,
		`{name: .b[0]}`:     `{"name":"x"}`,
		`[.b[] | tostring]`: `["x","1.10"]`,
		`def f: if . > 0 then . - 1 | f else . end; 100000 | f`: `0`,
		`$ENV | length`:  `0`,
		`env.SHAPE_TEST`: `null`,
	} {
		got, err := pool.Apply(t.Context(), program, []byte(`{"a":12345678901234567890,"b":["x",1.10]}`))
		if err != nil || string(got) != want {
			t.Errorf("%s gave %s, %v, want %s", program, got, err, want)
		}
	}
}

func TestProgramsThatCannotBeUsedAreRefused(t *testing.T) {
	pool := newPool(t)
	for program, want := range map[string]string{
		`.[`:                 "cannot be read",
		`input`:              "cannot be used",
		`inputs`:             "cannot be used",
		`import "x" as x; .`: "cannot be used",
		`nosuch`:             "cannot be used",
	} {
		err := pool.Check(t.Context(), program)
		if _, is := errors.AsType[*shape.ProgramError](err); !is || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", program, err, want)
		}
	}
	for program, want := range map[string]string{
		`empty`: "no value", `1, 2`: "several values", `error("x")`: "failed", `.a.b`: "failed", `halt`: "failed",
	} {
		_, err := pool.Apply(t.Context(), program, []byte(`{"a":1}`))
		if _, is := errors.AsType[*shape.ProgramError](err); !is || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", program, err, want)
		}
	}
}

func TestHostileProgramsAreEnded(t *testing.T) {
	pool := newPool(t)
	var all sync.WaitGroup
	for _, program := range []string{
		`def f: f; f`,
		`[limit(1e12; repeat(1))] | length`,
		`reduce range(1e12) as $i (0; . + 1)`,
		`[range(1e10)]`,
		`"x" * 1e10`,
		`reduce range(40) as $i ("xxxxxxxx"; . + .)`,
		`def f: [f]; f`,
		`def f($n): [f($n + 1)]; f(0)`,
		`[range(3e7)] | sort | unique | group_by(.)`,
		`"` + strings.Repeat("a", 100) + `" | test("(a*)*(a*)*(a*)*b")`,
	} {
		all.Go(func() {
			_, err := pool.Apply(t.Context(), program, []byte(`{}`))
			if raceDetector && err != nil && strings.Contains(err.Error(), "exit status 66") {
				return // how the race detector ends a process that gets no memory
			}
			if _, is := errors.AsType[*shape.ProgramError](err); !is && err != nil {
				t.Errorf("%s: %v", program, err)
			}
			t.Logf("%.60s: %v", program, err)
		})
	}
	all.Wait()
	if got, err := pool.Apply(t.Context(), `.x`, []byte(`{"x":1}`)); err != nil || string(got) != "1" {
		t.Errorf("afterwards: %s, %v", got, err)
	}
}

func TestManyProgramsShareAFewProcesses(t *testing.T) {
	pool := newPool(t)
	var all sync.WaitGroup
	for number := range 24 {
		all.Go(func() {
			want := strings.Repeat("1", number%8+1)
			got, err := pool.Apply(t.Context(), want, []byte(`{}`))
			if err != nil || string(got) != want {
				t.Errorf("%s: %s, %v", want, got, err)
			}
		})
	}
	all.Wait()
}
