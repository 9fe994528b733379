package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/outbound/mail"
	"landfall/internal/test/dbtest"
)

// A new supplier is made with one form, and its page says what it needs next.
func TestAddASupplier(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database string) {
		h := testConsoleOn(t, database)
		ada := h.signedIn(landfall.ConsoleAdministrator)
		ada.wantPage("/console/", "Add the first one")
		ada.wantPage("/console/admin/suppliers/new/", "gb-energy@1")
		form := url.Values{
			"code": {"NORTH"}, "name": {"North Power"}, "currency": {"EUR"}, "region": {"IE"}, "time_zone": {"Nowhere"}, "statement_amounts": {"minor"},
			"organisation": {"Acme"}, "team": {"Night Team"}, "packs": {"gb-energy@1"},
		}
		if status, body := ada.post("/console/admin/suppliers/new/", form); status != http.StatusBadRequest || !strings.Contains(body, `value="Nowhere"`) ||
			!strings.Contains(body, `value="gb-energy@1" checked`) {
			t.Errorf("a wrong time zone: %d\n%s", status, body)
		}
		form.Set("time_zone", "Europe/Dublin")
		status, body := ada.post("/console/admin/suppliers/new/", form)
		if status != http.StatusOK || !strings.Contains(body, "Supplier NORTH created.") || !strings.Contains(body, "Create a key") || strings.Contains(body, "Grant access") {
			t.Fatalf("%d\n%s", status, body)
		}
		facts, err := h.operator().ShowSupplier(t.Context(), "NORTH")
		if err != nil {
			t.Fatal(err)
		}
		if facts.Name != "North Power" || facts.Currency != "EUR" || facts.Region != "IE" || facts.TimeZone != "Europe/Dublin" || facts.StatementAmounts != landfall.MinorUnits ||
			strings.Join(facts.Packs, " ") != "gb-energy@1" || strings.Join(facts.Grantees, " ") != "Acme" {
			t.Errorf("got %+v", facts)
		}
		if status, body := ada.post("/console/admin/suppliers/new/", form); status != http.StatusBadRequest || !strings.Contains(body, "already an import supplier") {
			t.Errorf("twice: %d\n%s", status, body)
		}
	})
}

// Control totals that are entered by hand count at once and name who entered them.
func TestEnterControlTotals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database string) {
		h := testConsoleOn(t, database)
		h.seedBasics()
		ada, sam := h.signedIn(landfall.ConsoleAdministrator), h.signedIn(landfall.ConsoleSupport)
		const path = "/console/suppliers/NORTH/reconciliation/totals/"
		ada.wantPage(path, "No control totals received yet", `name="count:accounts"`, `name="amount:balances.GBP"`, `name="count:transactions.GBP.PAYMENT"`)
		for text, wrong := range map[string]url.Values{
			"not a whole number":        {"count:accounts": {"many"}},
			"at least one figure":       {"count:accounts": {" "}},
			"amount:balances.GBP\" val": {"amount:balances.GBP": {"12.345"}},
		} {
			if status, body := ada.post(path, wrong); status != http.StatusBadRequest || !strings.Contains(body, text) || !strings.Contains(body, `role="alert"`) {
				t.Errorf("%v: %d\n%s", wrong, status, body)
			}
		}
		right := url.Values{"count:accounts": {"3,948"}, "amount:balances.GBP": {"-12,345.60"}, "count:transactions.GBP.PAYMENT": {"7"}, "amount:transactions.GBP.PAYMENT": {"70.00"}, "count:notes": {""}}
		if status, body := sam.post(path, right); status != http.StatusForbidden {
			t.Errorf("support set control totals: %d\n%s", status, body)
		}
		if status, body := ada.post(path, right); status != http.StatusOK || !strings.Contains(body, "Control totals saved.") || !strings.Contains(body, "entered by ada") || !strings.Contains(body, "3,948") {
			t.Fatalf("%d\n%s", status, body)
		}
		ada.wantPage(path, `value="3948"`, `value="-12345.60"`, "accounts=3948")
		right.Set("count:accounts", "3949")
		for range 2 { // the second time changes nothing
			if status, body := ada.post(path, right); status != http.StatusOK {
				t.Fatalf("%d\n%s", status, body)
			}
		}
		body := ada.wantPage("/console/admin/audit/?action=control_totals.", "accounts=3948", "accounts=3949", "ada")
		if count := strings.Count(body, `<code class="small">control_totals.set</code>`); count != 2 {
			t.Errorf("%d entries, want 2", count)
		}
	})
}

