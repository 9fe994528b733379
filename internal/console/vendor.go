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

// vendorsPage lists the payment vendors and how they do.
type vendorsPage struct {
	pageHead
	vendorForm
	Vendors []vendorPage
}

// vendorPage is one of them with who may use it.
type vendorPage struct {
	pageHead
	vendorForm
	operate.VendorFacts
	Health             string
	GrantableSuppliers []landfall.Supplier // without a grant
	CheckResult        string              // of the vendor to a check, this once
	Types              []string
}

// vendorForm is how a vendor is set, and what stands in the fields.
type vendorForm struct {
	Adapters   []adapterOption
	VendorCode string // its code; "" while it is a new one
	Current    landfall.Vendor
}

// adapterOption is a way to speak to vendors.
type adapterOption struct{ Name, Label string }

var adapters = []adapterOption{
	{"stripe", "Stripe"}, {"gocardless", "GoCardless"}, {"json", "a service of yours that answers JSON"}, {"sandbox", "nobody: it answers by itself, for trials"},
}

// vendorHealthHelp says what to do about how a vendor does.
var vendorHealthHelp = map[string]string{
	"": "This replica has not asked it since it started. Ask it below.", "good": "It answers.",
	"failing":           "It does not answer, and is asked less often until it does. Accounts with its instructions fail meanwhile and can be run again.",
	"failed":            "It cannot be asked: its configuration is wrong, or the environment variable with its credential is not set on this replica.",
	"refused by vendor": "It does not accept our credential or configuration.",
}

// HealthHelp says what the vendor's health means.
func (p vendorPage) HealthHelp() string { return vendorHealthHelp[p.Health] }

// SettingsText are the adapter's settings as they are typed.
func (f vendorForm) SettingsText() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(f.Current.Settings)) {
		lines = append(lines, name+"="+f.Current.Settings[name])
	}
	return strings.Join(lines, "\n")
}

func listVendors(r *pageRequest) (any, error) {
	found, err := r.operator().Vendors(r.Context())
	page := vendorsPage{pageHead: adminHead("Vendors", "vendors"), vendorForm: vendorForm{Adapters: adapters}}
	for _, vendor := range found {
		page.Vendors = append(page.Vendors, vendorPage{VendorFacts: vendor, Health: r.vendorHealth(vendor.Code)})
	}
	return page, err
}

func (r *pageRequest) vendorHealth(code string) string {
	if r.console.VendorHealth == nil {
		return ""
	}
	return r.console.VendorHealth(code)
}

func showVendor(r *pageRequest) (any, error) { return r.vendorPage() }

func (r *pageRequest) vendorPage() (vendorPage, error) {
	code := r.PathValue("vendor")
	facts, err := r.operator().ShowVendor(r.Context(), code)
	page := vendorPage{
		pageHead: adminHead(code, "vendors").withParent("Vendors", consolePath("admin", "vendors")), VendorFacts: facts, Health: r.vendorHealth(code),
		vendorForm: vendorForm{adapters, code, facts.Vendor}, Types: landfall.InstructionTypes,
	}
	// The head and the form are filled in even then; the caller shows neither, since an error
	// goes before a page.
	if err != nil {
		return page, err
	}
	suppliers, err := r.operator().Suppliers(r.Context())
	for _, supplier := range suppliers {
		if !slices.Contains(facts.Grants.Suppliers, supplier.Code) {
			page.GrantableSuppliers = append(page.GrantableSuppliers, supplier)
		}
	}
	return page, err
}

