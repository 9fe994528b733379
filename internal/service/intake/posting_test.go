package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
)

// envelope returns the body of a posting to an account of S.
func envelope(external, rest string) []byte {
	return fmt.Appendf(nil, `{"import_supplier":"S","external_account_number":%q,%s}`, external, rest)
}

// postNotes reports for each note whether it was created.
func (g *fixture) postNotes(external, notes string) string {
	g.t.Helper()
	receipt, err := g.PostNotes(g.t.Context(), ours, envelope(external, `"notes":[`+notes+`]`))
	if err != nil {
		return codeOf(err)
	}
	var said []string
	for _, result := range receipt.Results {
		said = append(said, map[bool]string{true: "created", false: "exists"}[result.Created()])
	}
	return strings.Join(said, " ")
}

// TestNotesEndToEnd posts notes that are nearly identical. A note that is
// mistaken for another is lost; one that is not recognised is on the account
// twice.
func TestNotesEndToEnd(t *testing.T) {
	const x, x1, x2 = `{"body":"X"}`, `{"body":"X","created_at":"2025-01-01T00:00:00Z"}`, `{"body":"X","created_at":"2025-01-02T01:00:00+01:00"}`
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", "")
		for _, step := range []struct{ notes, want string }{
			{x1, "created"},
			{x, "exists"}, // without a time it matches any X
			{x2, "created"},
			{x1, "exists"},
			{`{"body":"X","created_at":"2025-01-02T00:00:00.9Z"}`, "exists"}, // stored to the second
			{x + "," + `{"body":"Y"},{"body":"Y"},{"body":"y"}`, "exists created exists created"},
			{`{"document_paths":[{"document_path":"a"},{"document_path":"b"}]}`, "created"},
			{`{"document_paths":[{"document_path":"b"},{"document_path":"a"}]}`, "exists"},
			{`{"document_paths":[{"document_path":"a"}]}`, "created"},
			{``, ""},
		} {
			if got := g.postNotes("1", step.notes); got != step.want {
				t.Errorf("%s: %s, want %s", step.notes, got, step.want)
			}
		}
		var bodies []string
		for _, note := range g.account("1").Data.Notes {
			bodies = append(bodies, note.Body+strings.Join(note.DocumentPaths, "+"))
		}
		if difference := cmp.Diff([]string{"X", "X", "Y", "y", "a+b", "a"}, bodies); difference != "" {
			t.Error(difference)
		}
		g.stage("staged", "")
		for _, external := range []string{"nobody", "staged"} {
			if got := g.postNotes(external, x); got != landfall.CodeAccountNotFound {
				t.Errorf("%s: %s", external, got)
			}
		}
	})
}

// TestParallelNotes posts one note many times concurrently. Checking first and
// writing later would write it again.
func TestParallelNotes(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", "")
		var said tally
		race(32, func(int) { said.add(g.postNotes("1", `{"body":"X"}`)) })
		if said.counts["created"] != 1 || said.counts["exists"] != 31 || len(g.account("1").Data.Notes) != 1 {
			t.Errorf("got %v", said.counts)
		}
	})
}

// payment returns a transaction of one pound.
func payment(id, day string) string {
	return fmt.Sprintf(`{"transaction_id":%q,"transaction_date":%q,"amount":1,"type":"PAYMENT"}`, id, day)
}

func (g *fixture) postTransactions(external, transactions string, flags TransactionFlags) string {
	g.t.Helper()
	receipt, err := g.PostTransactions(g.t.Context(), ours, envelope(external, `"transactions":[`+transactions+`]`), flags)
	if err != nil {
		return firstAttr(err)
	}
	var said []string
	for _, result := range receipt.Results {
		word := "exists"
		if result.Added {
			word = "added"
		}
		if result.Added && !result.Transaction.OriginalOn.IsZero() {
			word = "moved"
		}
		said = append(said, word)
	}
	return strings.Join(said, " ")
}

// TestTransactionFlags tries both parameters in every combination, each twice.
// Adding money twice or leaving it out falsifies a customer's balance.
func TestTransactionFlags(t *testing.T) {
	inside, outside := payment("in", "2025-05-05"), payment("out", "2019-05-05")
	const refused = "transaction_outside_open_statement_period at transactions.1.transaction_date"
	onBoth(t, func(t *testing.T, g *fixture) {
		for _, c := range []struct {
			check, force  bool
			first, second string
			entries       int
			pinned        int
		}{
			{true, true, "added moved", "exists exists", 2, 1},
			{true, false, refused, refused, 0, 0},
			{false, true, "added moved", "added moved", 4, 2},
			{false, false, refused, refused, 0, 0},
		} {
			t.Run(fmt.Sprintf("check %v, force %v", c.check, c.force), func(t *testing.T) {
				external := fmt.Sprint(c.check, c.force)
				g.create(external, "")
				flags := TransactionFlags{CheckAdded: c.check, ForceDates: c.force}
				for _, want := range []string{c.first, c.second} {
					if got := g.postTransactions(external, inside+","+outside, flags); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				}
				account := g.account(external)
				pinned := 0
				for _, note := range account.Data.Notes {
					if note.Pinned && strings.Contains(note.Body, "out from 2019-05-05 to 2020-02-01") {
						pinned++
					}
				}
				if len(account.Ledger) != c.entries || pinned != c.pinned || int(account.Balance) != 1000*c.entries {
					t.Errorf("%d entries, %d pinned notes, balance %v", len(account.Ledger), pinned, account.Balance)
				}
			})
		}
	})
}

