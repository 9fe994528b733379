package storetest

import (
	"fmt"
	"testing"

	"landfall"
)

// fail makes an attempt at a process fail.
func fail(t *testing.T, store landfall.Store, key landfall.Key, failure landfall.Failure) {
	t.Helper()
	mine := claimFor(t, store, claimRequest(key), landfall.ClaimGranted)
	attempt := landfall.Attempt{Failure: &failure, Event: landfall.Event{Type: landfall.EventImportFailed}}
	if err := store.Release(t.Context(), mine, attempt); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

// refuse records a refused staging.
func refuse(t *testing.T, store landfall.Store, number, failure string) {
	t.Helper()
	err := store.Refuse(t.Context(), landfall.Refusal{
		Key: landfall.Key{Supplier: supplierCode, External: number}, Failure: landfall.Failure{
			Code: failure, Detail: "d", Violations: []landfall.Violation{{Code: "v", Attr: "customers.0.email", Detail: "a secret"}},
		},
	})
	if err != nil {
		t.Fatalf("Refuse: %v", err)
	}
}

// failedNumbers lists the failed accounts, each with its step and code.
func failedNumbers(t *testing.T, store landfall.Store, query landfall.FailureQuery) (found []string) {
	t.Helper()
	query.Supplier = supplierCode
	for failed, err := range store.Failed(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		recent(t, failed.Failure.At)
		found = append(found, fmt.Sprintf("%s %t %s", failed.External, failed.Failure.AtStaging, failed.Failure.Code))
	}
	return found
}

// failures are what people work through. None may be lost, none may remain once
// the account has succeeded, and a page of them must not shift while they are
// being corrected.
var failures = []promiseCheck{
	// A staging that was refused has no process and would be forgotten between
	// the two systems. Only codes and positions are stored: the text may quote
	// the request, and no content of a refused document may be kept.
	{"a refused staging is stored until the account is staged", func(t *testing.T, store landfall.Store) {
		staged(t, store, "2", "imported", "skipped")
		own := func(number string) landfall.Key { return landfall.Key{Supplier: supplierCode, External: number} }
		create(t, store, claimFor(t, store, claimRequest(own("imported")), landfall.ClaimGranted), sampleAccount())
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), own("skipped"), "no")
			return err
		})
		for _, number := range []string{"3", "1", "2", "imported", "skipped"} {
			refuse(t, store, number, "first")
		}
		// The last refusal counts: the first may have been corrected since.
		refuse(t, store, "1", "second")
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"1 true second", "2 true first", "3 true first"})
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{After: "1", Limit: 1}), []string{"2 true first"})
		for failed := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: supplierCode, Limit: 1}) {
			wantEqual(t, failed.Failure.Violations, []landfall.Violation{{Code: "v", Attr: "customers.0.email"}})
		}
		// The newer of a refusal and a failed attempt counts.
		fail(t, store, own("2"), landfall.Failure{Code: "attempt"})
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"1 true second", "2 false attempt", "3 true first"})
		refuse(t, store, "2", "again")
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"1 true second", "2 true again", "3 true first"})
		// Number 1 is staged for the first time, 2 with the same content, then
		// 1 with other content.
		stage(t, store, newStaging(own("1"), "good"), landfall.StagedFirst, 1)
		stage(t, store, newStaging(own("2"), "2"), landfall.StagedAgain, 1)
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"2 false attempt", "3 true first"})
		refuse(t, store, "1", "third")
		stage(t, store, newStaging(own("1"), "better"), landfall.StagedAgain, 2)
		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string{"2 false attempt", "3 true first"})
	}},
	// An unknown supplier is not an error here: the caller is refused in any
	// case, and there is no supplier to store the reason for.
	{"concurrent refusals are stored, but none of an unknown supplier", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		atOnce(20, func(number int) {
			refuse(t, store, fmt.Sprint(number%10), "x")
		})
		if found := failedNumbers(t, store, landfall.FailureQuery{}); len(found) != 10 {
			t.Errorf("%d are listed", len(found))
		}
		if err := store.Refuse(t.Context(), landfall.Refusal{Key: landfall.Key{Supplier: "none", External: "1"}}); err != nil {
			t.Error(err)
		}
	}},
	// People correct failures by group and begin with the group that helps most
	// accounts. So an account counts once in a group however many of its
	// customers are wrong, and each group says how many accounts have no other
	// failure. A skipped account needs no more work.
	{"failures are listed and grouped", func(t *testing.T, store landfall.Store) {
		staged(t, store, "3", "1", "2", "4", "fine", "skipped")
		violations := func(attrs ...string) landfall.Failure {
			failure := landfall.Failure{Code: landfall.CodeAccountFailedValidation}
			for _, attr := range attrs {
				failure.Violations = append(failure.Violations, landfall.Violation{Code: "invalid_phone_number", Attr: attr})
			}
			return failure
		}
		own := func(number string) landfall.Key { return landfall.Key{Supplier: supplierCode, External: number} }
		fail(t, store, own("3"), violations("customers.0.landline"))
		fail(t, store, own("1"), violations("customers.12.landline", "customers.0.landline", "customers.0.mobile"))
		fail(t, store, own("2"), landfall.Failure{Code: landfall.CodeVendorRejected})
		fail(t, store, own("skipped"), landfall.Failure{Code: "x"})
		fail(t, store, own("4"), landfall.Failure{Code: "x"})
		fail(t, store, own("4"), landfall.Failure{Code: landfall.CodeVendorRejected, DryRun: true})
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), own("skipped"), "no")
			return err
		})
		var listed []string
		for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: supplierCode}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, failed.External+" "+failed.Failure.Code)
			recent(t, failed.Failure.At)
		}
		wantEqual(t, listed, []string{
			"1 account_failed_validation", "2 payment_vendor_rejected", "3 account_failed_validation", "4 payment_vendor_rejected",
		})
		var page []string
		for failed := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: supplierCode, After: "1", Limit: 2}) {
			page = append(page, failed.External)
		}
		wantEqual(t, page, []string{"2", "3"})
		summary, err := store.FailureSummary(t.Context(), supplierCode)
		if err != nil {
			t.Fatal(err)
		}
		landline := landfall.FailureGroup{Code: "invalid_phone_number", Attr: "customers.*.landline", Accounts: 2, Alone: 1}
		rejected := landfall.FailureGroup{Code: "payment_vendor_rejected", Accounts: 2, Alone: 2}
		mobile := landfall.FailureGroup{Code: "invalid_phone_number", Attr: "customers.*.mobile", Accounts: 1}
		all := []landfall.FailureGroup{landline, rejected, mobile}
		causes := []landfall.FailureCause{
			{Code: "invalid_phone_number", Accounts: 2, Retryable: 2, Attrs: []string{"customers.*.landline", "customers.*.mobile"}, Example: "1"},
			{Code: "payment_vendor_rejected", Accounts: 2, Retryable: 2, Example: "2"},
		}
		wantEqual(t, summary, landfall.FailureSummary{Accounts: 4, Groups: all, Causes: causes, Repairs: []landfall.Repair{
			{Percent: 50, Accounts: 2, Groups: []landfall.FailureGroup{rejected}},
			{Percent: 80, Accounts: 4, Groups: all}, {Percent: 95, Accounts: 4, Groups: all},
		}})
		// By state, an account that was staged stays in its list when it is refused later.
		for _, number := range []string{"1", "never staged"} {
			if err := store.Refuse(t.Context(), landfall.Refusal{Key: own(number), Failure: landfall.Failure{Code: "x"}}); err != nil {
				t.Fatal(err)
			}
		}
		for which, want := range map[landfall.FailureKind][]string{landfall.AttemptFailures: {"1", "2", "3", "4"}, landfall.StagingRefusals: {"never staged"}} {
			var found []string
			for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: supplierCode, Which: which, ByState: true}) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, failed.External)
			}
			wantEqual(t, found, want)
		}
		for range store.Failed(t.Context(), landfall.FailureQuery{Supplier: supplierCode}) {
			break // breaking off must free the connection
		}
		for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: "NONE"}) {
			t.Errorf("an unknown supplier failed: %+v, %v", failed, err)
		}
	}},
}
