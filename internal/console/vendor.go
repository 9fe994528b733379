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

// vendorsPage lists the payment vendors.
type vendorsPage struct {
	pageHead
	vendorForm
	Vendors []vendorPage
}

// vendorPage shows one payment vendor.
type vendorPage struct {
	pageHead
	vendorForm
	operate.VendorFacts
	Health             string
	GrantableSuppliers []landfall.Supplier
	CheckResult        string
	Types              []string
}

// vendorForm is the configuration form.
type vendorForm struct {
	Adapters   []adapterOption
	VendorCode string // "" for a new vendor
	Current    landfall.Vendor
}

type adapterOption struct{ Name, Label string }

var adapters = []adapterOption{
	{"stripe", "Stripe"}, {"gocardless", "GoCardless"}, {"json", "your own JSON service"}, {"sandbox", "built-in answers, for tests"},
}

// vendorHealthHelp says what to do about a vendor's health.
var vendorHealthHelp = map[string]string{
	"": "This replica has not called the vendor since it started. Check an instruction below.", "good": "The vendor responds.",
	"failing":           "The vendor does not respond and is called less often until it does. Accounts with its instructions fail and can be retried.",
	"failed":            "The vendor cannot be called: its configuration is wrong, or its credential variable is not set on this replica.",
	"refused by vendor": "The vendor does not accept our credential or configuration.",
}

// HealthHelp says what the vendor's health means.
func (p vendorPage) HealthHelp() string { return vendorHealthHelp[p.Health] }

// SettingsText is the adapter's settings as people type them.
func (f vendorForm) SettingsText() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(f.Current.Settings)) {
		lines = append(lines, name+"="+f.Current.Settings[name])
	}
	return strings.Join(lines, "\n")
}

func listVendors(r *pageRequest) (any, error) {
	vendors, err := r.operator().Vendors(r.Context())
	page := vendorsPage{pageHead: adminHead("Vendors", "vendors"), vendorForm: vendorForm{Adapters: adapters}}
	for _, vendor := range vendors {
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
	if err != nil {
		return vendorPage{}, err
	}
	suppliers, err := r.operator().Suppliers(r.Context())
	return vendorPage{
		pageHead: adminHead(code, "vendors").withParent("Vendors", "vendors"), VendorFacts: facts, Health: r.vendorHealth(code),
		vendorForm: vendorForm{adapters, code, facts.Vendor}, Types: landfall.InstructionTypes,
		GrantableSuppliers: without(suppliers, facts.Grants.Suppliers),
	}, err
}

// vendorFromForm reads a configuration. It has no private networks: they can only
// be opened on the server, by somebody who knows what is in them.
func (r *pageRequest) vendorFromForm(code string) (landfall.Vendor, error) {
	vendor := landfall.Vendor{
		Code: code, Adapter: r.formValue("adapter"), BaseURL: r.formValue("base_url"), SecretEnv: r.formValue("secret_env"), Settings: map[string]string{},
	}
	for line := range strings.Lines(r.formValue("settings")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, setting, is := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !is || name == "" {
			return vendor, landfall.Refuse(landfall.CodeValidationFailed, "Write settings as NAME=VALUE, one per line.")
		}
		vendor.Settings[name] = strings.TrimSpace(setting)
	}
	return vendor, nil
}

func createVendor(r *pageRequest) (any, error) {
	code := r.formValue("code")
	vendor, err := r.vendorFromForm(code)
	if err != nil {
		return nil, err
	}
	// SetVendor replaces a vendor, which nobody wants who adds one.
	_, err = r.operator().ShowVendor(r.Context(), code)
	if err == nil {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Payment vendor %s already exists. Change it on its own page.", code))
	}
	if known, is := errors.AsType[*landfall.Error](err); !is || known.Kind != landfall.NotFound {
		return nil, err
	}
	return redirect{consolePath("admin", "vendors", code), "Vendor added. Check an instruction to see whether it works."}, r.operator().SetVendor(r.Context(), vendor)
}

func changeVendor(r *pageRequest) error {
	facts, err := r.operator().ShowVendor(r.Context(), r.PathValue("vendor"))
	if err != nil {
		return err
	}
	vendor, err := r.vendorFromForm(facts.Code)
	if err != nil {
		return err
	}
	vendor.Networks = facts.Networks // the form has no field for them
	return r.operator().SetVendor(r.Context(), vendor)
}

// checkVendor asks the vendor about an instruction and shows its answer.
func checkVendor(r *pageRequest) (any, error) {
	details, err := r.operator().CheckVendor(r.Context(), r.PathValue("vendor"), landfall.Instruction{Reference: r.formValue("reference"), Type: r.formValue("type")})
	refusal, known := errors.AsType[*landfall.Error](err)
	answers := []string{landfall.CodeInstructionNotFound, landfall.CodeInstructionTypeMismatch, landfall.CodeInstructionInactive}
	var text string
	switch {
	case known && slices.Contains(answers, refusal.Code):
		text = "The vendor answered: " + refusal.Detail
	// An error with a code of its own is the vendor's. As an internal error it would
	// be shown as ours, without its text.
	case known && refusal.Kind == landfall.Internal && refusal.Code != landfall.CodeInternalError:
		unavailable := *refusal
		unavailable.Kind = landfall.Unavailable
		return nil, &unavailable
	case err != nil:
		return nil, err
	default:
		parts := []string{"The vendor answered: the instruction can be used", details.Status, details.Scheme}
		if details.LastDigits != "" {
			parts = append(parts, "ending "+details.LastDigits)
		}
		parts = slices.DeleteFunc(append(parts, details.Expiry), func(part string) bool { return part == "" })
		text = strings.Join(parts, ", ") + "."
	}
	page, err := r.vendorPage() // after the check, to show its effect on the health
	page.CheckResult = text
	return page, err
}

func vendorRoutes() []route {
	list, vendor := get("admin/vendors/", listVendors, "vendors"), get("admin/vendors/{vendor}/", showVendor, "vendor")
	to := pathTo("admin", "vendors", "{vendor}")
	change := func(name string, handle handlerFunc) route {
		return post("admin/vendors/{vendor}/"+name+"/", handle, vendor)
	}
	return []route{
		list, post("admin/vendors/", createVendor, list), vendor,
		change("set", action(to, "Configuration saved.", changeVendor)), change("check", checkVendor),
		change("remove", confirmedAction("vendor", pathTo("admin", "vendors"), "Vendor removed. Confirmed instructions stay on their accounts.", withName("vendor", (*operate.Operator).RemoveVendor))),
		change("grant", action(to, "Access granted. Only granted suppliers can use this vendor.", func(r *pageRequest) error {
			return r.operator().GrantVendor(r.Context(), r.PathValue("vendor"), r.formValue("supplier"))
		})),
		change("revoke", action(to, "Access removed.", func(r *pageRequest) error {
			return r.operator().RevokeVendor(r.Context(), r.PathValue("vendor"), r.formValue("supplier"))
		})),
		change("open", action(to, "All suppliers can use this vendor.", withName("vendor", (*operate.Operator).OpenVendor))),
	}
}
