package accountview_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

var now = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func on(t *testing.T, text string) calendar.Day {
	t.Helper()
	day, err := calendar.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// testFacts returns an account with everything that a view shows.
func testFacts(t *testing.T) accountview.Facts {
	t.Helper()
	hours := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
	gross := money.Amount(42100)
	return accountview.Facts{
		Process: landfall.Process{
			Key: landfall.Key{Supplier: "NORTH", External: "1001"}, State: landfall.Imported,
			AccountNumber: "A-00000000", AccountCreatedAt: hours(-5),
		},
		Revisions: []landfall.StagedRevision{{Revision: 1, Document: []byte(`{"family_name":"Lovelace"}`)}, {Revision: 2, Document: []byte(`{}`)}},
		Events:    []landfall.Event{{Type: landfall.EventImportCompleted, At: hours(-5)}},
		Account: &landfall.Account{
			Number: "A-00000000", Revision: 2, Team: "Movers", Balance: -7500,
			Data: landfall.AccountData{
				Currency: "GBP", BillingName: "Ada Lovelace",
				Customers:       []landfall.Customer{{GivenName: "Ada", FamilyName: "Lovelace", Email: "ada@example.org", Role: "OWNER"}, {}},
				SupplyAddresses: []landfall.SupplyAddress{{Address: landfall.Address{Lines: []string{"12 St James Square"}, PostalCode: "SW1Y 4JH"}}},
				Notes: []landfall.Note{
					{Body: "oldest", HasBody: true, CreatedAt: hours(-5)},
					{Body: "pinned", HasBody: true, CreatedAt: hours(-4), Pinned: true, UnpinAt: hours(1)},
					{Body: "was pinned", HasBody: true, CreatedAt: hours(-3), Pinned: true, UnpinAt: hours(-1)},
					{Body: "newest", HasBody: true, CreatedAt: hours(-2), DocumentPaths: []string{"a.pdf", "elsewhere"}},
				},
				Statements: []landfall.Statement{{ID: "S-1", GrossAmount: &gross}},
			},
			Periods: []landfall.Period{{ToOn: on(t, "2024-03-31")}, {FromOn: on(t, "2024-04-01")}},
			Ledger: []landfall.LedgerEntry{
				{Sequence: 1, Kind: landfall.OpeningEntry, Closed: true, Transaction: landfall.Transaction{On: on(t, "2024-03-31")}},
				{Sequence: 2, Kind: landfall.TransactionEntry, Signed: -7500, Balance: -7500, Transaction: landfall.Transaction{
					ID: "C-1", Type: landfall.Charge, Reason: "IMPORTED_CHARGE", Note: "Ada was told", Document: []byte(`{"note":"Ada was told"}`),
					On: on(t, "2024-04-01"), OriginalOn: on(t, "2024-03-15"),
				}},
			},
		},
	}
}

// Pinned notes are first, then the newest. An expired pin does not count.
func TestNotesArePinnedFirst(t *testing.T) {
	shown := accountview.New(testFacts(t), accountview.Options{Now: now, Personal: true})
	var bodies []string
	for _, note := range shown.Account.Notes {
		bodies = append(bodies, fmt.Sprintf("%s %v", *note.Body, note.PinnedNow))
	}
	want := []string{"pinned true", "newest false", "was pinned false", "oldest false"}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Error(diff)
	}
}

func TestSignedBalance(t *testing.T) {
	for amount, want := range map[money.Amount]string{
		10: "0.01 GBP, in the customer's favour", -42100: "-42.10 GBP, the customer owes it", 0: "0.00 GBP",
	} {
		if got := accountview.SignedBalance(amount, "GBP"); got != want {
			t.Errorf("Balance(%d) = %q, want %q", amount, got, want)
		}
	}
}

// A moved date is shown with the old date and the reason.
func TestMovedDatesAreExplained(t *testing.T) {
	facts := testFacts(t)
	ledger := accountview.New(facts, accountview.Options{Now: now}).Account.Ledger
	if ledger[0].MoveReason != "" || ledger[0].Label() != "opening" || ledger[1].Label() != "CHARGE IMPORTED_CHARGE" {
		t.Errorf("got %+v", ledger)
	}
	if want := "dated 2024-03-15 by the old supplier, before the open statement period, and moved into it"; ledger[1].MoveReason != want {
		t.Errorf("got %q", ledger[1].MoveReason)
	}
	facts.Account.Ledger[1].Transaction.OriginalOn = on(t, "2024-06-01")
	if moved := accountview.New(facts, accountview.Options{Now: now}).Account.Ledger[1].MoveReason; !strings.Contains(moved, "after the open statement period") {
		t.Errorf("got %q", moved)
	}
}

// A view has personal data only if it was asked for, and then all of it.
func TestPersonalDataIsMasked(t *testing.T) {
	personal := []string{"Ada", "Lovelace", "ada@example.org", "St James", "SW1Y", "newest", "told"}
	for _, asked := range []bool{false, true} {
		shown := accountview.New(testFacts(t), accountview.Options{Now: now, Personal: asked})
		text, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range personal {
			if strings.Contains(string(text), word) != asked {
				t.Errorf("asked %v, and %q is in it: %v\n%s", asked, word, !asked, text)
			}
		}
		if people := shown.Account.People; people.Masked == asked || people.Customers[1].Name() != "" {
			t.Errorf("asked %v, got %+v", asked, people)
		}
	}
	masked := accountview.New(testFacts(t), accountview.Options{Now: now})
	if ada := masked.Account.People.Customers[0]; ada.Name() != "***" || ada.Email != "***" || ada.Mobile != "" || ada.Role != "OWNER" {
		t.Errorf("got %+v", ada)
	}
	if masked.Account.Notes[0].Characters != 6 || masked.Revisions[0].Document != nil {
		t.Errorf("got %+v", masked)
	}
	staged := accountview.New(testFacts(t), accountview.Options{Now: now, Staged: true})
	if !strings.Contains(string(staged.Revisions[0].Document), "Lovelace") || !staged.Revisions[1].CreatedAccount || staged.Revisions[0].CreatedAccount {
		t.Errorf("got %+v", staged.Revisions)
	}
}

// JSON has null for missing values and text for money.
func TestViewJSON(t *testing.T) {
	shown := accountview.New(testFacts(t), accountview.Options{Now: now, Personal: true, DocumentURL: func(path string) string {
		if path == "elsewhere" {
			return ""
		}
		return "s3://papers/" + path
	}})
	text, err := json.Marshal(shown.Account)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"from":"2024-04-01","to":null,"closing_balance":null,"open":true}`,
		`{"from":null,"to":"2024-03-31","closing_balance":"0.00","open":false}`,
		`"gross_amount":"42.10"`, `"balance_in_words":"-7.50 GBP, the customer owes it"`,
		`"documents":["s3://papers/a.pdf","elsewhere"]`, `"payment_instructions":[]`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	bare := accountview.New(accountview.Facts{Process: landfall.Process{State: landfall.Staged}}, accountview.Options{})
	if text, err = json.Marshal(bare); err != nil || !strings.Contains(string(text), `"platform_account_number":null`) || bare.Account != nil {
		t.Errorf("%s, %v", text, err)
	}
}
