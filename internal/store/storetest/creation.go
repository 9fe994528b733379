package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// parseDay parses a day written in a case and panics on a mistake in it.
func parseDay(text string) calendar.Day {
	day, err := calendar.ParseDay(text)
	if err != nil {
		panic(err)
	}
	return day
}

// sampleAccount returns an account with every field and list filled.
func sampleAccount() landfall.Account {
	value, err := money.ParseDecimal("45210.50")
	if err != nil {
		panic(err)
	}
	minus, plus := money.Amount(-4210), money.Amount(790)
	instant := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	account := landfall.Account{
		Data: landfall.AccountData{
			Currency: "GBP", AccountType: "DOMESTIC", BillingName: "Zoë \"Q\" O'Hara \\ {a,b} NULL",
			BillingAddress: landfall.Address{Lines: []string{"1 High St", "", "Lœx"}, PostalCode: "SW1Y 4JH"},
			Customers: []landfall.Customer{
				{GivenName: "Ada", FamilyName: "Lovelace", Title: "Ms", Email: "ada@mail.co.uk", Mobile: "+447400123456", Landline: "020 7946 0123", BornOn: parseDay("1985-12-10"), Role: "OWNER"},
				{},
			},
			SupplyAddresses: []landfall.SupplyAddress{
				{Address: landfall.Address{Lines: []string{"2 Low St"}}, SupplyPoints: []landfall.SupplyPoint{
					{
						Identifier: "120002", SupplyType: "ELECTRICITY", StartOn: parseDay("2024-03-14"), EndOn: parseDay("2027-03-14"),
						Agreements: []landfall.Agreement{{ProductCode: "FIXED", FromOn: parseDay("2024-03-14"), ToOn: parseDay("2025-03-14"), AgreedAt: instant}, {ProductCode: "FLEX", FromOn: parseDay("2025-03-14")}},
						Meters: []landfall.Meter{{SerialNumber: "E12", InstalledOn: parseDay("2019-05-02"), RemovedOn: parseDay("2026-05-02"), Registers: []landfall.Register{
							{ID: "01", Digits: 5, Readings: []landfall.Reading{{On: parseDay("2026-06-30"), Type: "CUSTOMER", Value: value}}}, {ID: "02"},
						}}},
					},
					{Identifier: "7501", SupplyType: "GAS", StartOn: parseDay("2024-03-14"), Meters: []landfall.Meter{{SerialNumber: "G4"}}},
				}},
				{},
				{Address: landfall.Address{Locality: "Leeds", PostalCode: "LS1", Country: "GB"}, SupplyPoints: []landfall.SupplyPoint{
					{Identifier: "9", SupplyType: "WATER", StartOn: parseDay("2024-03-14"), Agreements: []landfall.Agreement{{ProductCode: "W", FromOn: parseDay("2024-03-14")}}},
				}},
			},
			LastBilledToOn: parseDay("2026-06-29"), LastStatementClosingOn: parseDay("2026-06-30"), LastStatementIssuedOn: parseDay("2026-07-03"),
			NextBillDueOn: parseDay("2026-10-01"), LastStatementBalance: &minus, TransferBalance: &plus,
			Statements:       []landfall.Statement{{ID: "S2", FromOn: parseDay("2026-05-01"), ToOn: parseDay("2026-05-31"), IssuedOn: parseDay("2026-06-02"), Number: "2", GrossAmount: &plus, SentAmount: &minus, Path: "a/b.pdf", Extra: `{"batch":1.50}`}, {ID: "S1"}},
			Notes:            []landfall.Note{{Body: "Hello\nthere", HasBody: true, CreatedAt: instant, Pinned: true, UnpinAt: instant.AddDate(1, 0, 0)}, {DocumentPaths: []string{"x", "y"}, CreatedAt: instant}, {DocumentPaths: []string{"z"}, CreatedAt: instant, ExternalID: "N\"1", Extra: `{"call":{"minutes":1.0}}`}},
			Instructions:     []landfall.Instruction{{Vendor: "STRIPE", Reference: "pm_1", Type: landfall.Card, ValidFromOn: parseDay("2026-01-01"), ForSchedules: true, Details: landfall.InstructionDetails{Status: "active", Scheme: "visa", LastDigits: "4242", Expiry: "2030-01"}}},
			PaymentSchedules: []landfall.PaymentSchedule{{StartOn: parseDay("2026-01-01"), EndOn: parseDay("2027-01-01"), Trigger: "REGULAR", Amount: &plus, Frequency: "MONTHLY", DayOfMonth: 3}, {Trigger: "BALANCE", Threshold: &minus}},
		},
		Periods: []landfall.Period{{ToOn: parseDay("2026-06-30"), Balance: -4210}, {FromOn: parseDay("2026-07-01")}},
		Balance: 690,
	}
	sent := []byte(`{"transaction_id": "P-1", "amount": 50.00, "note": "a \"b\" \\ c"}`)
	account.Ledger = []landfall.LedgerEntry{
		{Sequence: 1, Kind: landfall.OpeningEntry, Closed: true, Signed: -4210, Balance: -4210, Transaction: landfall.Transaction{On: parseDay("2026-06-30")}},
		{Sequence: 2, Kind: landfall.TransactionEntry, Signed: 5000, Balance: 790, Transaction: landfall.Transaction{ID: "P-1", On: parseDay("2026-07-05"), Amount: 5000, Type: landfall.Payment, Reason: "R", Note: "n", Document: sent, OriginalOn: parseDay("2026-01-01")}},
		{Sequence: 3, Kind: landfall.TransactionEntry, Signed: -100, Balance: 690, Transaction: landfall.Transaction{ID: "C-1", On: parseDay("2026-07-06"), Amount: 100, Type: landfall.Charge, Document: sent}},
	}
	return account
}