// TestDuplicateTransactions sends one identifier twice, within a request and after a
// staged one. The second is either a repeat or another payment, and only the
// caller knows which.
func TestDuplicateTransactions(t *testing.T) {
	g := onSQLite(t)
	g.create("1", `,"current_statement_transactions":[`+payment("staged", "2025-01-01")+`]`)
	twins := payment("T", "2025-05-05") + "," + payment("T", "2025-05-05")
	if got := g.postTransactions("1", twins, TransactionFlags{CheckAdded: true}); got != "duplicate_transaction_ids at transactions.1.transaction_id" {
		t.Errorf("got %s", got)
	}
	if got := g.postTransactions("1", twins, TransactionFlags{}); got != "added added" {
		t.Errorf("got %s", got)
	}
	if got := g.postTransactions("1", payment("staged", "2025-01-01"), TransactionFlags{CheckAdded: true}); got != "exists" {
		t.Errorf("an inline transaction sent again: %s", got)
	}
}

// TestTransactionsAreAllOrNothing makes one of five hundred transactions fail. If
// the others stayed, a caller who fixes that one and resends the request would be
// told that they exist, or would add them twice.
func TestTransactionsAreAllOrNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", "")
		before := g.rows()
		var batch []string
		for i := range 500 {
			day := "2019-06-06" // would be moved if the batch did not fail
			if i == 250 {
				day = "2019-02-30"
			}
			batch = append(batch, payment(fmt.Sprint(i), day))
		}
		body := strings.Join(batch, ",")
		if got := g.postTransactions("1", body, TransactionFlags{CheckAdded: true, ForceDates: true}); got != "invalid_date at transactions.250.transaction_date" {
			t.Errorf("got %s", got)
		}
		body = strings.ReplaceAll(strings.ReplaceAll(body, "2019-06-06", "2025-06-06"), "2019-02-30", "2019-02-28")
		_, err := g.PostTransactions(t.Context(), ours, envelope("1", `"transactions":[`+body+`]`), TransactionFlags{CheckAdded: true})
		var refusal *landfall.Error
		if !errors.As(err, &refusal) || firstAttr(err) != "transaction_outside_open_statement_period at transactions.250.transaction_date" ||
			len(refusal.Members) != 3 || !strings.Contains(fmt.Sprintf("%s", refusal.Members[0].Value), `"transaction_id":"250"`) {
			t.Errorf("got %+v", refusal)
		}
		if difference := cmp.Diff(before, g.rows()); difference != "" {
			t.Errorf("something is left: %s", difference)
		}
		if got := g.postTransactions("1", body, TransactionFlags{CheckAdded: true, ForceDates: true}); strings.Count(got, "added") != 499 || strings.Count(got, "moved") != 1 {
			t.Errorf("fixed: %.60s", got)
		}
	})
}

// Concurrent writers send the same identifiers in opposite order. Each is added
// once, and no caller sees a deadlock.
func TestParallelTransactions(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", "")
		var said tally
		race(32, func(i int) {
			first, second := payment("A", "2025-05-05"), payment("B", "2025-05-05")
			if i%2 == 1 {
				first, second = second, first
			}
			for word := range strings.FieldsSeq(g.postTransactions("1", first+","+second, TransactionFlags{CheckAdded: true, ForceDates: true})) {
				said.add(word)
			}
		})
		account := g.account("1")
		if said.counts["added"] != 2 || said.counts["exists"] != 62 || len(account.Ledger) != 2 || account.Balance != 2000 {
			t.Errorf("got %v, balance %v", said.counts, account.Balance)
		}
	})
}

