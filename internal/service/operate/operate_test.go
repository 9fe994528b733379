package operate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

const actor = "operator:ada"

var ruleCodes = []string{"incorrect_tax_amount", "incorrect_line_item_net_amount", "phone_number_not_assigned"}

// fixture is an operator over a fresh store.
type fixture struct {
	*operate.Operator
	store landfall.Store
}

// each runs a test on both databases.
func each(t *testing.T, test func(*testing.T, fixture)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":     dbtest.SQLite,
		"postgresql": dbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, newFixture(t, address(t)))
		})
	}
}

// newFixture returns a fixture over a database.
func newFixture(t *testing.T, address string) fixture {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), address, sqlstore.Options{Server: true, ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return fixture{operate.New(store, operate.Options{Actor: actor, Rules: ruleCodes, SendsMail: true}), store}
}

// audit returns the audited actions on a subject, with their details.
func (d fixture) audit(t *testing.T, subject string) []string {
	t.Helper()
	var lines []string
	err := d.store.View(t.Context(), func(view landfall.View) error {
		entries, err := view.Audit(t.Context(), subject)
		for _, entry := range entries {
			if entry.Actor != actor || entry.At.IsZero() {
				t.Errorf("entry %+v", entry)
			}
			lines = append(lines, strings.TrimSuffix(entry.Action+": "+entry.Detail, ": "))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// events returns the events of a process or, with no external number, of a
// supplier.
func (d fixture) events(t *testing.T, key landfall.Key) []landfall.Event {
	t.Helper()
	var events []landfall.Event
	err := d.store.View(t.Context(), func(view landfall.View) error {
		var err error
		events, err = view.Events(t.Context(), key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// refusal checks that an error is a refusal with this code, and that its detail
// contains the parts.
func refusal(t *testing.T, what string, err error, code string, parts ...string) {
	t.Helper()
	var known *landfall.Error
	if !errors.As(err, &known) {
		t.Errorf("%s: %v, want a refusal", what, err)
		return
	}
	if known.Code != code {
		t.Errorf("%s: code %s, want %s", what, known.Code, code)
	}
	for _, part := range parts {
		if !strings.Contains(known.Detail, part) {
			t.Errorf("%s: %q does not say %q", what, known.Detail, part)
		}
	}
}

// TestSupplierLife changes everything an operator can change about a supplier. A
// setting that gets lost on the way would show only when accounts are wrongly
// refused or accepted.
func TestSupplierLife(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		made, err := d.CreateSupplier(ctx, "ACME", operate.SupplierChange{Name: new("Acme, Ltd"), DocumentRoot: new("imports/acme/")})
		must(t, err)
		if made.Currency != "GBP" || made.TimeZone != "Europe/London" || made.Status != landfall.Ongoing {
			t.Errorf("defaults are %+v", made)
		}
		_, err = d.CreateSupplier(ctx, "ACME", operate.SupplierChange{})
		refusal(t, "twice", err, landfall.CodeValidationFailed, "already", "supplier set ACME")

		changed, err := d.SetSupplier(ctx, "ACME", operate.SupplierChange{
			Status: new(landfall.Paused), Currency: new("EUR"), Region: new("DE"), TimeZone: new("Europe/Berlin"),
			ConcurrencyLimit: new(3), VerifyDocuments: new(true), SendCustomerEmails: new(true),
			Severities: map[string]landfall.Severity{"incorrect_tax_amount": landfall.SeverityError},
		})
		must(t, err)
		facts, err := d.ShowSupplier(ctx, "ACME")
		must(t, err)
		changed.CreatedAt = facts.CreatedAt
		same(t, "what is shown", facts.Supplier, changed)
		if facts.Status != landfall.Paused || facts.Name != "Acme, Ltd" || facts.Severities["incorrect_tax_amount"] != landfall.SeverityError {
			t.Errorf("facts are %+v", facts)
		}
		must(t, second(d.SetSupplier(ctx, "ACME", operate.SupplierChange{Name: new("Acme"),
			Severities: map[string]landfall.Severity{"incorrect_tax_amount": ""}})))
		listed, err := d.Suppliers(ctx)
		must(t, err)
		if len(listed) != 1 || len(listed[0].Severities) != 0 || listed[0].Status != landfall.Paused {
			t.Errorf("listed %+v", listed)
		}
		same(t, "audit", d.audit(t, "ACME"), []string{
			`supplier.create: name="Acme, Ltd", status=Ongoing, document_root="imports/acme/", currency=GBP, region=GB, time_zone=Europe/London, concurrency_limit=0, undo_window=72h0m0s, verify_documents=false, send_customer_emails=false, keep_runs=2160h0m0s`,
			`supplier.set: status=Paused (was Ongoing), currency=EUR (was GBP), region=DE (was GB), time_zone=Europe/Berlin (was Europe/London), concurrency_limit=3 (was 0), verify_documents=true (was false), send_customer_emails=true (was false), rule incorrect_tax_amount=error (was default)`,
			`supplier.set: name="Acme" (was "Acme, Ltd"), rule incorrect_tax_amount=default (was error)`,
		})
		events := d.events(t, landfall.Key{Supplier: "ACME"})
		if len(events) != 1 || events[0].Type != landfall.EventSupplierStatusChanged {
			t.Fatalf("events are %+v", events)
		}
		same(t, "event", events[0].Details, map[string]string{"from": "Ongoing", "to": "Paused"})
	})
}

func second[V any](_ V, err error) error { return err }

// TestGrants grants and revokes a supplier. If the revocation had no effect, an
// organisation could still see customers that it should not see.
func TestGrants(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, second(d.CreateSupplier(ctx, "S", operate.SupplierChange{})), d.CreateOrganisation(ctx, "Acme"))
		refusal(t, "unknown supplier", d.Grant(ctx, "T", "Acme"), landfall.CodeSupplierUnknown, `"T"`)
		refusal(t, "unknown organisation", d.Grant(ctx, "S", "Other"), landfall.CodeNotFound, `"Other"`)
		refusal(t, "nothing to revoke", d.Revoke(ctx, "S", "Acme"), landfall.CodeNotFound, "has no grant")
		must(t, d.Grant(ctx, "S", "Acme"), d.Grant(ctx, "S", "Acme"))
		facts, err := d.ShowSupplier(ctx, "S")
		must(t, err)
		same(t, "grantees", facts.Grantees, []string{"Acme"})
		must(t, d.Revoke(ctx, "S", "Acme"))
		facts, err = d.ShowSupplier(ctx, "S")
		must(t, err)
		if len(facts.Grantees) > 0 {
			t.Errorf("still granted to %v", facts.Grantees)
		}
		same(t, "audit", d.audit(t, "S")[1:], []string{"supplier.grant: to Acme", "supplier.grant: to Acme", "supplier.revoke: from Acme"})
	})
}

// TestOrganisationsAndTeams checks that a disabled organisation is not
// forgotten: its keys, its audit and its name must be there when it is enabled
// again.
func TestOrganisationsAndTeams(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, d.CreateOrganisation(ctx, "Acme"), d.CreateOrganisation(ctx, "Zebra & Söhne"), d.CreateTeam(ctx, "Migration Team"))
		refusal(t, "organisation twice", d.CreateOrganisation(ctx, "Acme"), landfall.CodeValidationFailed, "already")
		refusal(t, "team twice", d.CreateTeam(ctx, "Migration Team"), landfall.CodeValidationFailed, "already")
		must(t, d.DisableOrganisation(ctx, "Acme"))
		refusal(t, "disable nobody", d.DisableOrganisation(ctx, "Nobody"), landfall.CodeNotFound, "organisation list")
		organisations, err := d.Organisations(ctx)
		must(t, err)
		if len(organisations) != 2 || !organisations[0].Disabled || organisations[1].Disabled {
			t.Errorf("organisations are %+v", organisations)
		}
		must(t, d.EnableOrganisation(ctx, "Acme"))
		teams, err := d.Teams(ctx)
		must(t, err)
		if len(teams) != 1 || teams[0].Name != "Migration Team" {
			t.Errorf("teams are %+v", teams)
		}
		same(t, "audit", d.audit(t, "Acme"), []string{"organisation.create", "organisation.disable", "organisation.enable"})
		same(t, "audit of the team", d.audit(t, "Migration Team"), []string{"team.create"})
	})
}