// create creates an account and returns the outcome.
func create(t *testing.T, store landfall.Store, claim landfall.Claim, account landfall.Account) landfall.CreateOutcome {
	t.Helper()
	outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claim, Account: account})
	if err != nil || outcome.Verdict != landfall.Created {
		t.Fatalf("Create(%v) = %+v, %v", claim.Key, outcome, err)
	}
	return outcome
}

// readAccount reads an account and compares the figures stored with it to its
// contents, so that every case that reads an account checks both.
func readAccount(t *testing.T, store landfall.Store, key landfall.Key) (found landfall.Account) {
	t.Helper()
	var figures landfall.AccountFigures
	inView(t, store, func(view landfall.View) (err error) {
		if found, err = view.Account(t.Context(), key); err == nil {
			figures, err = view.AccountFigures(t.Context(), key)
		}
		return err
	})
	balanced(t, found)
	wantEqual(t, figures, landfall.AccountFigures{
		CreatedAt: found.CreatedAt, Currency: found.Data.Currency, Balance: found.Balance,
		LedgerEntries: len(found.Ledger), Notes: len(found.Data.Notes), Statements: len(found.Data.Statements),
	})
	// The list computes the same figures with another statement, so compare those
	// too.
	for entry, err := range store.List(t.Context(), landfall.ProcessQuery{
		Supplier: key.Supplier, Filter: landfall.ImportedProcesses, Figures: true,
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.External == key.External {
			wantEqual(t, *entry.Figures, figures)
			return found
		}
	}
	t.Errorf("%v is not among the imported ones", key)
	return found
}

// balanced fails the test unless the balance is the sum of the ledger.
func balanced(t *testing.T, account landfall.Account) {
	t.Helper()
	var sum money.Amount
	for i, entry := range account.Ledger {
		sum += entry.Signed
		if entry.Sequence != i+1 || entry.Balance != sum {
			t.Errorf("entry %d has sequence %d and balance %v, want %v", i, entry.Sequence, entry.Balance, sum)
		}
	}
	if sum != account.Balance {
		t.Errorf("balance %v, ledger %v", account.Balance, sum)
	}
}

// readEvents returns the events of one account in commit order.
func readEvents(t *testing.T, store landfall.Store, key landfall.Key) (found []landfall.Event) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.Events(t.Context(), key)
		return err
	})
	return found
}

// wantEqual compares deeply. An empty list and nil are the same.
func wantEqual(t *testing.T, got, want any) {
	t.Helper()
	if difference := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.AllowUnexported(calendar.Day{}),
		cmp.Comparer(func(a, b money.Decimal) bool { return a.String() == b.String() })); difference != "" {
		t.Error(difference)
	}
}

