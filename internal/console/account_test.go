package console

import (
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"net/http"
	neturl "net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/limits"
	"landfall/internal/service/operate"
	"landfall/internal/test/dbtest"
)

// Hostile input that must never run, and must not reverse the text around it.
const (
	scriptTag   = `<script>alert("x")</script>`
	rightToLeft = "\u202Ednuora"
)

// seedAccounts creates a supplier with four accounts: 1 is created and full of
// hostile input, 2 failed, 3 is staged, 4 is skipped.
func seedAccounts(h *testConsole) landfall.Key {
	h.t.Helper()
	ctx := h.t.Context()
	check := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	check(h.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.CreateTeam(ctx, "Movers"); err != nil {
			return err
		}
		return tx.CreateSupplier(ctx, landfall.NewSupplier("NORTH"))
	}))
	for external := range 4 {
		key := landfall.Key{Supplier: "NORTH", External: fmt.Sprint(external + 1)}
		for _, name := range []string{"Ada", "Ada Maria"} {
			text := fmt.Appendf(nil, `{"customers": [{"given_name": %q, "family_name": "Lovelace", "email": "ada@mail.co.uk", "mobile": "+447400123456", "date_of_birth": "1985-12-10"}],
				"supply_addresses": [{"supply_address1": "12 St James Square", "supply_address2": "London", "supply_postcode": "SW1Y 4JH",
				"supply_points": [{"identifier": "12000233%05d"}]}], "note": "<script>x</script>", "n": %d}`, name, 5967+external, len(name))
			_, err := h.store.Stage(ctx, landfall.Staging{Key: key, Document: text, Hash: sha256.Sum256(text), Figures: landfall.Figures{Currency: "GBP"}, By: landfall.Author{Operator: "operator:test"}})
			check(err)
		}
	}
	claim := func(external string) landfall.Claim {
		outcome, err := h.store.Claim(ctx, landfall.ClaimRequest{Key: landfall.Key{Supplier: "NORTH", External: external}, Team: "Movers", Lease: time.Minute})
		check(err)
		return outcome.Claim
	}
	on := func(text string) calendar.Day {
		day, err := calendar.ParseDay(text)
		check(err)
		return day
	}
	account := landfall.Account{
		Balance: 400,
		Data: landfall.AccountData{
			Currency: "GBP", BillingName: "Ada Lovelace " + scriptTag,
			Customers:  []landfall.Customer{{GivenName: "Ada", FamilyName: "Lovelace", Title: "Ms", Email: "ada@mail.co.uk", Mobile: "+447400123456"}, {FamilyName: rightToLeft}},
			Statements: []landfall.Statement{{ID: "S-1" + scriptTag, Path: "bills/1.pdf"}},
			Notes: []landfall.Note{
				{Body: "Gate code 1234 " + scriptTag, HasBody: true, Pinned: true, CreatedAt: time.Now()},
				{Body: rightToLeft + "\n" + scriptTag, HasBody: true, CreatedAt: time.Now()},
				{Body: strings.Repeat("<b>", 10<<20/3), HasBody: true, CreatedAt: time.Now()},
			},
			Instructions: []landfall.Instruction{{Vendor: "SANDBOX", Reference: scriptTag, Type: landfall.Card}},
			SupplyAddresses: []landfall.SupplyAddress{{
				Address:      landfall.Address{Lines: []string{"12 St James Square"}, PostalCode: "SW1Y 4JH"},
				SupplyPoints: []landfall.SupplyPoint{{Identifier: "1200023305967", SupplyType: "ELECTRICITY"}},
			}},
		},
		Periods: []landfall.Period{{FromOn: on("2026-07-01")}},
		Ledger: []landfall.LedgerEntry{{Sequence: 1, Kind: landfall.TransactionEntry, Signed: 400, Balance: 400, Transaction: landfall.Transaction{
			ID: "P-1" + scriptTag, On: on("2026-07-01"), OriginalOn: on("2026-01-05"), Amount: 400, Type: landfall.Payment, Note: "secret of Ada",
		}}},
	}
	outcome, err := h.store.Create(ctx, landfall.Creation{Claim: claim("1"), Account: account})
	if check(err); outcome.Verdict != landfall.Created {
		h.t.Fatal(outcome)
	}
	check(h.store.Release(ctx, claim("2"), landfall.Attempt{
		Failure: &landfall.Failure{Code: "account_failed_validation", Detail: scriptTag, Violations: []landfall.Violation{{Code: "invalid_type", Attr: "customers.0.email", Detail: scriptTag}}},
		Event:   landfall.Event{Type: landfall.EventImportFailed, Key: landfall.Key{Supplier: "NORTH", External: "2"}, Details: map[string]string{"code": "account_failed_validation"}},
	}))
	check(h.operator().Skip(ctx, landfall.Key{Supplier: "NORTH", External: "4"}, "a duplicate"))
	return landfall.Key{Supplier: "NORTH", External: "1"}
}

