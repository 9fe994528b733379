package intake

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/api/contract"
)

func TestFailureIsKeptUntilFixed(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.stage("1", `,"billing_email":"a@example.com"`)
		g.supplierIs(func(s *landfall.Supplier) {
			s.Severities = map[string]landfall.Severity{contract.CodeTestEmail: landfall.SeverityError}
		})
		for _, dryRun := range []bool{false, true} {
			if _, err := g.process("1", dryRun); firstAttr(err) != "possible_test_email_address at billing_email" {
				t.Errorf("dry run %v: %s", dryRun, describe(err))
			}
			failure := g.processOf("1").Failure
			if failure == nil || failure.DryRun != dryRun || failure.Code != landfall.CodeAccountFailedValidation || len(failure.Violations) != 1 {
				t.Errorf("dry run %v: kept %+v", dryRun, failure)
			}
		}
		rows, err := g.Failed(t.Context(), ours, landfall.FailureQuery{Supplier: "S"})
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range rows {
			if err != nil || row.External != "1" {
				t.Errorf("got %+v, %v", row, err)
			}
		}
		groups, err := g.ErrorSummary(t.Context(), ours, "S")
		if want := []landfall.FailureGroup{{Code: contract.CodeTestEmail, Attr: "billing_email", Accounts: 1, Alone: 1}}; err != nil || !cmp.Equal(groups.Groups, want) {
			t.Errorf("got %+v, %v", groups, err)
		}
		g.supplierIs(func(s *landfall.Supplier) { s.Severities = nil })
		if _, err := g.process("1", true); codeOf(err) != landfall.CodeDryRunRolledBack || g.processOf("1").Failure != nil {
			t.Errorf("a passed dry run keeps the old failure: %s", describe(err))
		}
		want := []landfall.EventType{landfall.EventImportFailed, landfall.EventDryRunFailed, landfall.EventDryRunCompleted}
		if difference := cmp.Diff(want, g.events()); difference != "" {
			t.Error(difference)
		}
	})
}

// A panic during processing must not leave the account locked until its lease
// expires.
func TestPanicReleasesTheClaim(t *testing.T) {
	g := onSQLite(t)
	g.stage("1", "")
	g.hooks.beforeCreate = func() { panic("broken") }
	func() {
		defer func() { _ = recover() }()
		_, _ = g.process("1", false)
		t.Error("the panic was swallowed")
	}()
	g.hooks.beforeCreate = nil
	if failure := g.processOf("1").Failure; failure == nil || failure.Code != landfall.CodeInternalError {
		t.Errorf("kept %+v", failure)
	}
	if _, err := g.process("1", false); err != nil {
		t.Errorf("afterwards: %s", describe(err))
	}
}

// A caller that disconnects must not leave the account locked either.
func TestDisconnectReleasesTheClaim(t *testing.T) {
	g := onSQLite(t)
	g.stage("1", "")
	ctx, leave := context.WithCancel(t.Context())
	g.hooks.beforeCreate = leave
	_, err := g.Process(ctx, ours, contract.ProcessRequest{Key: testKey("1"), Team: "Team"})
	if process := g.processOf("1"); err != nil && process.State != landfall.Staged || err == nil && process.State != landfall.Imported {
		t.Errorf("answered %v, the process is %s", err, process.State)
	}
}

// An answer that reports a failed attempt used to be sent even though the record
// of the attempt never reached the database.
func TestNoResponseWithoutItsRecord(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.stage("1", "")
		g.hooks.beforeCreate = func() { g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Paused }) }
		for _, lost := range []error{landfall.ErrUnavailable, landfall.ErrUnknownOutcome} {
			for _, dryRun := range []bool{true, false} {
				g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Ongoing })
				g.hooks.failRelease = lost
				_, err := g.process("1", dryRun)
				var told *landfall.Error
				if !errors.As(err, &told) || told.Kind != landfall.Unavailable || told.RetryAfter <= 0 {
					t.Errorf("dry run %v, record lost by %v: answered %s", dryRun, lost, describe(err))
				}
				if kept := g.events(); len(kept) != 0 {
					t.Errorf("events %v", kept)
				}
				if !dryRun { // a dry run claims nothing
					g.loseClaim()
				}
			}
		}
		g.hooks.failRelease = nil
		g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Ongoing })
		if _, err := g.process("1", false); codeOf(err) != landfall.CodeSupplierNotOngoing {
			t.Errorf("with its record: %s", describe(err))
		}
		if kept := g.events(); len(kept) != 1 || kept[0] != landfall.EventImportFailed {
			t.Errorf("events %v", kept)
		}
	})
}