// creations check the most important promise of a store: an account is created
// completely and once, or not at all, and only for the holder of the claim.
var creations = []promiseCheck{
	// Customers are billed from this data. The account has every field filled,
	// empty values beside others, and text with a special meaning to a database
	// or to a list in one, so that anything a store drops or changes shows
	// here. Read by its number it must be exactly the same account, since the
	// number is what people have.
	{"an account is read back as it was written", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		made := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		want := sampleAccount()
		want.Key, want.Data.Key, want.Number, want.Revision, want.Team, want.CreatedAt = testKey, testKey, made.Number, 1, teamName, made.At
		wantEqual(t, readAccount(t, store, testKey), want)
		recent(t, made.At)
		if !landfall.ValidAccountNumber(made.Number) {
			t.Errorf("number %q", made.Number)
		}
		inView(t, store, func(view landfall.View) error {
			found, err := view.AccountByNumber(t.Context(), made.Number)
			wantEqual(t, found, want)
			return err
		})
		found := readProcess(t, store, testKey)
		if found.State != landfall.Imported || found.AccountNumber != made.Number || !found.AccountCreatedAt.Equal(made.At) {
			t.Errorf("process %+v", found)
		}
		told := readEvents(t, store, testKey)
		if len(told) != 1 || told[0].Type != landfall.EventImportCompleted || told[0].AccountNumber != made.Number {
			t.Errorf("events %+v", told)
		}
	}},
	// A pending process is not an empty account. A caller that got one without an
	// error would show a zero balance for a customer who owes money.
	{"a missing account is ErrNotFound", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		inView(t, store, func(view landfall.View) error {
			_, err := view.Account(t.Context(), testKey)
			wantError(t, err, landfall.ErrNotFound)
			_, err = view.AccountFigures(t.Context(), testKey)
			wantError(t, err, landfall.ErrNotFound)
			_, err = view.AccountByNumber(t.Context(), "A-00000000")
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// Everything but the open period may be missing. A join must not lose an
	// account because one part has no rows.
	{"the smallest account can be created", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		small := landfall.Account{Periods: []landfall.Period{{FromOn: parseDay("2026-07-01")}}}
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), small)
		if found := readAccount(t, store, testKey); len(found.Data.Customers) != 0 || found.Balance != 0 || len(found.Periods) != 1 {
			t.Errorf("got %+v", found)
		}
	}},
	// An account that exists but is listed as failed would be corrected and
	// sent again for nothing, and the count of remaining accounts would never
	// reach zero.
	{"a creation clears an earlier failure", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		fail(t, store, testKey, landfall.Failure{Code: "x"})
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		if found := readProcess(t, store, testKey); found.Failure != nil {
			t.Errorf("got %+v", found.Failure)
		}
	}},
	// The store is the last place that can detect this: once written, a balance
	// that is not the sum of its ledger is wrong on every bill. An account
	// without an open period could never be posted to. The refusal keeps the
	// claim, so the correct account can still be created with it.
	{"a ledger that does not add up is refused", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		wrong := sampleAccount()
		wrong.Balance++
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: wrong}); err == nil {
			t.Error("a wrong balance was accepted")
		}
		wrong = sampleAccount()
		wrong.Periods = wrong.Periods[:1]
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: wrong}); err == nil {
			t.Error("an account without an open period was accepted")
		}
		create(t, store, mine, sampleAccount())
	}},
	// An operator pauses a supplier because something is going wrong, and the
	// claims granted a moment before are exactly the ones to stop. A dry run is
	// refused as well, or it would predict something that could not happen.
	{"a supplier paused after the claim refuses the creation", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
			t.Fatal(err)
		}
		for _, dry := range []bool{false, true} {
			mine.DryRun = dry
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount()})
			if err != nil || outcome.Verdict != landfall.CreateNoSupplier {
				t.Errorf("got %+v, %v", outcome, err)
			}
		}
		mine.DryRun = false
		// Releasing is not creating: a holder that stops because of the pause
		// must be able to release its claim.
		if err := store.Release(t.Context(), mine, landfall.Attempt{Event: landfall.Event{Type: landfall.EventImportFailed}}); err != nil {
			t.Errorf("the claim of a paused supplier cannot be released: %v", err)
		}
	}},
}