// vendorFromForm reads a configuration. Private networks are opened on the machine
// of the service alone: whoever sits here cannot see what is in them.
func (r *pageRequest) vendorFromForm(code string) (landfall.Vendor, error) {
	vendor := landfall.Vendor{
		Code: code, Adapter: r.formValue("adapter"), BaseURL: r.formValue("base_url"), SecretEnv: r.formValue("secret_env"), Settings: map[string]string{},
	}
	for line := range strings.Lines(r.formValue("settings")) {
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

func createVendor(r *pageRequest) (any, error) {
	code := r.formValue("code")
	vendor, err := r.vendorFromForm(code)
	if err != nil {
		return nil, err
	}
	// Setting replaces, and nobody who makes a new one means to.
	if _, err := r.operator().ShowVendor(r.Context(), code); err == nil {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("There is a payment vendor %s already. Change it on its own page.", code))
	} else if known, is := errors.AsType[*landfall.Error](err); !is || known.Kind != landfall.NotFound {
		// Only that there is none lets it go on: a database that did not answer says nothing
		// about the vendor.
		return nil, err
	}
	return r.setVendor(vendor, "The vendor is set. Ask it about an instruction to see that it answers.")
}

func changeVendor(r *pageRequest) (any, error) {
	facts, err := r.operator().ShowVendor(r.Context(), r.PathValue("vendor"))
	if err != nil {
		return nil, err
	}
	vendor, err := r.vendorFromForm(facts.Code)
	if err != nil {
		return nil, err
	}
	// The form has no field for them, and setting replaces all: without this line a change here
	// would close them.
	vendor.Networks = facts.Networks
	return r.setVendor(vendor, "The configuration is kept.")
}

func (r *pageRequest) setVendor(vendor landfall.Vendor, say string) (any, error) {
	return redirect{to: consolePath("admin", "vendors", vendor.Code), message: say}, r.operator().SetVendor(r.Context(), vendor)
}

// checkVendor asks the vendor and shows what it says on the page that answers.
func checkVendor(r *pageRequest) (any, error) {
	details, err := r.operator().CheckVendor(r.Context(), r.PathValue("vendor"), landfall.Instruction{Reference: r.formValue("reference"), Type: r.formValue("type")})
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
		said = strings.Join(slices.DeleteFunc([]string{"It answered: the instruction can be used", details.Status, details.Scheme, lastDigitsText(details.LastDigits), details.Expiry},
			func(part string) bool { return part == "" }), ", ") + "."
	}
	// The page is read after the vendor was asked, so that its health is the one that came of it.
	page, err := r.vendorPage()
	page.CheckResult = said
	return page, err
}

func lastDigitsText(digits string) string {
	if digits == "" {
		return ""
	}
	return "ending " + digits
}

func vendorAction(say string, do func(*pageRequest, string) error) func(*pageRequest) (any, error) {
	return func(r *pageRequest) (any, error) {
		code := r.PathValue("vendor")
		return redirect{to: consolePath("admin", "vendors", code), message: say}, do(r, code)
	}
}

func removeVendor(r *pageRequest) (any, error) {
	code := r.PathValue("vendor")
	if err := r.requireConfirmation(code); err != nil {
		return nil, err
	}
	return redirect{to: consolePath("admin", "vendors"), message: code + " is removed. What it confirmed stays on the accounts."}, r.operator().RemoveVendor(r.Context(), code)
}

func vendorRoutes() []route {
	all, one := get("admin/vendors/", listVendors, "vendors"), get("admin/vendors/{vendor}/", showVendor, "vendor")
	of := func(act string, verb func(*pageRequest) (any, error)) route {
		return post("admin/vendors/{vendor}/"+act+"/", verb, one)
	}
	return []route{
		all, post("admin/vendors/", createVendor, all), one, of("set", changeVendor), of("check", checkVendor), of("remove", removeVendor),
		of("grant", vendorAction("The vendor is granted, and closed to suppliers without a grant.", func(r *pageRequest, code string) error {
			return r.operator().GrantVendor(r.Context(), code, r.formValue("supplier"))
		})),
		of("revoke", vendorAction("The grant is taken back.", func(r *pageRequest, code string) error {
			return r.operator().RevokeVendor(r.Context(), code, r.formValue("supplier"))
		})),
		of("open", vendorAction("The vendor is open to every supplier.", func(r *pageRequest, code string) error { return r.operator().OpenVendor(r.Context(), code) })),
	}
}
