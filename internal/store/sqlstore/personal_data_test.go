package sqlstore_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/store/sqlstore"
)

// accountWithWord returns an account with a word in all personal data.
func accountWithWord(t testing.TB, word string) landfall.Account {
	account := sampleAccount(t)
	data := &account.Data
	address := landfall.Address{Lines: []string{word}, Locality: word, PostalCode: word + "1", Country: word}
	data.BillingName, data.BillingAddress, data.SupplyAddresses[0].Address = word, address, address
	for i := range data.Customers {
		data.Customers[i] = landfall.Customer{
			GivenName: word, FamilyName: word, Title: word, Email: fmt.Sprintf("%s%d@mail.co.uk", word, i), Mobile: word, Landline: word, BornOn: birthday(t),
		}
	}
	for i := range data.SupplyAddresses[0].SupplyPoints {
		point := &data.SupplyAddresses[0].SupplyPoints[i]
		point.Identifier = word + "2"
		for j := range point.Meters {
			point.Meters[j].SerialNumber, point.Meters[j].Registers[0].ID = word, word
		}
	}
	entry := &account.Ledger[1].Transaction
	entry.Reason, entry.Note, entry.Document = word, word, []byte(`{"note":"`+word+`"}`)
	data.Notes = []landfall.Note{{Body: strings.Repeat(word+" ", 500), HasBody: true}, {DocumentPaths: []string{word + "/a.pdf"}, Extra: `{"field":"` + word + `"}`}}
	data.Statements = []landfall.Statement{{ID: "S-1", Path: word + ".pdf", Extra: `{"field":"` + word + `"}`}}
	data.Instructions = []landfall.Instruction{{Vendor: "V", Reference: word, Type: "CARD", Details: landfall.InstructionDetails{LastDigits: word, Expiry: word}}}
	return account
}

func stagingWithWord(number, word string) landfall.Staging {
	text := []byte(`{"billing_name": "` + word + `"}`)
	return landfall.Staging{Key: landfall.Key{Supplier: "S", External: number}, Document: text, Hash: sha256.Sum256(text), By: landfall.Author{Operator: "operator:a"},
		Identifiers: []landfall.Identifier{{Kind: landfall.IdentifierSupplyPoint, Space: "GAS", Value: word}}}
}

// nameQuery searches for a name.
func nameQuery(word string) landfall.SearchQuery {
	match := landfall.TermMatch{SearchTerm: landfall.SearchTerm{Kind: landfall.TermName, Text: strings.ToLower(word)}}
	return landfall.SearchQuery{Limit: 10, Words: []landfall.SearchWord{{Matches: []landfall.TermMatch{match}}}}
}

// writePersonalData does everything with a store that writes personal data to it.
func writePersonalData(t *testing.T, store *sqlstore.Store, word string) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	prepareStore(t, store)
	failure := landfall.Failure{Code: "c", Detail: word, Violations: []landfall.Violation{{Code: "v", Attr: "a", Detail: word}}}
	for _, number := range []string{"1", "2", "3"} {
		_, err := store.Stage(t.Context(), stagingWithWord(number, word))
		must("stage", err)
	}
	must("refuse", store.Refuse(t.Context(), landfall.Refusal{Key: landfall.Key{Supplier: "S", External: "4"}, Failure: failure, Document: []byte(`{"billing_name": "` + word + `"}`)}))
	must("fail", store.Release(t.Context(), claimNumber(t, store, "2"), landfall.Attempt{Failure: &failure, Event: landfall.Event{Type: landfall.EventImportFailed}}))
	trial := claimRequest("3")
	trial.DryRun = true
	outcome, err := store.Claim(t.Context(), trial)
	must("try", err)
	must("fail a dry run", store.Release(t.Context(), outcome.Claim, landfall.Attempt{Failure: &failure, Event: landfall.Event{Type: landfall.EventDryRunFailed}}))
	must("settings", store.Update(t.Context(), func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(t.Context(), "S")
		if err != nil {
			return err
		}
		supplier.SendCustomerEmails = true
		if err := tx.CreateOperator(t.Context(), landfall.Operator{Name: "ada", Role: landfall.ConsoleSupport, TOTPSecret: reversed(word), Pending: landfall.PendingTOTP{Secret: reversed(word)}}); err != nil {
			return err
		}
		return tx.SaveSupplier(t.Context(), supplier)
	}))
	create(t, store, "1", accountWithWord(t, word), word)
	postAgain(t, store, word, 1)
	must("refuse a posting", store.RefusePosting(t.Context(), landfall.PostingRefusal{Key: landfall.Key{Supplier: "S", External: "1"}, Kind: landfall.PostingStatements,
		Failure: landfall.Failure{Code: "c", Violations: []landfall.Violation{{Code: "unknown_field", Attr: "statements.0." + word}}}})) // a sender's own field
	refuseDelivery(t, store, word)
	mails, err := store.ClaimMails(t.Context(), landfall.MailRequest{Max: 10, PerMinute: 60_000, Lease: time.Minute})
	must("take mails", err)
	for _, mail := range mails.Mails {
		must("settle", store.SettleMail(t.Context(), landfall.MailResult{ID: mail.ID, Token: mail.Token, State: landfall.MailRefused, Reply: word, Attempted: true}))
	}
	if len(mails.Mails) != 1 || !strings.HasPrefix(mails.Mails[0].To, word) || len(mails.Mails[0].Customers) != 1 {
		t.Errorf("mails: %+v", mails.Mails)
	}
	failRun(t, store, failure)
	_, err = store.IndexTerms(t.Context())
	must("enter terms", err)
}

