package intake

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
)

// manyNotes returns a thousand notes without text, each with a hundred documents.
func manyNotes() string {
	var notes strings.Builder
	for i := range 1000 {
		if i > 0 {
			notes.WriteByte(',')
		}
		notes.WriteString(`{"body":"","document_paths":[`)
		for j := range 100 {
			if j > 0 {
				notes.WriteByte(',')
			}
			fmt.Fprintf(&notes, `{"document_path":"%d/%d.pdf"}`, (i*37)%1000, (j*41)%100)
		}
		notes.WriteString(`]}`)
	}
	return notes.String()
}

// Comparing every note with every other one used to block the writer for twelve
// seconds, and for a minute the second time.
func TestManyDocumentsDoNotBlockOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", "")
		body := envelope("1", `"notes":[`+manyNotes()+`]`)
		for round, want := range []bool{true, false} {
			begun := time.Now()
			receipt, err := g.PostNotes(t.Context(), ours, body)
			took := time.Since(begun)
			if err != nil {
				t.Fatal(err)
			}
			for i, result := range receipt.Results {
				if result.Created() != want {
					t.Fatalf("round %d: note %d created: %v", round, i, result.Created())
				}
			}
			if took > 20*time.Second { // half a second on an idle machine
				t.Errorf("round %d took %s", round, took)
			}
			t.Logf("round %d: %s for %d KiB", round, took, len(body)>>10)
		}
	})
}

// Notes without a body used to be stored under one digest shared by all of them.
func TestNotesWithoutDigestAreFound(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", `,"notes":[{"document_paths":[{"document_path":"a"},{"document_path":"/b"}]}]`)
		g.execute(`UPDATE note SET digest = 0`)
		if got := g.postNotes("1", `{"document_paths":[{"document_path":"b"},{"document_path":"a"}]},{"document_paths":[{"document_path":"a"}]}`); got != "exists created" {
			t.Errorf("got %s, want the first to be there already", got)
		}
	})
}

// A note with an empty body used to match every other such note, and its
// documents were dropped.
func TestNoteWithAnEmptyBodyKeepsItsDocuments(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", `,"notes":[{"body":"","document_paths":[{"document_path":"a"}]}]`)
		if got := g.postNotes("1", `{"body":"","document_paths":[{"document_path":"b"}]},{"document_paths":[{"document_path":"a"}]}`); got != "created exists" {
			t.Errorf("got %s, want the first to be new", got)
		}
		notes := g.account("1").Data.Notes
		if len(notes) != 2 || notes[0].DocumentPaths[0] != "a" || notes[1].DocumentPaths[0] != "b" {
			t.Errorf("kept %+v", notes)
		}
	})
}

func TestCompleteSupplierAcceptsLatePostings(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		number := g.create("1", "")
		g.stage("2", "")
		g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Complete })
		_, statements := g.PostStatements(t.Context(), ours, envelope("1", `"statements":[{"statement_id":"S","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31"}]`))
		_, instruction := g.PostInstruction(t.Context(), ours, envelope("1", `"vendor":"V","type":"CARD","reference":"r"`))
		_, created := g.process("2", false)
		for name, got := range map[string][2]string{
			"notes":        {g.postNotes("1", `{"body":"X"}`), "created"},
			"transactions": {g.postTransactions("1", payment("T", "2025-05-05"), TransactionFlags{CheckAdded: true, ForceDates: true}), "added"},
			"statements":   {codeOf(statements), "<nil>"}, "instruction": {codeOf(instruction), "<nil>"},
			"creation": {codeOf(created), landfall.CodeSupplierNotOngoing},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %q, want %q", name, got[0], got[1])
			}
		}
		_, again := g.process("1", false)
		if describe(again) != describe(alreadyImported(testKey("1"), number)) {
			t.Errorf("an imported account: %s", describe(again))
		}
	})
}
