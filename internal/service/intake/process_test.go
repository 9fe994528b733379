package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/api/contract"
)

// richAccount contains some of everything an account can have.
const richAccount = `,"last_statement_closing_date":"2025-03-31","last_statement_balance":-25.5,"transfer_balance":"24.50",
	"supply_addresses":[{"supply_address1":"12 Fisher Street","supply_points":[{"identifier":"1900","supply_type":"ELECTRICITY","supply_start_date":"2019-06-01",
		"agreements":[{"product_code":"FIX","effective_from":"2023-04-01"}],"meters":[{"serial_number":"E1"}]}]}],
	"historical_statement_transactions":[{"transaction_id":"H1","transaction_date":"2025-03-01","amount":25.5,"type":"CHARGE","reason":"X"}],
	"current_statement_transactions":[{"transaction_id":"C1","transaction_date":"2025-04-03","amount":50,"type":"PAYMENT"}],
	"statements":[{"statement_id":"S1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-03-31"}],
	"notes":[{"body":"one"},{"body":"one"},{"body":"two","created_at":"2024-01-01T00:00:00Z"}],
	"payment_instructions":[{"vendor":"V","reference":"r1","type":"CARD"},{"vendor":"V","reference":"r2","type":"CARD"}],
	"payment_schedules":[{"start_date":"2025-04-01","trigger":"REGULAR","amount":50,"frequency":"MONTHLY","day_of_month":3}]`

// TestProcessCreatesEverything creates an account with some of everything. If
// processing dropped a part, the customer would be the first to notice.
func TestProcessCreatesEverything(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.supplierIs(func(s *landfall.Supplier) { s.SendCustomerEmails = true })
		g.stage("1", richAccount)
		outcome, err := g.process("1", false)
		if err != nil || !landfall.ValidAccountNumber(outcome.Number) {
			t.Fatalf("got %+v, %s", outcome, describe(err))
		}
		account := g.account("1")
		if account.Number != outcome.Number || account.Balance != 24500 || account.Team != "Team" || account.Revision != 1 {
			t.Errorf("got %+v", account)
		}
		var ledger []string
		for _, entry := range account.Ledger {
			ledger = append(ledger, fmt.Sprintf("%s %v %v=%v", entry.Transaction.ID, entry.Closed, entry.Signed, entry.Balance))
		}
		if difference := cmp.Diff([]string{"H1 true -25.50=-25.50", "C1 false 50.00=24.50"}, ledger); difference != "" {
			t.Error(difference)
		}
		if data := account.Data; len(data.Notes) != 2 || len(data.Statements) != 1 || len(data.PaymentSchedules) != 1 || len(data.SupplyAddresses) != 1 ||
			len(data.Instructions) != 2 || data.Instructions[0].Details.LastDigits != "4242" || data.Currency != "GBP" {
			t.Errorf("got %+v", data)
		}
		if got := g.events(); len(got) != 1 || got[0] != landfall.EventImportCompleted {
			t.Errorf("events %v", got)
		}
		status, err := g.Status(t.Context(), ours, testKey("1"))
		if err != nil || status != (AccountStatus{StatusCompleted, outcome.Number}) {
			t.Errorf("status %+v, %v", status, err)
		}
		_, err = g.process("1", false)
		var refusal *landfall.Error
		if !errors.As(err, &refusal) || refusal.Code != landfall.CodeAlreadyImported || len(refusal.Members) != 2 || refusal.Members[1].Value != outcome.Number {
			t.Errorf("again: %+v", refusal)
		}
	})
}

// TestRefusedClaims requests creations that must not begin. Each reason has its
// own code, because each needs a different person to fix it.
func TestRefusedClaims(t *testing.T) {
	g := onSQLite(t, func(o *Options) { o.ServiceLimit = 1 })
	g.stage("1", "")
	g.stage("skipped", "")
	updateStore(t, g.store, func(ctx context.Context, tx landfall.Tx) error {
		_, err := tx.Skip(ctx, testKey("skipped"), "a test")
		return err
	})
	ask := func(supplier, external, team string) string {
		t.Helper()
		_, err := g.Process(t.Context(), ours, contract.ProcessRequest{Key: landfall.Key{Supplier: supplier, External: external}, Team: team})
		return firstAttr(err)
	}
	for want, got := range map[string]string{
		"import_supplier_does_not_exist at import_supplier_code": ask("NONE", "1", "Team"),
		"operations_team_does_not_exist at operations_team_name": ask("S", "1", "Nobody"),
		landfall.CodeProcessUnknown:                              ask("S", "never staged", "Team"),
		landfall.CodeMarkedAsSkipped:                             ask("S", "skipped", "Team"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	held, err := g.store.Claim(t.Context(), landfall.ClaimRequest{Key: testKey("1"), Team: "Team", Lease: time.Minute})
	if err != nil || held.Verdict != landfall.ClaimGranted {
		t.Fatalf("got %+v, %v", held, err)
	}
	if got := ask("S", "1", "Team"); got != landfall.CodeImportInProgress {
		t.Errorf("held: %s", got)
	}
	g.stage("2", "")
	_, err = g.process("2", false)
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || refusal.Kind != landfall.TooMany || refusal.RetryAfter <= 0 {
		t.Errorf("over the limit: %+v", err)
	}
	g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Paused })
	if got := ask("S", "2", "Team"); got != landfall.CodeSupplierNotOngoing {
		t.Errorf("paused: %s", got)
	}
	if failure := g.processOf("2").Failure; failure != nil {
		t.Errorf("a refused claim is no attempt, but left %+v", failure)
	}
}

