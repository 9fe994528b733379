package console

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// vendorsShown lists the payment vendors and how they do.
type vendorsShown struct {
	head
	vendorForm
	Vendors []vendorShown
}

// vendorShown is one of them with who may use it.
type vendorShown struct {
	head
	vendorForm
	operate.VendorFacts
	Health string
	Others []landfall.Supplier // without a grant
	Answer string              // of the vendor to a check, this once
	Types  []string
}

// vendorForm is how a vendor is set, and what stands in the fields.
type vendorForm struct {
	Adapters []adapterShown
	For      string // its code; "" while it is a new one
	Was      landfall.Vendor
}

// adapterShown is a way to speak to vendors.
type adapterShown struct{ Name, Means string }

var adapters = []adapterShown{
	{"stripe", "Stripe"}, {"gocardless", "GoCardless"}, {"json", "a service of yours that answers JSON"}, {"sandbox", "nobody: it answers by itself, for trials"},
}

// healthMeans says what to do about how a vendor does.
var healthMeans = map[string]string{
	"": "This replica has not asked it since it started. Ask it below.", "good": "It answers.",
	"failing":           "It does not answer, and is asked less often until it does. Accounts with its instructions fail meanwhile and can be run again.",
	"failed":            "It cannot be asked: its configuration is wrong, or the environment variable with its credential is not set on this replica.",
	"refused by vendor": "It does not accept our credential or configuration.",
}

// HealthMeans says what the vendor's health means.
func (v vendorShown) HealthMeans() string { return healthMeans[v.Health] }

// Lines are the adapter's settings as they are typed.
func (f vendorForm) Lines() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(f.Was.Settings)) {
		lines = append(lines, name+"="+f.Was.Settings[name])
	}
	return strings.Join(lines, "\n")
}

func listVendors(v *visit) (any, error) {
	found, err := v.operator().Vendors(v.ctx())
	page := vendorsShown{head: adminHead("Vendors", "vendors"), vendorForm: vendorForm{Adapters: adapters}}
	for _, vendor := range found {
		page.Vendors = append(page.Vendors, vendorShown{VendorFacts: vendor, Health: v.vendorHealth(vendor.Code)})
	}
	return page, err
}

func (v *visit) vendorHealth(code string) string {
	if v.console.VendorHealth == nil {
		return ""
	}
	return v.console.VendorHealth(code)
}

func showVendor(v *visit) (any, error) { return v.vendor() }

func (v *visit) vendor() (vendorShown, error) {
	code := v.value("vendor")
	facts, err := v.operator().ShowVendor(v.ctx(), code)
	page := vendorShown{
		head: adminHead(code, "vendors").within("Vendors", address("admin", "vendors")), VendorFacts: facts, Health: v.vendorHealth(code),
		vendorForm: vendorForm{adapters, code, facts.Vendor}, Types: landfall.InstructionTypes,
	}
	// The head and the form are filled in even then; the caller shows neither, since an error
	// goes before a page.
	if err != nil {
		return page, err
	}
	suppliers, err := v.operator().Suppliers(v.ctx())
	for _, supplier := range suppliers {
		if !slices.Contains(facts.Grants.Suppliers, supplier.Code) {
			page.Others = append(page.Others, supplier)
		}
	}
	return page, err
}