// failRun makes everything that is pending fail in a run.
func failRun(t *testing.T, store *sqlstore.Store, failure landfall.Failure) {
	t.Helper()
	var run landfall.Run
	err := store.Update(t.Context(), func(tx landfall.Tx) (err error) {
		run, err = tx.CreateRun(t.Context(), landfall.Run{Plan: landfall.RunPlan{Supplier: "S", Team: "T", Select: landfall.SelectPending}})
		return err
	})
	for done := false; !done && err == nil; {
		done, err = store.ChooseRun(t.Context(), run.ID)
	}
	if err == nil {
		err = store.Update(t.Context(), func(tx landfall.Tx) error {
			chosen, err := tx.Run(t.Context(), run.ID)
			if err != nil {
				return err
			}
			chosen.Start()
			return tx.SaveRun(t.Context(), chosen)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	slice, err := store.TakeSlice(t.Context(), landfall.SliceRequest{Run: run.ID, Lease: time.Minute, Concurrency: 64})
	if err != nil {
		t.Fatal(err)
	}
	var failed []landfall.RunFailure
	for _, member := range slice.Members {
		failed = append(failed, landfall.RunFailure{Ordinal: member.Ordinal, Claim: claimNumber(t, store, member.Key.External), Final: true,
			Attempt: landfall.Attempt{Failure: &failure, Event: landfall.Event{Type: landfall.EventImportFailed}}})
	}
	if _, err := store.SettleSlice(t.Context(), slice, landfall.Settlement{Failed: failed}); err != nil || len(failed) != 2 {
		t.Fatalf("%d failed: %v", len(failed), err)
	}
}

// birthday returns a day that no other data uses.
func birthday(t testing.TB) calendar.Day {
	day, err := calendar.ParseDay("1931-02-27")
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// reversed reverses a word, for secrets that belong to no account.
func reversed(word string) string {
	letters := []rune(word)
	slices.Reverse(letters)
	return string(letters)
}

func create(t *testing.T, store *sqlstore.Store, number string, account landfall.Account, word string) {
	t.Helper()
	outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, number), Account: account,
		Mails: []landfall.Mail{{Kind: "k", To: word + "0@mail.co.uk"}}})
	if err != nil || outcome.Verdict != landfall.Created {
		t.Fatalf("got %+v, %v", outcome, err)
	}
}

// postAgain posts the same data and checks how much of it was new. It can be
// called repeatedly, since existing data is found.
func postAgain(t *testing.T, store *sqlstore.Store, word string, added int) {
	t.Helper()
	note := landfall.Note{Body: "posted " + word, HasBody: true}
	instruction := landfall.Instruction{Vendor: "V", Reference: "posted " + word, Type: "CARD", Details: landfall.InstructionDetails{LastDigits: word, Expiry: word}}
	got := -1
	outcome, err := store.Post(t.Context(), landfall.Posting{
		Key: testKey, Notes: []landfall.Note{note}, Instructions: []landfall.Instruction{instruction},
		Decide: func(state landfall.AccountState) (add landfall.Additions, err error) {
			if len(state.Notes) == 0 {
				add.Notes = []landfall.Note{note}
			}
			if len(state.Instructions) == 0 {
				add.Instructions = []landfall.Instruction{instruction}
			}
			if got = len(add.Notes); len(add.Instructions) != got {
				return add, fmt.Errorf("%d notes and %d instructions are new", len(add.Notes), len(add.Instructions))
			}
			if got > 0 {
				add.Entries = []landfall.LedgerEntry{{
					Sequence: state.LastSequence + 1, Kind: landfall.TransactionEntry, Signed: 1, Balance: state.Balance + 1,
					Transaction: landfall.Transaction{ID: "posted", Amount: 1, On: calendar.Last, Reason: word, Note: word, Document: []byte(`{"n":"` + word + `"}`)},
				}}
				add.Statements = []landfall.Statement{{ID: "posted", Path: word}}
			}
			return add, nil
		},
	})
	if err != nil || outcome.Verdict != landfall.Posted || got != added {
		t.Fatalf("got %+v, %v; %d were new, want %d", outcome, err, got, added)
	}
}

// checkPersonalData reads everything and compares it with what was written.
func checkPersonalData(t *testing.T, store *sqlstore.Store, word string) {
	t.Helper()
	if err := store.View(t.Context(), func(reader landfall.View) error {
		account, err := reader.Account(t.Context(), testKey)
		if err != nil {
			return err
		}
		want := accountWithWord(t, word)
		for what, same := range map[string]bool{
			"name":        account.Data.BillingName == word,
			"customers":   fmt.Sprint(account.Data.Customers) == fmt.Sprint(want.Data.Customers),
			"addresses":   fmt.Sprint(account.Data.BillingAddress) == fmt.Sprint(want.Data.BillingAddress),
			"points":      account.Data.SupplyAddresses[0].SupplyPoints[0].Identifier == word+"2",
			"meters":      account.Data.SupplyAddresses[0].SupplyPoints[0].Meters[0].Registers[0].ID == word,
			"entries":     account.Ledger[1].Transaction.Note == word && string(account.Ledger[1].Transaction.Document) == `{"note":"`+word+`"}`,
			"notes":       len(account.Data.Notes) == 3 && account.Data.Notes[0].Body == want.Data.Notes[0].Body && account.Data.Notes[1].DocumentPaths[0] == word+"/a.pdf",
			"statements":  account.Data.Statements[0].Path == word+".pdf",
			"instruction": account.Data.Instructions[0].Reference == word && account.Data.Instructions[1].Details.Expiry == word,
		} {
			if !same {
				t.Errorf("%s: %+v", what, account)
			}
		}
		revisions, err := reader.Revisions(t.Context(), testKey)
		if err != nil || string(revisions[0].Document) != string(stagingWithWord("1", word).Document) || revisions[0].Hash != stagingWithWord("1", word).Hash {
			t.Errorf("revisions: %+v, %v", revisions, err)
		}
		mails, err := reader.MailsOf(t.Context(), testKey)
		if err != nil || len(mails) != 1 || mails[0].To != word+"0@mail.co.uk" || mails[0].Reply != word {
			t.Errorf("mails: %+v, %v", mails, err)
		}
		operator, err := reader.Operator(t.Context(), "ada")
		if operator.TOTPSecret != reversed(word) || operator.Pending.Secret != reversed(word) {
			t.Errorf("operator: %+v, %v", operator, err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	failed := 0
	for one, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: "S"}) {
		if one.Failure.Posting == landfall.PostingTarget {
			continue // it leaves out what the target said
		}
		told := one.Failure.Detail
		if one.Failure.Posting != "" {
			told = strings.TrimPrefix(one.Failure.Violations[0].Attr, "statements.0.")
		}
		if failed++; err != nil || told != word {
			t.Errorf("failure %+v, %v", one, err)
		}
	}
	found, err := store.Search(t.Context(), nameQuery(word))
	if failed != 4 || err != nil || len(found.Accounts) != 4 || !strings.Contains(string(found.Accounts[0].Document), word) {
		t.Errorf("%d failed; found %+v, %v", failed, found, err)
	}
	if outcome, err := store.Stage(t.Context(), stagingWithWord("2", word)); err != nil || outcome.Verdict != landfall.StagedAgain || outcome.Revision != 1 {
		t.Errorf("staged again: %+v, %v", outcome, err)
	}
	postAgain(t, store, word, 0)
	if found, _ := inspect(t, store); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}

// refuseDelivery lets a target refuse account 1 with a word.
func refuseDelivery(t *testing.T, store *sqlstore.Store, word string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(store.Update(t.Context(), func(tx landfall.Tx) error {
		if err := tx.SaveTarget(t.Context(), landfall.Target{Code: "T", URL: "https://t.example", AtOnce: 1, State: landfall.TargetActive}); err != nil {
			return err
		}
		supplier, err := tx.Supplier(t.Context(), "S")
		supplier.Target = "T"
		return errors.Join(err, tx.SaveSupplier(t.Context(), supplier))
	}))
	_, err := store.RestartDeliveries(t.Context(), landfall.Key{Supplier: "S", External: "1"}, 1)
	must(err)
	claims, err := store.ClaimTargets(t.Context(), 1, time.Minute)
	must(err)
	for _, claim := range claims {
		round, err := store.TargetRound(t.Context(), claim, 10)
		must(err)
		result := landfall.TargetRoundResult{}
		for i := range round.Chains {
			result.Results = append(result.Results, landfall.TargetResult{Delivery: &round.Chains[i][0], State: landfall.TargetRefused, Reply: word})
		}
		must(store.SaveTargetRound(t.Context(), claim, result))
	}
}
