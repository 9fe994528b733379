package answer_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"landfall"
	"landfall/internal/test/dbtest"
)

// failureRecorder is a judge that records its verdict instead of failing the test.
type failureRecorder struct{ verdict string }

func (c *failureRecorder) Fatal(args ...any) { c.Fatalf("%s", fmt.Sprint(args...)) }

func (c *failureRecorder) Fatalf(format string, args ...any) {
	c.verdict = fmt.Sprintf(format, args...)
	panic(c)
}

// caught returns what a comparison finds, or "" if it finds nothing.
func caught(compare func(failer)) (verdict string) {
	defer func() {
		if found, ok := recover().(*failureRecorder); ok {
			verdict = found.verdict
		}
	}()
	compare(&failureRecorder{})
	return ""
}

// copied returns an independent copy of the model.
func (m *model) copied() *model {
	other := *m
	other.order, other.refusals, other.retired = slices.Clone(m.order), maps.Clone(m.refusals), maps.Clone(m.retired)
	other.processes = map[string]*modelled{}
	for external, known := range m.processes {
		process := *known
		process.staged, process.undone = slices.Clone(known.staged), slices.Clone(known.undone)
		if known.account != nil {
			account := *known.account
			account.has, account.refused = maps.Clone(account.has), maps.Clone(account.refused)
			process.account = &account
		}
		other.processes[external] = &process
	}
	return &other
}

// TestModelDetectsUnexpectedChanges performs each operation once without updating
// the model. A model that does not notice the difference would prove nothing.
func TestModelDetectsUnexpectedChanges(t *testing.T) {
	small, rich, doomed, broken := sampleDocuments[0], sampleDocuments[1], sampleDocuments[3], sampleDocuments[4]
	secrets := map[string]func(*model){
		"first staging":     func(m *model) { m.stageAs(t, "é", rich) },
		"another revision":  func(m *model) { m.stageAs(t, "1", rich) },
		"refused staging":   func(m *model) { m.stageAs(t, "é", broken) },
		"creation":          func(m *model) { m.attempt(t, "1", false) },
		"failure":           func(m *model) { m.stageAs(t, "1", doomed); m.attempt(t, "1", true) },
		"end of a failure":  func(m *model) { m.stageAs(t, "failed", small); m.attempt(t, "failed", true) },
		"undo":              func(m *model) { m.undoOf(t, "2") },
		"undo and creation": func(m *model) { m.undoOf(t, "2"); m.attempt(t, "2", false) },
		"skip":              func(m *model) { m.skipOf(t, "1") },
		"unskip":            func(m *model) { m.unskipOf(t, "a/b") },
		"run":               func(m *model) { m.runOf(t, landfall.SelectPending, false) },
		"undo of a run":     func(m *model) { m.undoRunOf(t, m.ran[0]) },
	}
	for _, kind := range additions {
		secrets[kind.name] = func(m *model) { m.postOn(t, kind, "2", slices.Max(slices.Collect(maps.Keys(kind.things))), "other") }
	}
	s := serve(t, dbtest.SQLite(t))
	stories := 0
	for name, secret := range secrets {
		stories++
		m := s.begin(t, fmt.Sprintf("S%d", stories))
		m.stageAs(t, "run", small)
		m.runOf(t, landfall.SelectPending, false)
		m.stageAs(t, "1", small)
		m.stageAs(t, "2", rich)
		m.attempt(t, "2", false)
		m.skipOf(t, "a/b")
		m.stageAs(t, "failed", doomed)
		m.attempt(t, "failed", false)
		m.compare(t)
		secret(m.copied())
		verdict := caught(m.compare)
		if t.Logf("%s: %s", name, verdict); verdict == "" {
			t.Errorf("%s was not noticed", name)
		}
	}
}