// TestParallelProcessCreatesOne creates one account many times concurrently. Two
// accounts for one customer would mean two bills.
func TestParallelProcessCreatesOne(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.stage("1", "")
		var said tally
		race(64, func(int) {
			outcome, err := g.process("1", false)
			if err != nil {
				said.add(codeOf(err))
				return
			}
			said.add("created")
			if account := g.account("1"); account.Number != outcome.Number {
				t.Errorf("answered %s, the account is %s", outcome.Number, account.Number)
			}
		})
		if said.counts["created"] != 1 || said.counts[landfall.CodeImportInProgress]+said.counts[landfall.CodeAlreadyImported] != 63 {
			t.Errorf("got %v", said.counts)
		}
		if rows := g.rows(); rows["account"] != 1 || rows["event"] != 1 {
			t.Errorf("rows %v", rows)
		}
	})
}

// TestDryRunLeavesOnlyTheAttempt compares every table with its state before the
// dry run. A dry run must leave nothing else behind, such as a mail or a number.
func TestDryRunLeavesOnlyTheAttempt(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.supplierIs(func(s *landfall.Supplier) { s.SendCustomerEmails = true })
		g.stage("1", richAccount)
		before, stood := g.rows(), g.processOf("1")
		var said tally
		race(4, func(int) { _, err := g.process("1", true); said.add(codeOf(err)) })
		if said.counts[landfall.CodeDryRunRolledBack] != 4 {
			t.Errorf("got %v", said.counts)
		}
		after := g.rows()
		after["event"] -= 4
		if !maps.Equal(before, after) {
			t.Errorf("a dry run left something: %s", cmp.Diff(before, after))
		}
		if difference := cmp.Diff(stood, g.processOf("1")); difference != "" {
			t.Error(difference)
		}
		for _, event := range g.events() {
			if event != landfall.EventDryRunCompleted {
				t.Errorf("event %s", event)
			}
		}
	})
}

// TestDryRunsBesideTheRealOne does dry runs while the account is created. Rolling
// back a dry run must not roll back the real creation.
func TestDryRunsBesideTheRealOne(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		for round := range 10 {
			external := fmt.Sprint(round)
			g.stage(external, "")
			var said tally
			race(6, func(i int) {
				_, err := g.process(external, i > 0)
				if err == nil {
					said.add("created")
				} else {
					said.add(codeOf(err))
				}
			})
			// The real call may collide with a dry run; then it is sent again.
			if said.counts["created"] == 0 {
				if _, err := g.process(external, false); err != nil {
					t.Errorf("afterwards: %s", describe(err))
				}
			}
			delete(said.counts, "created")
			for code := range said.counts {
				if code != landfall.CodeDryRunRolledBack && code != landfall.CodeAlreadyImported && code != landfall.CodeImportInProgress {
					t.Errorf("got %v", said.counts)
				}
			}
		}
		if rows := g.rows(); rows["account"] != 10 {
			t.Errorf("%d accounts", rows["account"])
		}
	})
}

// If an account is skipped during a dry run and is pending again before the
// reason is read, the attempt was not too slow. The dry run is retried, but not
// indefinitely.
func TestDryRunOfAChangingAccount(t *testing.T) {
	for times, want := range map[int]string{
		maxDryRunTries - 1: landfall.CodeDryRunRolledBack, maxDryRunTries: landfall.CodeServiceUnavailable,
	} {
		onBoth(t, func(t *testing.T, g *fixture) {
			g.stage("1", "")
			tries := 0
			g.hooks.beforeCreate = func() {
				if tries++; tries <= times {
					updateStore(t, g.store, func(ctx context.Context, tx landfall.Tx) error {
						_, err := tx.Skip(ctx, testKey("1"), "a test")
						return err
					})
				}
			}
			g.hooks.afterCreate = func() {
				if tries <= times {
					updateStore(t, g.store, func(ctx context.Context, tx landfall.Tx) error { return tx.Unskip(ctx, testKey("1")) })
				}
			}
			if _, err := g.process("1", true); codeOf(err) != want || tries != maxDryRunTries {
				t.Errorf("skipped %d times: %s after %d tries, want %s", times, describe(err), tries, want)
			}
		})
	}
}