// Mails are listed by state, shown without personal data and sent again, one or all of
// a cause.
func TestMailsPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database string) {
		w := testConsoleOn(t, database).withRunner()
		w.seedBasics()
		ctx := t.Context()
		composer, err := mail.NewComposer(mail.BuiltinTemplates(), "Acme <hello@acme.example>", "")
		if err != nil {
			t.Fatal(err)
		}
		w.console.Composer = composer
		if err := w.operator().Grant(ctx, "NORTH", "Acme"); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Update(ctx, func(tx landfall.Tx) error {
			supplier, err := tx.Supplier(ctx, "NORTH")
			if err != nil {
				return err
			}
			supplier.SendCustomerEmails = true
			return tx.SaveSupplier(ctx, supplier)
		}); err != nil {
			t.Fatal(err)
		}
		w.stage("NORTH", 12, false)
		w.runAll("NORTH")
		batch, err := w.store.ClaimMails(ctx, landfall.MailRequest{Max: 3, PerMinute: 10_000, Lease: time.Hour})
		if err != nil || len(batch.Mails) != 3 {
			t.Fatalf("%d mails, %v", len(batch.Mails), err)
		}
		for i, claimed := range batch.Mails {
			reply := []string{"550 5.1.1 " + claimed.To + " unknown", "550 5.1.1 no such person", "554 5.7.1 refused"}[i]
			if err := w.store.SettleMail(ctx, landfall.MailResult{ID: claimed.ID, Token: claimed.Token, State: landfall.MailRefused, Attempted: true, Reply: reply}); err != nil {
				t.Fatal(err)
			}
		}
		w.wantMailsOfOthers()
		operator, sam := w.signedInAs("olga", landfall.ConsoleOperator), w.signedIn(landfall.ConsoleAuditor)
		body := operator.wantPage("/console/admin/mails/?state=refused", "Resend these 2", "550 5.1.1", "554 5.7.1", "***@")
		if strings.Contains(body, batch.Mails[0].To) || strings.Contains(body, "no such person") {
			t.Error("an address or the text of a mail server is shown")
		}
		if body := sam.wantPage("/console/admin/mails/?state=refused", "550 5.1.1"); strings.Contains(body, "Resend") {
			t.Error("an auditor may resend")
		}
		if status, body := operator.post("/console/admin/mails/", url.Values{"supplier": {"NORTH"}, "cause": {"550 5.1.1"}}); status != http.StatusOK || !strings.Contains(body, "2 mails are waiting") {
			t.Errorf("%d\n%s", status, body)
		}
		one := consolePath("admin", "mails", strconv.FormatInt(batch.Mails[2].ID, 10))
		operator.wantPage(one, "554 5.7.1", "Resend", batch.Mails[2].AccountNumber, "North Power")
		if status, body := operator.post(one+"withdraw/", url.Values{"reason": {"told by phone"}}); status != http.StatusOK || !strings.Contains(body, "told by phone") {
			t.Errorf("%d\n%s", status, body)
		}
		if status, body := operator.post(one+"retry/", nil); status != http.StatusOK || !strings.Contains(body, "waiting to be sent again") {
			t.Errorf("%d\n%s", status, body)
		}
		if body := operator.wantPage("/console/admin/mails/?state=refused", "No mails match"); strings.Contains(body, "554") {
			t.Error("a refused mail is left")
		}
		operator.wantPage("/console/admin/mails/?state=queued&supplier=NORTH", batch.Mails[0].Key.External)
		operator.wantPage("/console/admin/audit/?action=mail.", "2 mails, were refused", "was withdrawn")
	})
}

// wantMailsOfOthers lists the newest mails for somebody who may not see the supplier of
// all of these. The page must not end there.
func (w *testWorld) wantMailsOfOthers() {
	w.t.Helper()
	ctx := w.t.Context()
	if _, err := w.operator().CreateSupplier(ctx, "HIDDEN", supplierNamed("Hidden")); err != nil {
		w.t.Fatal(err)
	}
	if err := w.operator().Grant(ctx, "HIDDEN", "Acme"); err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Update(ctx, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(ctx, "HIDDEN")
		if err != nil {
			return err
		}
		supplier.SendCustomerEmails = true
		return tx.SaveSupplier(ctx, supplier)
	}); err != nil {
		w.t.Fatal(err)
	}
	w.stage("HIDDEN", 12, false)
	w.runAll("HIDDEN")
	person := landfall.Operator{Name: "hugo", Role: landfall.ConsoleOperator, SupplierRoles: map[string]landfall.OperatorRole{"HIDDEN": landfall.NoRole}}
	found := 0
	if err := w.operator().For(person).Mails(ctx, landfall.MailQuery{Newest: true, Limit: 4}, func(one landfall.MailRecord) error {
		if one.Key.Supplier != "NORTH" {
			w.t.Errorf("a mail of %s is listed", one.Key.Supplier)
		}
		found++
		return nil
	}); err != nil || found != 4 {
		w.t.Errorf("%d mails are listed, not 4: %v", found, err)
	}
}

// The settings of a supplier choose its packs. A form without any takes them away, and one
// that does not show them leaves them as they are.
func TestSettingsChoosePacks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database string) {
		h := testConsoleOn(t, database)
		h.seedBasics()
		ada := h.signedIn(landfall.ConsoleAdministrator)
		const path = "/console/suppliers/NORTH/settings/"
		packs, err := h.operator().Packs(t.Context())
		if err != nil || len(packs) == 0 {
			t.Fatal(packs, err)
		}
		name := packs[0].Name()
		form := url.Values{"name": {"North"}, "currency": {"GBP"}, "region": {"GB"}, "time_zone": {"Europe/London"}, "document_root": {"NORTH"}}
		save := func(shown bool, chosen ...string) {
			t.Helper()
			form.Del("shows_packs")
			if form["packs"] = chosen; shown {
				form.Set("shows_packs", "yes")
			}
			if status, body := ada.post(path, form); status != http.StatusOK {
				t.Fatalf("%d\n%s", status, body)
			}
		}
		box := `name="packs" value="` + name + `"`
		ada.wantPage(path, box+">")
		save(true, name)
		ada.wantPage(path, box+" checked>")
		save(false)
		ada.wantPage(path, box+" checked>")
		save(true)
		ada.wantPage(path, box+">")
		save(true, name)
		h.signedInAs("amy", landfall.ConsoleAuditor).wantPage(path, "<dt>Packs</dt>", name)
		form["packs"] = []string{"nothing-1"}
		if status, body := ada.post(path, form); status != http.StatusBadRequest || !strings.Contains(body, `role="alert"`) {
			t.Errorf("an unknown pack: %d\n%s", status, body)
		}
	})
}
