package payvendor

import (
	"errors"
	"maps"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"landfall"
)

func TestCheck(t *testing.T) {
	stripe := landfall.Vendor{Code: "S", Adapter: Stripe, SecretEnv: "VENDOR_STRIPE_KEY"}
	generic := landfall.Vendor{Code: "G", Adapter: JSON, BaseURL: "https://pay.example.com/api", SecretEnv: "VENDOR_KEY", Settings: map[string]string{"types": "CARD"}}
	set := func(vendor landfall.Vendor, change func(*landfall.Vendor)) landfall.Vendor {
		vendor.Settings = maps.Clone(vendor.Settings)
		if vendor.Settings == nil {
			vendor.Settings = map[string]string{}
		}
		change(&vendor)
		return vendor
	}
	base := func(url string, networks ...string) landfall.Vendor {
		return set(stripe, func(v *landfall.Vendor) { v.BaseURL, v.Networks = url, networks })
	}
	setting := func(vendor landfall.Vendor, name, value string) landfall.Vendor {
		return set(vendor, func(v *landfall.Vendor) { v.Settings[name] = value })
	}
	for _, c := range []struct {
		name   string
		vendor landfall.Vendor
		attr   string // "" when the configuration is valid
	}{
		{"stripe", stripe, ""},
		{"gocardless", landfall.Vendor{Code: "GC", Adapter: GoCardless, SecretEnv: "VENDOR_TOKEN", BaseURL: "https://api-sandbox.gocardless.com/"}, ""},
		{"generic", generic, ""},
		{"sandbox", landfall.Vendor{Code: "SANDBOX", Adapter: Sandbox}, ""},
		{"no adapter", landfall.Vendor{Code: "X"}, "adapter"},
		{"no code", set(stripe, func(v *landfall.Vendor) { v.Code = "" }), "code"},
		{"no secret", set(stripe, func(v *landfall.Vendor) { v.SecretEnv = "" }), "secret_env"},
		{"the secret itself", set(stripe, func(v *landfall.Vendor) { v.SecretEnv = canary }), "secret_env"},
		{"a setting of ours", set(stripe, func(v *landfall.Vendor) { v.SecretEnv = "LANDFALL_DATABASE" }), "secret_env"},
		{"somebody else's secret", set(stripe, func(v *landfall.Vendor) { v.SecretEnv = "AWS_SECRET_ACCESS_KEY" }), "secret_env"},
		{"listed by the server", set(stripe, func(v *landfall.Vendor) { v.SecretEnv = "OLD_STRIPE_KEY" }), ""},
		{"a listed setting of ours", set(stripe, func(v *landfall.Vendor) { v.SecretEnv = "LANDFALL_API_KEY" }), "secret_env"},
		{"sandbox with a secret", landfall.Vendor{Code: "X", Adapter: Sandbox, SecretEnv: "KEY"}, "secret_env"},
		{"sandbox with an address", landfall.Vendor{Code: "X", Adapter: Sandbox, BaseURL: "https://x.example"}, "base_url"},
		{"generic without an address", set(generic, func(v *landfall.Vendor) { v.BaseURL = "" }), "base_url"},
		{"file", base("file:///etc/passwd"), "base_url"},
		{"gopher", base("gopher://x.example/"), "base_url"},
		{"plain http", base("http://api.example.com"), "base_url"},
		{"plain http, network open", base("http://api.example.com", "0.0.0.0/0"), "base_url"},
		{"plain http, loopback not open", base("http://127.0.0.1:8000"), "base_url"},
		{"plain http, private", base("http://10.0.0.1", "10.0.0.0/8"), "base_url"},
		{"plain http, loopback open", base("http://127.0.0.1:8000", "127.0.0.0/8"), ""},
		{"plain http, localhost open", base("http://localhost:8000", "127.0.0.1"), ""},
		{"user-info", base("https://CANARY:CANARY@api.example.com"), "base_url"},
		{"query", base("https://api.example.com/?key=CANARY"), "base_url"},
		{"fragment", base("https://api.example.com/#CANARY"), "base_url"},
		{"opaque", base("https:api.example.com"), "base_url"},
		{"no host", base("https://"), "base_url"},
		{"not an address", base("https://CANARY\x7f"), "base_url"},
		{"metadata", base("https://169.254.169.254"), "base_url"},
		{"mapped metadata", base("https://[::ffff:169.254.169.254]"), "base_url"},
		{"private, open", base("https://10.1.2.3", "10.0.0.0/8"), ""},
		{"odd network", base("https://api.example.com", "ten"), "networks"},
		{"misspelled setting", setting(stripe, "acount", "acct_1"), "settings.acount"},
		{"odd account", setting(stripe, "account", "CANARY"), "settings.account"},
		{"odd flag", setting(stripe, "require_customer", "yes"), "settings.require_customer"},
		{"path", setting(generic, "path", "/v1/{reference}/details?expand=card"), ""},
		{"path without reference", setting(generic, "path", "/v1/"), "settings.path"},
		{"path with two", setting(generic, "path", "/{reference}/{reference}"), "settings.path"},
		{"path with part of a segment", setting(generic, "path", "/x-{reference}"), "settings.path"},
		{"path that climbs", setting(generic, "path", "/../{reference}"), "settings.path"},
		{"path to another host", setting(generic, "path", ".evil.example/{reference}"), "settings.path"},
		{"reference in the query", setting(generic, "path", "/x?id=/{reference}"), "settings.path"},
		{"pointer", setting(generic, "status_pointer", "/data/0/status"), ""},
		{"odd pointer", setting(generic, "status_pointer", "status"), "settings.status_pointer"},
		{"odd type", setting(generic, "types", "CARD,CASH"), "settings.types"},
		{"types twice", setting(generic, "type_pointer", "/type"), "settings.types"},
		{"odd map", setting(generic, "type_map", "card=CASH"), "settings.type_map"},
		{"header", setting(generic, "header.Api-Version", "2020-01-01"), ""},
		{"header that smuggles", setting(generic, "header.Api-Version", "1\r\nX: CANARY"), "settings.header.Api-Version"},
		{"header that is ours", setting(generic, "header.host", "x"), "settings.header.host"},
		{"secret in a header", setting(generic, "header.X-Api-Key", "CANARY"), "settings.header.X-Api-Key"},
		{"odd auth header", setting(generic, "auth_header", "X: Y"), "settings.auth_header"},
		{"odd auth scheme", setting(generic, "auth_scheme", "Bearer\n"), "settings.auth_scheme"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(c.vendor, "OLD_STRIPE_KEY", "LANDFALL_API_KEY")
			if c.attr == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			codeOf(t, err)
			var known *landfall.Error
			if !errors.As(err, &known) || len(known.Violations) == 0 || known.Violations[0].Attr != c.attr {
				t.Fatalf("got %v", err)
			}
			for _, violation := range known.Violations {
				if strings.Contains(violation.Detail, "CANARY") {
					t.Error("a value is echoed")
				}
			}
		})
	}
}