// TestStatementsEndToEnd races with one statement and then contradicts it. A
// statement that is silently replaced would differ from the one the customer has.
func TestStatementsEndToEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.create("1", "")
		statement := func(id, from string) string {
			return fmt.Sprintf(`{"statement_id":%q,"bill_period_from_date":%q,"bill_period_to_date":"2025-01-31","gross_amount":5}`, id, from)
		}
		post := func(external, statements string) string {
			body := envelope(external, `"statements":[`+statements+`]`)
			accepted, err := g.PostStatements(t.Context(), ours, body)
			if err != nil {
				return firstAttr(err)
			}
			if string(accepted.Body) != string(body) {
				t.Errorf("the answer is %s", accepted.Body)
			}
			return ""
		}
		var said tally
		race(16, func(int) { said.add(post("1", statement("1", "2025-01-01"))) })
		if said.counts[""] != 16 {
			t.Errorf("got %v", said.counts)
		}
		for _, step := range []struct{ external, statements, want string }{
			{"1", strings.Replace(statement("1", "2025-01-01"), ":5", `:"5.00"`, 1), ""},
			{"1", statement("2", "2025-01-01") + "," + statement("1", "2025-01-02"), "historical_statement_already_exists at statements.1.statement_id"},
			{"nobody", statement("1", "2025-01-01"), landfall.CodeAccountNotFound},
		} {
			if got := post(step.external, step.statements); got != step.want {
				t.Errorf("%s: got %s, want %s", step.statements, got, step.want)
			}
		}
		if kept := g.account("1").Data.Statements; len(kept) != 1 || *kept[0].GrossAmount != 5000 {
			t.Errorf("kept %+v", kept)
		}
		// Created, added to, and refused once: what does not exist has no failures.
		if events := g.events(); len(events) != 3 || !slices.Contains(events, landfall.EventPostingFailed) {
			t.Errorf("events %v", events)
		}
	})
}

// TestInstructionIsStoredOnce races with one instruction. If it were stored twice,
// a reader of the account could debit it twice.
func TestInstructionIsStoredOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		number := g.create("1", "")
		body := func(external, reference string) []byte {
			return envelope(external, `"vendor":"V","type":"CARD","reference":"`+reference+`"`)
		}
		var added atomic.Int64
		race(16, func(int) {
			receipt, err := g.PostInstruction(t.Context(), ours, body("1", "r"))
			if err != nil || receipt.AccountNumber != number || receipt.Reference != "r" {
				t.Errorf("got %+v, %s", receipt, describe(err))
			}
			added.Add(int64(receipt.Added))
		})
		if added.Load() != 1 {
			t.Errorf("%d got that it is new", added.Load())
		}
		kept := g.account("1").Data.Instructions
		if len(kept) != 1 || kept[0].Details.LastDigits != "4242" || g.rows()["event"] != 2 {
			t.Errorf("kept %+v", kept)
		}

		// An existing instruction is not verified again, and a missing account
		// causes no call to the vendor.
		asked := g.vendor.asked.Load()
		g.vendor.answer = func(context.Context, landfall.Instruction) error {
			return &landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Detail: "Later.", RetryAfter: time.Second}
		}
		if _, err := g.PostInstruction(t.Context(), ours, body("1", "r")); err != nil {
			t.Errorf("again: %s", describe(err))
		}
		if _, err := g.PostInstruction(t.Context(), ours, body("nobody", "r")); codeOf(err) != landfall.CodeAccountNotFound {
			t.Errorf("no account: %s", describe(err))
		}
		if g.vendor.asked.Load() != asked {
			t.Error("the vendor was bothered")
		}
		_, err := g.PostInstruction(t.Context(), ours, body("1", "other"))
		var refusal *landfall.Error
		if !errors.As(err, &refusal) || refusal.Kind != landfall.UpstreamUnavailable || refusal.Code != landfall.CodeVendorUnavailable || refusal.RetryAfter == 0 {
			t.Errorf("vendor unavailable: %s", describe(err))
		}
	})
}

// TestPausedSupplierTakesNothing posts for a paused supplier. Operators pause a
// supplier because something is wrong, so no posting may get through.
func TestPausedSupplierTakesNothing(t *testing.T) {
	g := onSQLite(t)
	g.create("1", "")
	g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Paused })
	before := g.rows()
	_, statements := g.PostStatements(t.Context(), ours, envelope("1", `"statements":[]`))
	_, instruction := g.PostInstruction(t.Context(), ours, envelope("1", `"vendor":"V","type":"CARD","reference":"r"`))
	for name, got := range map[string]string{
		"notes":        g.postNotes("1", `{"body":"X"}`),
		"transactions": g.postTransactions("1", payment("T", "2025-05-05"), TransactionFlags{CheckAdded: true, ForceDates: true}),
		"statements":   codeOf(statements), "instruction": codeOf(instruction),
	} {
		if got != landfall.CodeSupplierNotOngoing {
			t.Errorf("%s: %s", name, got)
		}
	}
	if difference := cmp.Diff(before, g.rows()); difference != "" {
		t.Error(difference)
	}
}