// TestSkipMarks marks accounts as skipped. An account that is imported despite
// its mark belongs to a customer who has left.
func TestSkipMarks(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, second(d.CreateSupplier(ctx, "S", operate.SupplierChange{})))
		key := landfall.Key{Supplier: "S", External: "1/2"}
		refusal(t, "no number", d.Skip(ctx, landfall.Key{Supplier: "S", External: " 1"}, ""), landfall.CodeValidationFailed, "external account number")
		refusal(t, "nothing to unskip", d.Unskip(ctx, key, ""), landfall.CodeProcessUnknown, `"1/2"`)
		stage := func() landfall.StageVerdict {
			t.Helper()
			outcome, err := d.store.Stage(ctx, landfall.Staging{Key: key, Document: []byte(`{}`)})
			must(t, err)
			return outcome.Verdict
		}
		stage()
		refusal(t, "without a mark", d.Unskip(ctx, key, ""), landfall.CodeValidationFailed, "not marked")
		refusal(t, "blank reason", d.Skip(ctx, key, " "), landfall.CodeValidationFailed, "reason")
		refusal(t, "long reason", d.Skip(ctx, key, strings.Repeat("x", 501)), landfall.CodeValidationFailed, "501")
		must(t, d.Skip(ctx, key, ""))
		must(t, d.Unskip(ctx, key, ""))
		must(t, d.Skip(ctx, key, "account closed at source"))
		if verdict := stage(); verdict != landfall.RefusedSkipped {
			t.Errorf("staging a skipped account: %d", verdict)
		}
		must(t, d.Unskip(ctx, key, "opened again"))
		if verdict := stage(); verdict != landfall.StagedAgain {
			t.Errorf("staging after the mark was removed: %d", verdict)
		}
		var types []landfall.EventType
		for _, event := range d.events(t, key) {
			types = append(types, event.Type)
		}
		same(t, "events", types, []landfall.EventType{landfall.EventSkipped, landfall.EventUnskipped, landfall.EventSkipped, landfall.EventUnskipped})
		same(t, "audit", d.audit(t, "S/1/2"), []string{"account.skip", "account.unskip", "account.skip: account closed at source", "account.unskip: opened again"})
	})
}