// wantEscaped fails if imported data became markup.
func (g *testUser) wantEscaped(path, body string) {
	g.t.Helper()
	if strings.Contains(body, "<script>") || strings.Contains(body, `alert("x")`) || strings.Contains(body, "<b><b>") {
		g.t.Errorf("%s contains imported data as markup", path)
	}
	if len(body) > 1<<20 {
		g.t.Errorf("%s has %d bytes", path, len(body))
	}
}

// TestAccountPageMasksPersonalData looks for every personal word on the page of an
// account before and after it is revealed.
func TestAccountPageMasksPersonalData(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	sam := h.signedIn(landfall.ConsoleSupport)
	const path = "/console/accounts/NORTH/1/"
	body := sam.wantPage(path, "£0.40 in credit", "A•• L•••••••", "•••@mail.co.uk", "•••••• 56",
		"dated 2026-01-05 by the old supplier", "•••••• 967", "revision 2 compared with 1", "customers.0.given_name", "changed",
		"Account created: A-", "10,485,759 characters: too long", "characters, hidden", "Reveal personal data")
	for _, secret := range []string{"Lovelace", "ada@mail", "7400", "Gate code", "St James", "SW1Y", "Ada Maria", "secret of Ada", "Undo this", "bills/1.pdf", "1200023305967"} {
		if strings.Contains(body, secret) {
			t.Errorf("%s shows %q", path, secret)
		}
	}
	sam.wantEscaped(path, body)
	if status, body := sam.post(path+"reveal/", neturl.Values{"reason": {""}}); status != http.StatusBadRequest || strings.Contains(body, "Lovelace") {
		t.Errorf("revealed without a reason: %d", status)
	}
	status, body := sam.post(path+"reveal/", neturl.Values{"reason": {"he called about his bill"}})
	for _, shown := range []string{"Ms Ada Lovelace", "ada@mail.co.uk", "Gate code 1234", "12 St James Square", "Ada Maria", "secret of Ada", "bills/1.pdf", "1200023305967", "<bdi>" + rightToLeft} {
		if status != http.StatusOK || !strings.Contains(body, shown) {
			t.Errorf("revealed, %d: there is no %q", status, shown)
		}
	}
	sam.wantEscaped(path, body)
	body = sam.wantPage(path, "Personal data revealed", "he called about his bill", `class="quiet">sam<`)
	if strings.Contains(body, "Lovelace") {
		t.Error("personal data is still visible on the next page")
	}
	if status, _ := sam.post(path+"undo/", neturl.Values{"reason": {"x"}, "confirm": {"NORTH"}}); status != http.StatusForbidden {
		t.Errorf("support can undo accounts: %d", status)
	}
}

// A refused staging keeps codes and fields but no messages, which could repeat
// personal data. The page explains the codes.
func TestRefusedAccountExplainsItsCodes(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	if err := h.store.Refuse(t.Context(), landfall.Refusal{
		Key:     landfall.Key{Supplier: "NORTH", External: "9"},
		Failure: landfall.Failure{Code: landfall.CodeAccountFailedValidation, Violations: []landfall.Violation{{Code: "date_in_future", Attr: "date_of_sale"}}},
	}); err != nil {
		t.Fatal(err)
	}
	h.signedIn(landfall.ConsoleSupport).wantPage("/console/accounts/NORTH/9/", "refused", "date_of_sale", "Must not be in the future.")
}