// typedVendor reads a configuration. Private networks are opened on the machine
// of the service alone: whoever sits here cannot see what is in them.
func (v *visit) typedVendor(code string) (landfall.Vendor, error) {
	vendor := landfall.Vendor{
		Code: code, Adapter: v.typed("adapter"), BaseURL: v.typed("base_url"), SecretEnv: v.typed("secret_env"), Settings: map[string]string{},
	}
	for line := range strings.Lines(v.typed("settings")) {
		line = strings.TrimSpace(line)
		name, value, is := strings.Cut(line, "=")
		switch {
		case line == "":
		case !is || strings.TrimSpace(name) == "":
			return vendor, landfall.Refuse(landfall.CodeValidationFailed, "Settings are written NAME=VALUE, one in a line.")
		default:
			vendor.Settings[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return vendor, nil
}

func createVendor(v *visit) (any, error) {
	code := v.typed("code")
	vendor, err := v.typedVendor(code)
	if err != nil {
		return nil, err
	}
	// Setting replaces, and nobody who makes a new one means to.
	if _, err := v.operator().ShowVendor(v.ctx(), code); err == nil {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("There is a payment vendor %s already. Change it on its own page.", code))
	} else if known, is := errors.AsType[*landfall.Error](err); !is || known.Kind != landfall.NotFound {
		// Only that there is none lets it go on: a database that did not answer says nothing
		// about the vendor.
		return nil, err
	}
	return v.setVendor(vendor, "The vendor is set. Ask it about an instruction to see that it answers.")
}

func changeVendor(v *visit) (any, error) {
	facts, err := v.operator().ShowVendor(v.ctx(), v.value("vendor"))
	if err != nil {
		return nil, err
	}
	vendor, err := v.typedVendor(facts.Code)
	if err != nil {
		return nil, err
	}
	// The form has no field for them, and setting replaces all: without this line a change here
	// would close them.
	vendor.Networks = facts.Networks
	return v.setVendor(vendor, "The configuration is kept.")
}

func (v *visit) setVendor(vendor landfall.Vendor, say string) (any, error) {
	return done{to: address("admin", "vendors", vendor.Code), say: say}, v.operator().SetVendor(v.ctx(), vendor)
}

// checkVendor asks the vendor and shows what it says on the page that answers.
func checkVendor(v *visit) (any, error) {
	details, err := v.operator().CheckVendor(v.ctx(), v.value("vendor"), landfall.Instruction{Reference: v.typed("reference"), Type: v.typed("type")})
	var said string
	switch refusal, known := errors.AsType[*landfall.Error](err); {
	case known && (refusal.Code == landfall.CodeInstructionNotFound || refusal.Code == landfall.CodeInstructionTypeMismatch || refusal.Code == landfall.CodeInstructionInactive):
		said = "It answered: " + refusal.Detail // which is what a check is for
	// Refusals with a code of their own name the vendor's trouble. As internal errors they would
	// be shown as ours, without a word about the vendor.
	case known && refusal.Kind == landfall.Internal && refusal.Code != landfall.CodeInternalError:
		away := *refusal
		away.Kind = landfall.Unavailable // the vendor's fault, and the page says so
		return nil, &away
	case err != nil:
		return nil, err
	default:
		said = strings.Join(slices.DeleteFunc([]string{"It answered: the instruction can be used", details.Status, details.Scheme, ending(details.LastDigits), details.Expiry},
			func(part string) bool { return part == "" }), ", ") + "."
	}
	// The page is read after the vendor was asked, so that its health is the one that came of it.
	page, err := v.vendor()
	page.Answer = said
	return page, err
}

func ending(digits string) string {
	if digits == "" {
		return ""
	}
	return "ending " + digits
}

func onVendor(say string, do func(*visit, string) error) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		code := v.value("vendor")
		return done{to: address("admin", "vendors", code), say: say}, do(v, code)
	}
}

func removeVendor(v *visit) (any, error) {
	code := v.value("vendor")
	if err := v.confirmed(code); err != nil {
		return nil, err
	}
	return done{to: address("admin", "vendors"), say: code + " is removed. What it confirmed stays on the accounts."}, v.operator().RemoveVendor(v.ctx(), code)
}

func vendorPages() []page {
	all, one := reads("admin/vendors/", listVendors, "vendors"), reads("admin/vendors/{vendor}/", showVendor, "vendor")
	of := func(act string, verb func(*visit) (any, error)) page {
		return acts("admin/vendors/{vendor}/"+act+"/", verb, one)
	}
	return []page{
		all, acts("admin/vendors/", createVendor, all), one, of("set", changeVendor), of("check", checkVendor), of("remove", removeVendor),
		of("grant", onVendor("The vendor is granted, and closed to suppliers without a grant.", func(v *visit, code string) error {
			return v.operator().GrantVendor(v.ctx(), code, v.typed("supplier"))
		})),
		of("revoke", onVendor("The grant is taken back.", func(v *visit, code string) error {
			return v.operator().RevokeVendor(v.ctx(), code, v.typed("supplier"))
		})),
		of("open", onVendor("The vendor is open to every supplier.", func(v *visit, code string) error { return v.operator().OpenVendor(v.ctx(), code) })),
	}
}
