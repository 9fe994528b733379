package intake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// newTestService returns a Service over a real store with the suppliers S,
// granted to the organisation ours, and T, granted to no organisation.
func newTestService(t *testing.T) (*Service, *countingStore) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), dbtest.SQLite(t), sqlstore.Options{ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	updateStore(t, store, func(ctx context.Context, tx landfall.Tx) error {
		return errors.Join(tx.CreateOrganisation(ctx, "ours"),
			tx.CreateSupplier(ctx, landfall.NewSupplier("S")), tx.CreateSupplier(ctx, landfall.NewSupplier("T")),
			tx.Grant(ctx, "S", "ours"))
	})
	watched := &countingStore{Store: store, now: time.Now()}
	return New(watched, Options{Now: watched.clock}), watched
}

func updateStore(t *testing.T, store landfall.Store, fn func(context.Context, landfall.Tx) error) {
	t.Helper()
	ctx := t.Context()
	if err := store.Update(ctx, func(tx landfall.Tx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// countingStore counts the calls to a store, can make them fail, and has a fixed
// clock.
type countingStore struct {
	landfall.Store
	views   atomic.Int64
	failure error
	hold    chan struct{} // views wait for it if set

	mu  sync.Mutex
	now time.Time
}

// For returns the same store for every caller.
func (s *countingStore) For(landfall.Caller) landfall.Store { return s }

func (s *countingStore) View(ctx context.Context, fn func(landfall.View) error) error {
	s.views.Add(1)
	if s.hold != nil {
		<-s.hold
	}
	if s.failure != nil {
		return s.failure
	}
	return s.Store.View(ctx, fn)
}

func (s *countingStore) Stage(ctx context.Context, staging landfall.Staging) (landfall.StageOutcome, error) {
	if s.failure != nil {
		return landfall.StageOutcome{}, s.failure
	}
	return s.Store.Stage(ctx, staging)
}

func (s *countingStore) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *countingStore) advance(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(by)
}

var ours = landfall.Principal{Organisation: "ours", KeyID: "k", Role: landfall.RoleImporter}

func accountBody(external string) []byte {
	return fmt.Appendf(nil, `{"import_supplier":"S", "external_account_number":%q, "customers":[{}]}`, external)
}

func codeOf(err error) string {
	if known, is := errors.AsType[*landfall.Error](err); is {
		return known.Code
	}
	return fmt.Sprint(err)
}

// TestValidateEchoes expects exactly the bytes that were sent. Callers compare
// them, and any difference would mean that something was changed.
func TestValidateEchoes(t *testing.T) {
	service, _ := newTestService(t)
	sent := accountBody("1")
	accepted, err := service.Validate(t.Context(), ours, sent)
	if err != nil || string(accepted.Body) != string(sent) {
		t.Errorf("got %s, %v", accepted.Body, err)
	}
}

// A supplier that is not granted is one violation among the others, identical to
// that for a supplier that does not exist.
func TestUnknownSupplierIsAViolation(t *testing.T) {
	service, _ := newTestService(t)
	for _, supplier := range []string{"T", "NONE"} {
		_, err := service.Validate(t.Context(), ours, []byte(`{"import_supplier":"`+supplier+`","external_account_number":"1","customers":[{}],"x":1}`))
		var known *landfall.Error
		if !errors.As(err, &known) || known.Code != landfall.CodeAccountFailedValidation || len(known.Violations) != 2 ||
			known.Violations[0].Attr != "import_supplier" || known.Violations[0].Code != landfall.CodeSupplierUnknown {
			t.Errorf("%s: got %+v", supplier, err)
		}
	}
}

// TestStage stages the same document again. If a repeat counted as a new
// revision, every retry would look like a change.
func TestStage(t *testing.T) {
	service, store := newTestService(t)
	ctx := t.Context()
	stage := func(external string) (Receipt, error) { return service.Stage(ctx, ours, accountBody(external)) }

	first, err := stage("1")
	if err != nil || !first.First || first.Key != (landfall.Key{Supplier: "S", External: "1"}) {
		t.Fatalf("first: %+v, %v", first, err)
	}
	again, err := stage("1")
	if err != nil || again.First || again.Revision != 1 {
		t.Fatalf("again: %+v, %v", again, err)
	}

	updateStore(t, store, func(ctx context.Context, tx landfall.Tx) error {
		_, err := tx.Skip(ctx, first.Key, "a test")
		return err
	})
	if _, err := stage("1"); codeOf(err) != landfall.CodeMarkedAsSkipped {
		t.Errorf("skipped: %v", err)
	}

	// The pause takes effect at once: writes do not rely on the cached supplier.
	updateStore(t, store, func(ctx context.Context, tx landfall.Tx) error {
		paused := landfall.NewSupplier("S")
		paused.Status = landfall.Paused
		return tx.SaveSupplier(ctx, paused)
	})
	if _, err := stage("2"); codeOf(err) != landfall.CodeSupplierNotOngoing {
		t.Errorf("paused: %v", err)
	}
	if _, err := service.Validate(ctx, ours, accountBody("2")); err != nil {
		t.Errorf("validating while paused: %v", err)
	}
}

// TestRefusedStagings maps each refusal of the store to its code. One that is
// missing would become an internal error that callers cannot act on.
func TestRefusedStagings(t *testing.T) {
	key := landfall.Key{Supplier: "S", External: "1"}
	for verdict, code := range map[landfall.StageVerdict]string{
		landfall.RefusedImported: landfall.CodeAlreadyImported,
		landfall.RefusedSkipped:  landfall.CodeMarkedAsSkipped,
		landfall.RefusedClaimed:  landfall.CodeImportInProgress,
		landfall.RefusedSupplier: landfall.CodeSupplierNotOngoing,
		0:                        landfall.CodeInternalError,
	} {
		err := refusedStaging(key, landfall.StageOutcome{Verdict: verdict, AccountNumber: "A-1"})
		if codeOf(err) != code {
			t.Errorf("verdict %d: %v", verdict, err)
		}
	}
	var known *landfall.Error
	err := refusedStaging(key, landfall.StageOutcome{Verdict: landfall.RefusedImported, AccountNumber: "A-1"})
	if !errors.As(err, &known) || len(known.Members) != 2 || known.Members[0].Value != "1" || known.Members[1].Value != "A-1" {
		t.Errorf("got %+v", known)
	}
}

// TestStatusAndList asks about accounts of other organisations and about unknown
// ones. Both get the same answer; otherwise a caller could find out whose
// customers exist.
func TestStatusAndList(t *testing.T) {
	service, store := newTestService(t)
	ctx := t.Context()
	if _, err := service.Stage(ctx, ours, accountBody("a/b")); err != nil {
		t.Fatal(err)
	}
	status, err := service.Status(ctx, ours, landfall.Key{Supplier: "S", External: "a/b"})
	if err != nil || status != (AccountStatus{Status: StatusUnknown}) {
		t.Errorf("got %+v, %v", status, err)
	}
	for _, key := range []landfall.Key{{Supplier: "S", External: "b"}, {Supplier: "T", External: "a/b"}, {Supplier: "NONE", External: "a/b"}} {
		if _, err := service.Status(ctx, ours, key); codeOf(err) != landfall.CodeAccountNotFound {
			t.Errorf("%v: %v", key, err)
		}
	}
	for state, want := range map[landfall.ProcessState]ImportStatus{
		landfall.Staged: StatusUnknown, landfall.Skipped: StatusUnknown,
		landfall.Claimed: StatusInProgress, landfall.Imported: StatusCompleted,
	} {
		if got := importStatus(state); got != want {
			t.Errorf("%s is shown as %s", state, got)
		}
	}

	rows, err := service.List(ctx, ours, landfall.ProcessQuery{Supplier: "S"})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for entry, err := range rows {
		if err != nil || entry.External != "a/b" {
			t.Errorf("got %+v, %v", entry, err)
		}
		count++
	}
	if count != 1 {
		t.Errorf("%d entries", count)
	}
	for _, code := range []string{"T", "NONE"} {
		if _, err := service.List(ctx, ours, landfall.ProcessQuery{Supplier: code}); codeOf(err) != landfall.CodeSupplierUnknown {
			t.Errorf("%s: %v", code, err)
		}
	}
	if store.views.Load() == 0 {
		t.Error("the store was not asked")
	}
}

// A store failure is never reported as a refusal, and its text is never shown.
func TestStoreFailures(t *testing.T) {
	service, store := newTestService(t)
	if _, err := service.Validate(t.Context(), ours, accountBody("1")); err != nil {
		t.Fatal(err)
	}
	for failure, kind := range map[error]landfall.Kind{
		landfall.ErrUnavailable:                         landfall.Unavailable,
		landfall.ErrUnknownOutcome:                      landfall.Unavailable,
		context.DeadlineExceeded:                        landfall.Unavailable,
		fmt.Errorf("deep: %w", landfall.ErrUnavailable): landfall.Unavailable,
		errors.New("constraint violated: Ada Example"):  landfall.Internal,
	} {
		store.failure = failure
		_, err := service.Stage(t.Context(), ours, accountBody("1"))
		var known *landfall.Error
		if !errors.As(err, &known) || known.Kind != kind || (known.RetryAfter > 0) != (kind == landfall.Unavailable) {
			t.Errorf("%v became %+v", failure, err)
		}
	}
}