// TestCardNumbersAreNotStored checks that no reply of a vendor makes us store a card
// or account number.
func TestCardNumbersAreNotStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[0-9 .:/_-]{0,30}`), rapid.StringMatching(`[a-z]{0,5}[0-9 -]{0,30}`), rapid.String()).Draw(t, "text")
		if got := lastDigits(text); len(got) > 4 || strings.Trim(got, "0123456789") != "" {
			t.Fatalf("lastDigits kept %q", got)
		}
		got, run := plainWord(text), 0
		for _, char := range got {
			switch {
			case char >= '0' && char <= '9':
				run++
			case char >= 'A' && char <= 'Z' || char >= 'a' && char <= 'z':
				run = 0
			}
			if run > 4 {
				t.Fatalf("word kept %q", got)
			}
		}
		if got := expiryText(text); got != "" && len(got) != len("2030-08") {
			t.Fatalf("expiryText gave %q", got)
		}
	})
}

func TestExpiry(t *testing.T) {
	for text, want := range map[string]string{
		"2030-08": "2030-08", "2030-8": "2030-08", "2030-08-31": "2030-08", "08/30": "2030-08", "8/2030": "2030-08", "12 / 30": "2030-12",
		"": "", "13/30": "", "00/30": "", "2030-13": "", "1999-01": "", "soon": "", "0830": "",
	} {
		if got := expiryText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDocumentation checks that the operator's page names every adapter,
// setting and sandbox reference.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/vendors.md")
	if err != nil {
		t.Fatal(err)
	}
	names := append([]string{}, Adapters...)
	names = append(names, sandboxWords...)
	for _, vendor := range []landfall.Vendor{{Adapter: Stripe}, {Adapter: GoCardless}, {Adapter: JSON}} {
		parser := &configParser{used: map[string]bool{}}
		switch vendor.Adapter {
		case Stripe:
			readStripe(parser, nil)
		case GoCardless:
			readGoCardless(parser, nil)
		case JSON:
			readGeneric(parser, nil)
		}
		for name := range parser.used {
			names = append(names, name)
		}
	}
	names = append(names,
		landfall.CodeInstructionNotFound, landfall.CodeInstructionTypeMismatch, landfall.CodeInstructionInactive,
		landfall.CodeVendorUnknown, landfall.CodeVendorRejected, landfall.CodeVendorUnavailable, landfall.CodeVendorOutOfService,
	)
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/vendors.md does not explain %s", name)
		}
	}
}