// Changes between claim and creation are checked again in the creating
// transaction.
func TestChangesBetweenClaimAndCreation(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(g *fixture)
		want      string
		fails     bool // the reason is recorded
	}{
		"paused": {func(g *fixture) {
			g.supplierIs(func(s *landfall.Supplier) { s.Status = landfall.Paused })
		}, landfall.CodeSupplierNotOngoing, true},
		"lost and imported by another": {func(g *fixture) {
			g.hooks.beforeCreate = nil
			g.loseClaim()
			if _, err := g.process("1", false); err != nil {
				g.t.Errorf("the other: %s", describe(err))
			}
		}, landfall.CodeAlreadyImported, false},
		"lost and skipped": {func(g *fixture) {
			g.loseClaim()
			updateStore(g.t, g.store, func(ctx context.Context, tx landfall.Tx) error {
				_, err := tx.Skip(ctx, testKey("1"), "a test")
				return err
			})
		}, landfall.CodeMarkedAsSkipped, false},
		"lost and claimed by another": {func(g *fixture) {
			g.loseClaim()
			_, err := g.store.Claim(g.t.Context(), landfall.ClaimRequest{Key: testKey("1"), Team: "Team", Lease: time.Minute})
			if err != nil {
				g.t.Error(err)
			}
		}, landfall.CodeImportInProgress, false},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, g *fixture) {
				g.stage("1", "")
				g.hooks.beforeCreate = func() { test.meanwhile(g) }
				if _, err := g.process("1", false); codeOf(err) != test.want {
					t.Errorf("got %s, want %s", describe(err), test.want)
				}
				process := g.processOf("1")
				if (process.Failure != nil) != test.fails || test.fails && process.State != landfall.Staged {
					t.Errorf("left %+v", process)
				}
				if accounts := g.rows()["account"]; (accounts == 1) != (test.want == landfall.CodeAlreadyImported) {
					t.Errorf("%d accounts", accounts)
				}
			})
		})
	}
}

// loseClaim makes the lease of the only claim expire.
func (g *fixture) loseClaim() {
	g.t.Helper()
	if n := g.execute(`UPDATE process SET claim_until = 1 WHERE claim_token IS NOT NULL`); n != 1 {
		g.t.Fatalf("%d claims", n)
	}
}

// Operators need no grant, and their actions are recorded under their own name.
// Limits, rules and claims apply to them as to everyone.
func TestOperatorsProcessInTheirOwnName(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		process := func(dryRun bool) (Created, error) {
			return g.ProcessAs(t.Context(), landfall.Principal{Operator: "operator:ada", Source: "192.0.2.7"}, contract.ProcessRequest{Key: testKey("1"), Team: "Team", DryRun: dryRun})
		}
		if _, err := process(true); codeOf(err) != landfall.CodeProcessUnknown {
			t.Errorf("before it is staged: %s", describe(err))
		}
		g.stage("1", `,"payment_instructions":[{"vendor":"V","reference":"r1","type":"CARD"}]`)
		updateStore(t, g.store, func(ctx context.Context, tx landfall.Tx) error { return tx.Ungrant(ctx, "S", "ours") })
		g.vendor.answer = func(context.Context, landfall.Instruction) error {
			return &landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Detail: "Away."}
		}
		if _, err := process(true); codeOf(err) != landfall.CodeVendorUnavailable {
			t.Errorf("the vendor is unavailable: %s", describe(err))
		}
		g.vendor.answer = nil
		if created, err := process(true); err != nil || created.Number != "" {
			t.Errorf("dry run: %+v, %s", created, describe(err))
		}
		held, err := g.store.Claim(t.Context(), landfall.ClaimRequest{Key: testKey("1"), Team: "Team", Lease: time.Minute})
		if err != nil || held.Verdict != landfall.ClaimGranted {
			t.Fatalf("got %+v, %v", held, err)
		}
		if _, err := process(false); codeOf(err) != landfall.CodeImportInProgress {
			t.Errorf("while it is held: %s", describe(err))
		}
		if err := g.store.Release(t.Context(), held.Claim, landfall.Attempt{Event: landfall.Event{Type: landfall.EventImportFailed}}); err != nil {
			t.Fatal(err)
		}
		created, err := process(false)
		if err != nil || !landfall.ValidAccountNumber(created.Number) {
			t.Fatalf("got %+v, %s", created, describe(err))
		}
		var did [][2]string
		g.view(func(ctx context.Context, view landfall.View) error {
			entries, err := view.Audit(ctx, "S/1")
			for _, entry := range entries {
				if entry.Actor != "operator:ada" || entry.Source != "192.0.2.7" {
					t.Errorf("%s is by %s from %s", entry.Action, entry.Actor, entry.Source)
				}
				did = append(did, [2]string{entry.Action, entry.Detail})
			}
			return err
		})
		if difference := cmp.Diff([][2]string{
			{"account_import.dry_run_failed", landfall.CodeVendorUnavailable}, {"account_import.dry_run_completed", ""}, {"account_import.completed", created.Number},
		}, did); difference != "" {
			t.Error(difference)
		}
	})
}