// The page of an account names the attrs in which it was delivered again with other values.
func TestAccountDeliveredAgainNamesWhatDiffers(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	if err := h.store.RefusePosting(t.Context(), landfall.PostingRefusal{
		Key: landfall.Key{Supplier: "NORTH", External: "1"}, Kind: landfall.PostingAccount,
		Failure: landfall.Failure{Code: landfall.CodeAlreadyImported, Violations: []landfall.Violation{{Code: landfall.CodeAlreadyImported, Attr: "customers.0.family_name"}}},
	}); err != nil {
		t.Fatal(err)
	}
	h.signedIn(landfall.ConsoleSupport).wantPage("/console/accounts/NORTH/1/", "The account was delivered again", "<code>customers.0.family_name</code>", "It was not changed.")
}

// TestOperatorsActOnAccounts undoes and erases accounts, with a wrong confirmation first.
func TestOperatorsActOnAccounts(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	const path = "/console/accounts/NORTH/"
	if status, body := ada.post(path+"1/undo/", neturl.Values{"reason": {"the wrong tariff"}, "confirm": {"SOUTH"}}); status != http.StatusBadRequest ||
		!strings.Contains(body, "Type NORTH to confirm") || !strings.Contains(body, `value="the wrong tariff"`) {
		t.Errorf("undone without being confirmed: %d\n%s", status, body)
	}
	if status, body := ada.post(path+"1/undo/", neturl.Values{"reason": {"the wrong tariff"}, "confirm": {"NORTH"}}); status != http.StatusOK || !strings.Contains(body, " undone. It is staged again and keeps its number") {
		t.Errorf("undo: %d\n%s", status, body)
	}
	ada.wantPage(path+"1/", "staged", "Account undone: A-", "the wrong tariff", `class="quiet">ada<`)
	ada.wantPage(path+"4/", "a duplicate", "Unskip this account")
	if status, _ := ada.post(path+"3/erase/", neturl.Values{"reason": {"asked to"}, "confirm": {""}}); status != http.StatusBadRequest {
		t.Errorf("erased without being confirmed: %d", status)
	}
	if status, body := ada.post(path+"2/erase/", neturl.Values{"reason": {"asked to"}, "confirm": {"NORTH"}}); status != http.StatusOK ||
		!strings.Contains(body, "Personal data erased.") || !strings.Contains(body, "No staged data, or it was deleted") {
		t.Errorf("erase: %d\n%s", status, body)
	}
	if status, body := ada.post(path+"4/unskip/", neturl.Values{"reason": {""}}); status != http.StatusOK || !strings.Contains(body, "Account unskipped.") {
		t.Errorf("unskip: %d\n%s", status, body)
	}
	if status, body := ada.post(path+"3/skip/", neturl.Values{"reason": {"late"}}); status != http.StatusOK || !strings.Contains(body, "Account skipped.") {
		t.Errorf("skip: %d\n%s", status, body)
	}
	body := ada.wantPage(path+"2/", "account_erased", `data-name="Event">Personal data erased<`, "Attempt to create the account failed")
	ada.wantEscaped(path+"2/", body)
	if status, body := ada.get(path + "nobody/"); status != http.StatusNotFound || !strings.Contains(body, "was ever staged") {
		t.Errorf("an account that is not there: %d\n%s", status, body)
	}
}

// TestSearchFindsAccounts searches by everything that a caller might say. The
// results must be masked.
func TestSearchFindsAccounts(t *testing.T) {
	h := newTestConsole(t)
	key := seedAccounts(h)
	if _, err := h.store.IndexTerms(t.Context()); err != nil {
		t.Fatal(err)
	}
	sam := h.signedIn(landfall.ConsoleSupport)
	for _, words := range []string{"lovel", "ada@mail", "07400 123456", "sw1y 4jh", "1200023305967", "5967", "lovelase sw1y", "james square lovelace"} {
		body := sam.wantPage("/console/search/found/?q="+neturl.QueryEscape(words), "/console/accounts/NORTH/1/", "A•• M•••• L•••••••", "London", "SW1Y", "£0.40 in credit")
		sam.wantEscaped(words, body)
		if strings.Contains(body, "<html") || strings.Contains(body, "Lovelace") {
			t.Errorf("%q gives\n%s", words, body)
		}
	}
	sam.wantPage("/console/search/?q=lovelace", `hx-get="/console/search/found/"`, "4 accounts", "imported", "staged", "failed", "skipped")
	sam.wantPage("/console/search/?q="+neturl.QueryEscape("<script>nobody"), "No accounts match", "&lt;script&gt;nobody")
	sam.wantPage("/console/search/?q=x", "at least 2 characters")
	sam.wantPage("/console/search/?q=", "at least 2 characters")
	var number string
	if err := h.store.View(t.Context(), func(view landfall.View) error {
		process, err := view.Process(t.Context(), key)
		number = process.AccountNumber
		return err
	}); err != nil {
		t.Fatal(err)
	}
	sam.wantPage("/console/search/?q="+number, "<h1>"+number+"</h1>", "in credit")
	sam.wantPage("/console/accounts/"+number+"/", "<h1>"+number+"</h1>")
}

