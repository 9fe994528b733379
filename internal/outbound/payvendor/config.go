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

// The names of the adapters.
const (
	Stripe     = "stripe"
	GoCardless = "gocardless"
	JSON       = "json"
	Sandbox    = "sandbox"
)

// Adapters lists the adapters.
var Adapters = []string{Stripe, GoCardless, JSON, Sandbox}

// vendorConfig is the parsed configuration of a vendor.
type vendorConfig struct {
	networks []netip.Prefix
	build    func(client *http.Client, secret string) vendorAdapter
}

// Check validates the configuration of a vendor and returns an Error with one violation per
// problem. It does not connect and needs no secret, so you can configure a vendor on a
// machine without the credentials. It never repeats values, because operators may paste
// a secret into the wrong field. variables may contain a secret in addition to those that
// start with SecretPrefix.
func Check(vendor landfall.Vendor, variables ...string) error {
	_, err := parseConfig(vendor, variables)
	return err
}

// SecretPrefix is the prefix of environment variables that may contain a
// vendor's secret. Without it, anyone who can write to the database could have
// any variable sent to a server of their choice.
const SecretPrefix = "VENDOR_"

// settingsPrefix is the prefix of this program's settings, which are never allowed.
const settingsPrefix = "LANDFALL_"

// parseConfig parses a configuration.
func parseConfig(vendor landfall.Vendor, variables []string) (vendorConfig, error) {
	parser := &configParser{values: vendor.Settings, used: map[string]bool{}, variables: variables}
	if !codePattern.MatchString(vendor.Code) {
		parser.addError("code", "want up to 64 letters, digits and _ . : / -")
	}
	if !slices.Contains(Adapters, vendor.Adapter) {
		parser.addError("adapter", "want one of "+strings.Join(Adapters, ", "))
		return vendorConfig{}, parser.finish()
	}
	networks := parser.networks(vendor.Networks)
	parser.secretEnv(vendor)
	base := parser.base(vendor, networks)
	d := vendorConfig{networks: networks}
	switch vendor.Adapter {
	case Stripe:
		d.build = readStripe(parser, base)
	case GoCardless:
		d.build = readGoCardless(parser, base)
	case JSON:
		d.build = readGeneric(parser, base)
	case Sandbox:
		d.build = func(*http.Client, string) vendorAdapter { return sandbox{} }
	}
	return d, parser.finish()
}

var (
	codePattern     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$`)
	variablePattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
	defaultURLs     = map[string]string{
		Stripe:     "https://api.stripe.com",
		GoCardless: "https://api.gocardless.com",
	}
)

// configParser reads settings and collects violations.
type configParser struct {
	values     map[string]string
	used       map[string]bool
	variables  []string // that may contain a secret, in addition to those with the prefix
	violations []landfall.Violation
}

// addError adds a violation. The detail must not contain the value.
func (f *configParser) addError(attr, detail string) {
	f.violations = append(f.violations, landfall.Violation{Code: "invalid_setting", Attr: attr, Detail: detail})
}

// finish returns the violations. A setting that the adapter does not use is one too, since it is
// probably misspelled.
func (f *configParser) finish() error {
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if !f.used[name] {
			f.addError("settings."+name, "the adapter has no such setting")
		}
	}
	if len(f.violations) == 0 {
		return nil
	}
	first := f.violations[0]
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The vendor's configuration is invalid: "+first.Attr+": "+first.Detail+".")
	refusal.Violations = f.violations
	return refusal
}

// text returns a setting or its default.
func (f *configParser) text(name, fallback string) string {
	f.used[name] = true
	if value, ok := f.values[name]; ok {
		return value
	}
	return fallback
}

// flag returns a boolean setting.
func (f *configParser) flag(name string) bool {
	switch f.text(name, "false") {
	case "true":
		return true
	case "false":
	default:
		f.addError("settings."+name, "want true or false")
	}
	return false
}

// list returns a setting with values separated by commas.
func (f *configParser) list(name, fallback string) []string {
	var words []string
	for word := range strings.SplitSeq(f.text(name, fallback), ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// pointer returns a setting that is a JSON pointer; nil when it is not set.
func (f *configParser) pointer(name, fallback string) pointer {
	text := f.text(name, fallback)
	if text == "" {
		return nil
	}
	p, ok := newPointer(text)
	if !ok {
		f.addError("settings."+name, "want a JSON pointer such as /card/last4")
	}
	return p
}

// networks parses the private networks where the vendor is allowed.
func (f *configParser) networks(texts []string) []netip.Prefix {
	networks, err := guard.Networks(texts)
	if err != nil {
		f.addError("networks", err.Error())
	}
	return networks
}

// secretEnv checks the name of the variable. Only upper case is allowed, so that a pasted
// key is noticed.
func (f *configParser) secretEnv(vendor landfall.Vendor) {
	switch {
	case vendor.Adapter == Sandbox && vendor.SecretEnv != "":
		f.addError("secret_env", "the sandbox needs no secret")
	case vendor.SecretEnv == "" && (vendor.Adapter == Stripe || vendor.Adapter == GoCardless):
		f.addError("secret_env", "set the name of the environment variable with the vendor's key")
	case vendor.SecretEnv != "" && !variablePattern.MatchString(vendor.SecretEnv):
		f.addError("secret_env", "want the name of an environment variable in upper case, not the secret itself")
	case strings.HasPrefix(vendor.SecretEnv, settingsPrefix):
		f.addError("secret_env", "variables that start with "+settingsPrefix+" are settings of Landfall")
	case vendor.SecretEnv != "" && (!strings.HasPrefix(vendor.SecretEnv, SecretPrefix) || vendor.SecretEnv == SecretPrefix) && !slices.Contains(f.variables, vendor.SecretEnv):
		f.addError("secret_env", "the name must start with "+SecretPrefix+" or be listed in the setting vendor-secret-variables")
	}
}

// base parses the URL of the vendor: https, or plain http to an allowed loopback address.
func (f *configParser) base(vendor landfall.Vendor, networks []netip.Prefix) *url.URL {
	text := vendor.BaseURL
	if text == "" {
		text = defaultURLs[vendor.Adapter]
	}
	switch {
	case vendor.Adapter == Sandbox && text != "":
		f.addError("base_url", "the sandbox has no URL")
		return nil
	case vendor.Adapter == Sandbox:
		return nil
	case text == "":
		f.addError("base_url", "required")
		return nil
	}
	base, err := (&guard.Dialer{Allowed: networks}).ParseURL(text, false)
	if err != nil {
		f.addError("base_url", err.Error())
		return nil
	}
	if base.RawQuery != "" || base.ForceQuery {
		f.addError("base_url", "the URL must not have a query")
	}
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), ""
	return base
}
