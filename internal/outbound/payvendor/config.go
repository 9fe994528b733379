package payvendor

import (
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/outbound/guard"
)

// The adapters' names.
const (
	Stripe     = "stripe"
	GoCardless = "gocardless"
	JSON       = "json"
	Sandbox    = "sandbox"
)

// Adapters lists the adapters' names in the order people expect them.
var Adapters = []string{Stripe, GoCardless, JSON, Sandbox}

// design is a vendor's configuration, read and found sound.
type design struct {
	networks []netip.Prefix
	build    func(client *http.Client, secret string) adapter
}

// Check reports what is wrong with a vendor's configuration, as an Error with
// one violation per fault. It asks nobody and needs no secret, so a vendor can
// be configured on another machine than the one that holds the credential. No
// value is echoed: operators paste secrets into the wrong place. The variables
// are those that may hold a secret besides the ones with our prefix.
func Check(vendor landfall.Vendor, variables ...string) error {
	_, err := read(vendor, variables)
	return err
}

// SecretPrefix begins the names of the variables that may hold a vendor's
// secret. Any other may hold somebody else's: whoever can write the database
// must not be able to have it sent to an address of his choice.
const SecretPrefix = "VENDOR_"

// ownPrefix begins the names of this program's settings, which no list opens.
const ownPrefix = "LANDFALL_"

// read checks a configuration and gives what can be built from it.
func read(vendor landfall.Vendor, variables []string) (design, error) {
	form := &form{values: vendor.Settings, asked: map[string]bool{}, variables: variables}
	if !codeForm.MatchString(vendor.Code) {
		form.fault("code", "a vendor's code is up to 64 letters, digits and _ . : / -")
	}
	if !slices.Contains(Adapters, vendor.Adapter) {
		form.fault("adapter", "the adapters are "+strings.Join(Adapters, ", "))
		return design{}, form.verdict()
	}
	networks := form.networks(vendor.Networks)
	form.secretEnv(vendor)
	base := form.base(vendor, networks)
	d := design{networks: networks}
	switch vendor.Adapter {
	case Stripe:
		d.build = readStripe(form, base)
	case GoCardless:
		d.build = readGoCardless(form, base)
	case JSON:
		d.build = readGeneric(form, base)
	case Sandbox:
		d.build = func(*http.Client, string) adapter { return sandbox{} }
	}
	return d, form.verdict()
}

// The forms of what operators type, and where the known vendors live.
var (
	codeForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$`)
	secretForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
	bases      = map[string]string{
		Stripe:     "https://api.stripe.com",
		GoCardless: "https://api.gocardless.com",
	}
)

// form reads settings and collects faults.
type form struct {
	values    map[string]string
	asked     map[string]bool
	variables []string // that may hold a secret, besides those with the prefix
	faults    []landfall.Violation
}

// fault notes what is wrong, and where, without quoting it.
func (f *form) fault(attr, detail string) {
	f.faults = append(f.faults, landfall.Violation{Code: "invalid_setting", Attr: attr, Detail: detail})
}

// verdict is the end of reading: a setting nobody asked for is a fault too,
// most likely a misspelled one.
func (f *form) verdict() error {
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if !f.asked[name] {
			f.fault("settings."+name, "the adapter has no such setting")
		}
	}
	if len(f.faults) == 0 {
		return nil
	}
	first := f.faults[0]
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The vendor's configuration is wrong at "+first.Attr+": "+first.Detail+".")
	refusal.Violations = f.faults
	return refusal
}

// text gives a setting, or what holds without it.
func (f *form) text(name, otherwise string) string {
	f.asked[name] = true
	if value, ok := f.values[name]; ok {
		return value
	}
	return otherwise
}

// flag gives a setting that is on or off.
func (f *form) flag(name string) bool {
	switch f.text(name, "false") {
	case "true":
		return true
	case "false":
	default:
		f.fault("settings."+name, "it is true or false")
	}
	return false
}

// list gives a setting of several words with commas between them.
func (f *form) list(name, otherwise string) []string {
	var words []string
	for word := range strings.SplitSeq(f.text(name, otherwise), ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// pointer gives a setting that is a JSON pointer; nil when it is absent.
func (f *form) pointer(name, otherwise string) pointer {
	text := f.text(name, otherwise)
	if text == "" {
		return nil
	}
	p, ok := newPointer(text)
	if !ok {
		f.fault("settings."+name, "it is a JSON pointer, for example /card/last4")
	}
	return p
}

// networks reads the private networks the vendor may be reached in.
func (f *form) networks(texts []string) []netip.Prefix {
	networks, err := guard.Networks(texts)
	if err != nil {
		f.fault("networks", err.Error())
	}
	return networks
}

// secretEnv checks the name of the variable. Capitals only: what a vendor
// issues as a key never looks like that, so one pasted here is noticed.
func (f *form) secretEnv(vendor landfall.Vendor) {
	switch {
	case vendor.Adapter == Sandbox && vendor.SecretEnv != "":
		f.fault("secret_env", "the sandbox needs no secret")
	case vendor.SecretEnv == "" && (vendor.Adapter == Stripe || vendor.Adapter == GoCardless):
		f.fault("secret_env", "name the environment variable that holds the vendor's key")
	case vendor.SecretEnv != "" && !secretForm.MatchString(vendor.SecretEnv):
		f.fault("secret_env", "it is the name of an environment variable in capitals, not the secret itself")
	case strings.HasPrefix(vendor.SecretEnv, ownPrefix):
		f.fault("secret_env", "variables beginning with "+ownPrefix+" are this program's own settings")
	case vendor.SecretEnv != "" && (!strings.HasPrefix(vendor.SecretEnv, SecretPrefix) || vendor.SecretEnv == SecretPrefix) && !slices.Contains(f.variables, vendor.SecretEnv):
		f.fault("secret_env", "its name begins with "+SecretPrefix+", or the setting vendor-secret-variables lists it")
	}
}

// base reads the vendor's address: https, or plain http to this very machine
// when the operator opened it.
func (f *form) base(vendor landfall.Vendor, networks []netip.Prefix) *url.URL {
	text := vendor.BaseURL
	if text == "" {
		text = bases[vendor.Adapter]
	}
	switch {
	case vendor.Adapter == Sandbox && text != "":
		f.fault("base_url", "the sandbox has no address")
		return nil
	case vendor.Adapter == Sandbox:
		return nil
	case text == "":
		f.fault("base_url", "it is needed")
		return nil
	}
	base, err := (&guard.Gate{Allowed: networks}).Address(text, false)
	if err != nil {
		f.fault("base_url", err.Error())
		return nil
	}
	if base.RawQuery != "" || base.ForceQuery {
		f.fault("base_url", "it ends with its path")
	}
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), ""
	return base
}
