package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

const twoInstructions = `,"payment_instructions":[{"vendor":"V","reference":"r0","type":"CARD"},{"vendor":"V","reference":"r1","type":"CARD"}]`

// A vendor's objection to an inline instruction points at that instruction, and
// nothing of the account is created.
func TestInlineInstructionsAreVerified(t *testing.T) {
	g := onSQLite(t)
	g.stage("1", twoInstructions)
	refuse := func(err *landfall.Error) func(context.Context, landfall.Instruction) error {
		return func(_ context.Context, instruction landfall.Instruction) error {
			if instruction.Reference == "r1" {
				return err
			}
			return nil
		}
	}
	for _, c := range []struct {
		says *landfall.Error
		want string
		kind landfall.Kind
	}{
		{landfall.RefuseField("reference", landfall.CodeInstructionNotFound, "None."),
			"payment_instruction_not_found at payment_instructions.1.reference", landfall.Invalid},
		{landfall.RefuseField("type", landfall.CodeInstructionTypeMismatch, "Another."),
			"payment_instruction_type_mismatch at payment_instructions.1.type", landfall.Invalid},
		{landfall.Refuse(landfall.CodeVendorRejected, "No."), landfall.CodeVendorRejected, landfall.Invalid},
		{&landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Detail: "Later.", RetryAfter: time.Second},
			landfall.CodeVendorUnavailable, landfall.UpstreamUnavailable},
	} {
		g.vendor.answer = refuse(c.says)
		_, err := g.process("1", false)
		var refusal *landfall.Error
		if firstAttr(err) != c.want || !errors.As(err, &refusal) || refusal.Kind != c.kind || refusal.RetryAfter != c.says.RetryAfter {
			t.Errorf("got %s, want %s", describe(err), c.want)
		}
		if failure := g.processOf("1").Failure; failure == nil || failure.Code != c.says.Code {
			t.Errorf("kept %+v", failure)
		}
		if len(c.says.Violations) > 0 && strings.HasPrefix(c.says.Violations[0].Attr, "payment") {
			t.Error("the vendor's own error was changed")
		}
	}
	g.vendor.answer = nil
	updateStore(t, g.store, func(ctx context.Context, tx landfall.Tx) error { return tx.RemoveVendor(ctx, "V") })
	if _, err := g.process("1", true); firstAttr(err) != "payment_vendor_does_not_exist at payment_instructions.0.vendor" {
		t.Errorf("no vendor: %s", describe(err))
	}
	if rows := g.rows(); rows["account"] != 0 || rows["instruction"] != 0 {
		t.Errorf("rows %v", rows)
	}
}

// The claim is renewed while a slow vendor answers. The vendor is called outside
// any transaction, so staging continues meanwhile.
func TestClaimIsRenewedWhileAVendorIsAsked(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		g.stage("1", twoInstructions)
		g.vendor.answer = func(ctx context.Context, _ landfall.Instruction) error {
			deadline := time.Now().Add(30 * time.Second)
			for g.hooks.renewed.Load() < 4 && time.Now().Before(deadline) {
				time.Sleep(5 * time.Millisecond)
			}
			if status, err := g.Status(ctx, ours, testKey("1")); err != nil || status.Status != StatusInProgress {
				t.Errorf("status %+v, %v", status, err)
			}
			g.stage("meanwhile", "")
			return nil
		}
		if _, err := g.process("1", false); err != nil {
			t.Errorf("got %s", describe(err))
		}
		if renewed := g.hooks.renewed.Load(); renewed < 4 {
			t.Errorf("renewed %d times", renewed)
		}
	}, func(o *Options) { o.Lease = 1500 * time.Millisecond })
}