// TestVendorLife configures a vendor again. A setting left over from before
// would send questions, and the credential, to an address that the operator
// believes is no longer used.
func TestVendorLife(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		vendor := landfall.Vendor{
			Code: "PAY", Adapter: "json", BaseURL: "https://pay.example", SecretEnv: "VENDOR_PAY_KEY",
			Networks: []string{"10.0.0.0/8"}, Settings: map[string]string{"types": "CARD", "header.Api-Version": "canary"},
		}
		must(t, d.SetVendor(ctx, vendor))
		refusal(t, "a secret in place of its name", d.SetVendor(ctx, landfall.Vendor{Code: "PAY", Adapter: "stripe", SecretEnv: "sk_live_1"}),
			landfall.CodeValidationFailed, "secret_env")
		vendors, err := d.Vendors(ctx)
		must(t, err)
		if len(vendors) != 1 {
			t.Fatalf("%d vendors", len(vendors))
		}
		vendor.CreatedAt = vendors[0].CreatedAt
		same(t, "the vendor", vendors[0].Vendor, vendor)
		same(t, "its grants", vendors[0].Grants, landfall.VendorGrants{AllSuppliers: true})

		// Setting it again replaces the whole configuration.
		must(t, d.SetVendor(ctx, landfall.Vendor{Code: "PAY", Adapter: "sandbox"}))
		vendors, err = d.Vendors(ctx)
		must(t, err)
		if vendors[0].SecretEnv != "" || len(vendors[0].Settings) != 0 || len(vendors[0].Networks) != 0 {
			t.Errorf("something stayed: %+v", vendors[0])
		}
		must(t, d.RemoveVendor(ctx, "PAY"))
		refusal(t, "removed twice", d.RemoveVendor(ctx, "PAY"), landfall.CodeVendorUnknown, "vendor list")
		same(t, "the audit", d.audit(t, "PAY"), []string{
			`vendor.set: adapter=json, base_url="https://pay.example", secret_env=VENDOR_PAY_KEY, network=10.0.0.0/8, setting header.Api-Version, setting types`,
			"vendor.set: adapter=sandbox", "vendor.remove",
		})
	})
}

// An impossible account number gets another refusal than one that no account
// has.
func TestAccountNumbersAreChecked(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		_, err := d.ShowAccountByNumber(t.Context(), "A-00000001")
		refusal(t, "a wrong check character", err, landfall.CodeAccountNotFound, "mistyped")
		_, err = d.ShowAccountByNumber(t.Context(), "a-00000000")
		refusal(t, "nobody's number", err, landfall.CodeAccountNotFound, "no account with the number A-00000000")
	})
}

// The refusal of a mistyped supplier names the supplier, not its accounts, and
// suggests the right code.
func TestMistypedNamesAreSuggested(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		_, err := d.CreateSupplier(ctx, "NORTH", operate.SupplierChange{})
		must(t, err)
		must(t, d.CreateOrganisation(ctx, "Acme Energy"))
		must(t, d.SetVendor(ctx, landfall.Vendor{Code: "SANDBOX", Adapter: "sandbox"}))
		mistyped := landfall.Key{Supplier: "NROTH", External: "1001"}
		_, err = d.ShowAccount(ctx, mistyped)
		refusal(t, "show", err, landfall.CodeSupplierUnknown, `no import supplier "NROTH". Did you mean NORTH?`)
		refusal(t, "skip", d.Skip(ctx, mistyped, ""), landfall.CodeSupplierUnknown, "Did you mean NORTH?")
		refusal(t, "unskip", d.Unskip(ctx, mistyped, ""), landfall.CodeSupplierUnknown, "Did you mean NORTH?")
		refusal(t, "far off", d.Grant(ctx, "PACIFIC", "Acme Energy"), landfall.CodeSupplierUnknown, `"PACIFIC". List them with: supplier list`)
		refusal(t, "organisation", d.Grant(ctx, "NORTH", "ACME energy"), landfall.CodeNotFound, "Did you mean Acme Energy?")
		refusal(t, "vendor", d.RemoveVendor(ctx, "SANDBX"), landfall.CodeVendorUnknown, "Did you mean SANDBOX?")
		_, err = d.ShowAccount(ctx, landfall.Key{Supplier: "NORTH", External: "1001"})
		refusal(t, "nothing staged", err, landfall.CodeProcessUnknown, "ever staged")
	})
}
