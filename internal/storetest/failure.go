package storetest

import (
	"testing"

	"landfall"
)

// fail lets an attempt at a process fail.
func fail(t *testing.T, store landfall.Store, key landfall.Key, failure landfall.Failure) {
	t.Helper()
	mine := claim(t, store, wish(key), landfall.ClaimGranted)
	attempt := landfall.Attempt{Failure: &failure, Event: landfall.Event{Type: landfall.EventImportFailed}}
	if err := store.Release(t.Context(), mine, attempt); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

var failures = []check{
	{"failures are listed and grouped", func(t *testing.T, store landfall.Store) {
		staged(t, store, "3", "1", "2", "4", "fine", "skipped")
		violations := func(attrs ...string) landfall.Failure {
			failure := landfall.Failure{Code: landfall.CodeAccountFailedValidation}
			for _, attr := range attrs {
				failure.Violations = append(failure.Violations, landfall.Violation{Code: "invalid_phone_number", Attr: attr})
			}
			return failure
		}
		own := func(number string) landfall.Key { return landfall.Key{Supplier: code, External: number} }
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
		for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: code}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, failed.External+" "+failed.Failure.Code)
			recent(t, failed.Failure.At)
		}
		same(t, listed, []string{
			"1 account_failed_validation", "2 payment_vendor_rejected", "3 account_failed_validation", "4 payment_vendor_rejected",
		})
		var page []string
		for failed := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: code, After: "1", Limit: 2}) {
			page = append(page, failed.External)
		}
		same(t, page, []string{"2", "3"})
		groups, err := store.FailureSummary(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		same(t, groups, []landfall.FailureGroup{
			{Code: "invalid_phone_number", Attr: "customers.*.landline", Accounts: 2, Alone: 1},
			{Code: "payment_vendor_rejected", Accounts: 2, Alone: 2},
			{Code: "invalid_phone_number", Attr: "customers.*.mobile", Accounts: 1},
		})
		for range store.Failed(t.Context(), landfall.FailureQuery{Supplier: code}) {
			break // leaving early must free the connection
		}
		for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: "NONE"}) {
			t.Errorf("an unknown supplier failed: %+v, %v", failed, err)
		}
	}},
}