// If the claim is lost anyway, the call to the vendor is cancelled.
func TestLostClaimEndsVerification(t *testing.T) {
	g := onSQLite(t, func(o *Options) { o.Lease = 150 * time.Millisecond })
	g.stage("1", twoInstructions)
	g.vendor.answer = func(ctx context.Context, instruction landfall.Instruction) error {
		if instruction.Reference == "r0" {
			g.loseClaim()
		}
		<-ctx.Done()
		return ctx.Err()
	}
	_, err := g.process("1", false)
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || refusal.Kind != landfall.Unavailable || refusal.RetryAfter == 0 {
		t.Errorf("got %s", describe(err))
	}
	if process := g.processOf("1"); process.Failure != nil || process.AccountNumber != "" {
		t.Errorf("left %+v", process)
	}
}

func TestDocumentsAreVerified(t *testing.T) {
	g := onSQLite(t)
	inline := `,"notes":[{"body":"x","document_paths":[{"document_path":"good.pdf"},{"document_path":"bad/1.pdf"}]}],
		"statements":[{"statement_id":"1","bill_period_from_date":"2025-01-01","bill_period_to_date":"2025-01-31","statement_path":"bad/1.pdf"}]`
	g.stage("1", inline)
	g.files.missing = "bad"
	if _, err := g.process("1", true); codeOf(err) != landfall.CodeDryRunRolledBack || len(g.files.asked) > 0 {
		t.Errorf("not asked for: %s, asked %v", describe(err), g.files.asked)
	}
	g.supplierIs(func(s *landfall.Supplier) { s.VerifyDocuments = true })
	_, err := g.process("1", false)
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || refusal.Code != landfall.CodeFileMissing || len(refusal.Violations) != 2 ||
		refusal.Violations[0].Attr != "notes.0.document_paths.1.document_path" || refusal.Violations[1].Attr != "statements.0.statement_path" {
		t.Errorf("got %s", describe(err))
	}
	slices.Sort(g.files.asked)
	if asked := strings.Join(g.files.asked, " "); asked != "bad/1.pdf good.pdf" {
		t.Errorf("asked for %s", asked)
	}
	g.files.away = true
	if _, err := g.process("1", false); !errors.As(err, &refusal) || refusal.Kind != landfall.Unavailable || refusal.Code != landfall.CodeFileStoreUnavailable {
		t.Errorf("unavailable: %s", describe(err))
	}
	g.files.away, g.files.missing = false, ""
	if _, err := g.process("1", false); err != nil {
		t.Errorf("there: %s", describe(err))
	}

	// Posted instructions are verified too, but only for an account that exists.
	g.files.missing, g.files.asked = "bad", nil
	post := func(external string) error {
		_, err := g.PostNotes(t.Context(), ours, fmt.Appendf(nil, `{"import_supplier":"S","external_account_number":%q,"notes":[{"document_paths":[{"document_path":"bad"}]}]}`, external))
		return err
	}
	if err := post("nobody"); codeOf(err) != landfall.CodeAccountNotFound || len(g.files.asked) > 0 {
		t.Errorf("no account: %s, asked %v", describe(err), g.files.asked)
	}
	if err := post("1"); firstAttr(err) != "path_does_not_exist_in_file_store at notes.0.document_paths.0.document_path" {
		t.Errorf("got %s", describe(err))
	}
	g.Service.files = nil
	if err := post("1"); codeOf(err) != landfall.CodeFileStoreUnavailable {
		t.Errorf("no file store: %s", describe(err))
	}
}

func TestMissingDocumentsAreCounted(t *testing.T) {
	g := onSQLite(t)
	g.files.missing = "bad"
	var documents []attrFile
	for i := range 250 {
		documents = append(documents, attrFile{fmt.Sprint("d.", i), fmt.Sprint("bad/", i)})
	}
	err := g.checkFiles(t.Context(), landfall.Supplier{VerifyDocuments: true}, documents)
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || len(refusal.Violations) != 101 || refusal.Violations[99].Attr != "d.99" || refusal.Violations[100].Code != rules.CodeTooManyErrors {
		t.Errorf("got %s", describe(err))
	}
}
