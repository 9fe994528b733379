package sqlstore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
	"landfall/internal/test/dbtest"
)

// sampleAccount is a realistic account: two people, electricity and gas.
func sampleAccount(t testing.TB) landfall.Account {
	t.Helper()
	day := func(text string) calendar.Day {
		parsed, err := calendar.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	value, err := money.ParseDecimal("45210")
	if err != nil {
		t.Fatal(err)
	}
	last, transfer := money.Amount(-4210), money.Amount(790)
	payment := landfall.Transaction{
		ID: "P-1", On: day("2026-07-05"), Amount: 5000, Type: landfall.Payment, Reason: "ACCOUNT_CHARGE_PAYMENT",
		Document: []byte(`{"transaction_id": "P-1", "transaction_date": "2026-07-05", "amount": 50.00, "type": "PAYMENT", "payment_type": "DD_REGULAR_COLLECTION", "reason": "ACCOUNT_CHARGE_PAYMENT", "reference": "DD-77120"}`),
	}
	address := landfall.Address{Lines: []string{"12 St James's Square", "Westminster", "London"}, PostalCode: "SW1Y 4JH"}
	return landfall.Account{
		Data: landfall.AccountData{
			Currency: "GBP", AccountType: "DOMESTIC", BillingName: "Ada Lovelace", BillingAddress: address,
			LastStatementClosingOn: day("2026-06-30"), LastStatementIssuedOn: day("2026-07-03"),
			LastStatementBalance: &last, TransferBalance: &transfer,
			Customers: []landfall.Customer{
				{GivenName: "Ada", FamilyName: "Lovelace", Title: "Ms", Email: "ada.lovelace@mail.co.uk", Mobile: "+447400123456", Landline: "020 7946 0123", BornOn: day("1985-12-10")},
				{GivenName: "Charles", FamilyName: "Babbage", Email: "charles.babbage@mail.co.uk", Mobile: "07400 654321"},
			},
			SupplyAddresses: []landfall.SupplyAddress{{Address: address, SupplyPoints: []landfall.SupplyPoint{
				{
					Identifier: "1200023305967", SupplyType: "ELECTRICITY", StartOn: day("2024-03-14"),
					Agreements: []landfall.Agreement{{ProductCode: "FIXED-12M", FromOn: day("2024-03-14"), ToOn: day("2025-03-14")}, {ProductCode: "FLEX-1", FromOn: day("2025-03-14")}},
					Meters: []landfall.Meter{{SerialNumber: "E12Z004521", InstalledOn: day("2019-05-02"), Registers: []landfall.Register{
						{ID: "01", Digits: 5, Readings: []landfall.Reading{{On: day("2026-06-30"), Type: "CUSTOMER", Value: value}}},
					}}},
				},
				{
					Identifier: "7501234509", SupplyType: "GAS", StartOn: day("2024-03-14"),
					Agreements: []landfall.Agreement{{ProductCode: "FLEX-1", FromOn: day("2024-03-14")}},
					Meters:     []landfall.Meter{{SerialNumber: "G4A0088123", Registers: []landfall.Register{{ID: "01", Digits: 5}}}},
				},
			}}},
		},
		Periods: []landfall.Period{{ToOn: day("2026-06-30"), Balance: -4210}, {FromOn: day("2026-07-01")}},
		Ledger: []landfall.LedgerEntry{
			{Sequence: 1, Kind: landfall.OpeningEntry, Closed: true, Signed: -4210, Balance: -4210, Transaction: landfall.Transaction{On: day("2026-06-30")}},
			{Sequence: 2, Kind: landfall.TransactionEntry, Signed: 5000, Balance: 790, Transaction: payment},
		},
		Balance: 790,
	}
}

// runCallers calls work for every number up to count, from 64 callers at once.
func runCallers(b *testing.B, count int, work func(number int) error) {
	b.Helper()
	var next atomic.Int64
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for number := next.Add(1); number <= int64(count); number = next.Add(1) {
				if err := work(int(number)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
}

// BenchmarkCreate claims and creates staged accounts from 64 callers at once.
func BenchmarkCreate(b *testing.B) {
	const team = "Migration Team"
	for name, fresh := range dbtest.Fresh {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			if err := store.Update(b.Context(), func(tx landfall.Tx) error {
				if err := tx.CreateTeam(b.Context(), team); err != nil {
					return err
				}
				return tx.CreateSupplier(b.Context(), landfall.NewSupplier("BENCH"))
			}); err != nil {
				b.Fatal(err)
			}
			runCallers(b, b.N, func(number int) error {
				_, err := store.Stage(b.Context(), twoKilobytes(number))
				return err
			})
			account := sampleAccount(b)
			claims := make([]landfall.Claim, b.N+1)
			b.ResetTimer()
			runCallers(b, b.N, func(number int) error {
				claimed, err := store.Claim(b.Context(), landfall.ClaimRequest{
					Key: twoKilobytes(number).Key, Team: team, Lease: time.Minute,
				})
				if err == nil && claimed.Verdict != landfall.ClaimGranted {
					err = fmt.Errorf("claim %d", claimed.Verdict)
				}
				claims[number] = claimed.Claim
				return err
			})
			claiming := b.Elapsed()
			runCallers(b, b.N, func(number int) error {
				created, err := store.Create(b.Context(), landfall.Creation{Claim: claims[number], Account: account})
				if err == nil && created.Verdict != landfall.Created {
					err = fmt.Errorf("creation %d", created.Verdict)
				}
				return err
			})
			b.ReportMetric(float64(b.N)/claiming.Seconds(), "claims/s")
			b.ReportMetric(float64(b.N)/(b.Elapsed()-claiming).Seconds(), "creations/s")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "both/s")
		})
	}
}

// BenchmarkPost adds a note and a transaction to created accounts from 64
// callers at once, looking for duplicates first.
func BenchmarkPost(b *testing.B) {
	const accounts = 1000
	for name, fresh := range dbtest.Fresh {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			prepareStore(b, store)
			account := sampleAccount(b)
			runCallers(b, accounts, func(number int) error {
				stageNumber(b, store, fmt.Sprint(number))
				_, err := store.Create(b.Context(), landfall.Creation{Claim: claimNumber(b, store, fmt.Sprint(number)), Account: account})
				return err
			})
			payment := account.Ledger[1].Transaction
			b.ResetTimer()
			runCallers(b, b.N, func(number int) error {
				fresh := payment
				fresh.ID = fmt.Sprint("B-", number)
				body := fmt.Sprint("Note ", number)
				outcome, err := store.Post(b.Context(), landfall.Posting{
					Key: landfall.Key{Supplier: "S", External: fmt.Sprint(number%accounts + 1)}, Notes: []landfall.Note{{Body: body}}, TransactionIDs: []string{fresh.ID},
					Decide: func(state landfall.AccountState) (landfall.Additions, error) {
						return landfall.Additions{
							Notes: []landfall.Note{{Body: body, HasBody: true}},
							Entries: []landfall.LedgerEntry{{
								Sequence: state.LastSequence + 1, Kind: landfall.TransactionEntry,
								Signed: fresh.Signed(), Balance: state.Balance + fresh.Signed(), Transaction: fresh,
							}},
							Event: &landfall.Event{Type: landfall.EventNotesCreated},
						}, nil
					},
				})
				if err == nil && outcome.Verdict != landfall.Posted {
					err = fmt.Errorf("posting %d", outcome.Verdict)
				}
				return err
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "postings/s")
		})
	}
}