// TestCallersAreChecked compares what a caller says with an account of every state. The
// page and the audit never contain the account's own value, nor what was said.
func TestCallersAreChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		h := testConsoleOn(t, url)
		seedAccounts(h)
		refused := landfall.Key{Supplier: "NORTH", External: "REF-9"}
		if err := h.store.Refuse(t.Context(), landfall.Refusal{Key: refused, Failure: landfall.Failure{Code: "account_failed_validation", Detail: "x"},
			Document: []byte(`{"customers": [{"given_name": "Grace", "family_name": "Hopper", "email": "grace@mail.co.uk", "date_of_birth": "1985-12-10"}], "billing_postcode": "SW1Y 4JH"}`)}); err != nil {
			t.Fatal(err)
		}
		sam := h.signedIn(landfall.ConsoleSupport)
		for _, external := range []string{"1", "2", "REF-9"} {
			path := "/console/accounts/NORTH/" + external + "/"
			sam.wantPage(path, "The caller says…", "What happens next", "•••@mail.co.uk")
			for said, want := range map[[2]string]string{
				{"date_of_birth", "10/12/1985"}: "Yes: the date of birth matches.", {"date_of_birth", "11 Dec 1985"}: "No: the date of birth does not match.",
				{"postcode", "sw1y4jh"}: "Yes: the postcode matches.", {"email", "nobody@mail.co.uk"}: "No: the email address does not match.",
				{"date_of_birth", "soon"}: "Type the date of birth as 31/12/1980",
			} {
				_, body := sam.post(path+"check/", neturl.Values{"fact": {said[0]}, "said": {said[1]}})
				if !strings.Contains(body, want) || strings.Contains(body, "1985") && !strings.Contains(said[1], "1985") {
					t.Errorf("%s says %q:\n%s", external, said, body)
				}
			}
			sam.post(path+"check/", neturl.Values{"fact": {"email"}, "said": {"x@y"}})
			if status, body := sam.post(path+"check/", neturl.Values{"fact": {"email"}, "said": {"x@y"}}); status != http.StatusTooManyRequests || !strings.Contains(body, "was checked 5 times in 10 minutes") {
				t.Errorf("the sixth check: %d\n%s", status, body)
			}
			if err := h.store.View(t.Context(), func(view landfall.View) error {
				entries, err := view.Audit(t.Context(), "NORTH/"+external)
				said := ""
				for _, entry := range entries {
					said += entry.Detail + "\n"
				}
				if !strings.Contains(said, "date of birth: yes") || strings.Contains(said, "1985") || strings.Contains(said, "nobody@") {
					t.Errorf("the audit says %s", said)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The limit of checks holds for an account that was only refused, also when several
// people check it at the same time.
func TestCallersAreCheckedAtTheSameTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		h := testConsoleOn(t, url)
		h.seedBasics()
		key := landfall.Key{Supplier: "NORTH", External: "REF-9"}
		if err := h.store.Refuse(t.Context(), landfall.Refusal{Key: key, Failure: landfall.Failure{Code: "account_failed_validation", Detail: "x"},
			Document: []byte(`{"customers": [{"given_name": "Grace", "family_name": "Hopper", "email": "grace@mail.co.uk"}]}`)}); err != nil {
			t.Fatal(err)
		}
		var answered atomic.Int32
		var all sync.WaitGroup
		for range 4 * limits.CallerChecks {
			all.Go(func() {
				if _, err := h.operator().CheckCaller(t.Context(), key, operate.CallerEmail, "nobody@mail.co.uk"); err == nil {
					answered.Add(1)
				}
			})
		}
		all.Wait()
		if answered.Load() != limits.CallerChecks {
			t.Errorf("%d checks were answered, not %d", answered.Load(), limits.CallerChecks)
		}
	})
}

// TestListsShowTheirAccounts opens every list of a supplier and checks that it has
// the accounts that its figure counts.
func TestListsShowTheirAccounts(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	const path = "/console/suppliers/NORTH/"
	for state, wanted := range map[string]string{"all": ">1<", "staged": ">3<", "imported": ">1<", "failed": ">2<", "skipped": ">4<"} {
		body := ada.wantPage(path+"accounts/?state="+state, wanted, "accounts.csv?state="+state)
		if strings.Contains(body, "/accounts/NORTH/4/") != (state == "skipped" || state == "all") {
			t.Errorf("%s has\n%s", state, body)
		}
		if strings.Contains(body, "/accounts/NORTH/2/") != (state == "failed" || state == "all") {
			t.Errorf("%s has\n%s", state, body)
		}
	}
	ada.wantPage(path+"accounts/?state=failed&code=invalid_type&attr=customers.*.email", "/accounts/NORTH/2/", "invalid_type")
	ada.wantPage(path+"accounts/?state=failed&code=other", "No account has this error any more")
	ada.wantPage(path+"failures/", "1 account", "invalid_type", "customers.*.email", "clears 1 of 1 (100 %)", "Invalid type", "Retry this account", "Download", "state=faulty")
	ada.wantPage(path+"reconciliation/", "No control totals received yet", "Accounts", "Sign off", "reason=pending")
	ada.wantPage(path+"reconciliation/accounts/?measure=accounts&reason=pending", "/accounts/NORTH/3/")
	if status, _ := ada.get(path + "reconciliation/accounts/?measure=nonsense&reason=pending"); status != http.StatusBadRequest {
		t.Errorf("a measure that is none: %d", status)
	}
	if status, _ := ada.get("/console/suppliers/NOWHERE/accounts/"); status != http.StatusNotFound {
		t.Errorf("a supplier that is not there: %d", status)
	}
	_, table := ada.get(path + "accounts.csv?state=all")
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) != 5 || rows[0][1] != "external_account_number" {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestLongListsArePaged checks that every account is on exactly one page.
func TestLongListsArePaged(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	for external := range accountsPerPage + 5 {
		text := []byte(`{}`)
		if _, err := h.store.Stage(t.Context(), landfall.Staging{
			Key: landfall.Key{Supplier: "NORTH", External: fmt.Sprintf("=X%03d", external)}, Document: text, Hash: sha256.Sum256(text),
		}); err != nil {
			t.Fatal(err)
		}
	}
	sam := h.signedIn(landfall.ConsoleSupport)
	seen := map[string]bool{}
	pages := 0
	for path := "/console/suppliers/NORTH/accounts/?state=staged"; path != ""; pages++ {
		body := sam.wantPage(path, `<table class="cards">`)
		for _, part := range strings.Split(body, `href="/console/accounts/NORTH/`)[1:] {
			name, _, _ := strings.Cut(part, `/"`)
			if seen[name] {
				t.Errorf("%s is on two pages", name)
			}
			seen[name] = true
		}
		path = ""
		if before, _, is := strings.Cut(body, `rel="next"`); is && strings.Contains(body, `<a href="/console/suppliers/NORTH/accounts/?`) {
			next, _, _ := strings.Cut(before[strings.LastIndex(before, `href="`)+len(`href="`):], `"`)
			path = strings.ReplaceAll(next, "&amp;", "&")
		}
	}
	if pages != 2 || len(seen) != accountsPerPage+5+1 {
		t.Errorf("%d accounts on %d pages", len(seen), pages)
	}
	if _, table := sam.get("/console/suppliers/NORTH/accounts.csv?state=staged"); !strings.Contains(table, ",'=X001,") {
		t.Errorf("the CSV contains a formula:\n%.300s", table)
	}
}
