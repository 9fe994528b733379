package contract

import (
	"strings"
	"testing"

	iso "golang.org/x/text/currency"
	tag "golang.org/x/text/language"
	"pgregory.net/rapid"
)

func TestEmail(t *testing.T) {
	good := []string{
		"a@b.co", "ada.byron@northmail.co.uk", "a+b-c_d@x-y.org", "o'briain@b.co", "a!#$%&*/=?^`{|}~@b.co",
		strings.Repeat("a", 64) + "@b.co", "用户@例子.中国", "a@1.com", "a@b.c0m",
	}
	bad := []string{
		"", "a", "@", "a@b", "@b.co", "a@", "a@@b.co", "a b@c.de", " a@b.co", "a@b.co ", "a@b..co", "a@.b.co", "a@b.co.", ".a@b.co", "a.@b.co", "a..b@c.de",
		"Ada <a@b.co>", "<a@b.co>", "a@b.co, c@d.ef", `"a b"@c.de`, "a(comment)@b.co", "a@[127.0.0.1]", "a@127.0.0.1", "a@-b.co", "a@b-.co", "a@b_c.de",
		strings.Repeat("a", 65) + "@b.co", "a@" + strings.Repeat("b", 64) + ".co", strings.Repeat("a", 60) + "@" + strings.Repeat("b.", 100) + "co",
		"a\u200b@b.co", "a@b\u202e.co", "a\n@b.co", "mailto:a@b.co", "a;b@c.de",
	}
	for _, text := range good {
		if !ValidEmail(text) {
			t.Errorf("refused %q", text)
		}
	}
	for _, text := range bad {
		if ValidEmail(text) {
			t.Errorf("accepted %q", text)
		}
	}
}

// TestPlainBritishNumbersArePossible checks that the library accepts every number
// that the fast path accepts.
func TestPlainBritishNumbersArePossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[1-9] ?([0-9] ?){8}[0-9]`).Draw(t, "digits")
		prefix := rapid.SampledFrom([]string{"+44", "+44 ", "0"}).Draw(t, "prefix")
		text := prefix + digits
		if !simpleUKPhone(text) {
			t.Fatalf("%q is not plain", text)
		}
		if !possibleByLibrary(text, "GB") {
			t.Fatalf("the library refuses %q", text)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`\+?[0-9 ()./-]{1,14}`).Draw(t, "text")
		if simpleUKPhone(text) && !possibleByLibrary(text, "GB") {
			t.Fatalf("the library refuses %q", text)
		}
	})
}

func TestPhone(t *testing.T) {
	cases := []struct {
		text, region string
		want         bool
	}{
		{"020 7946 0018", "GB", true}, {"+442079460018", "GB", true}, {"+44 (0)20 7946 0018", "GB", true}, {"0044 20 7946 0018", "GB", true},
		{"02079460018", "FR", false}, {"+1 650 253 0000", "GB", true}, {"650-253-0000", "US", true}, {"01 23 45 67 89", "FR", true},
		{"+353 87 123 4567", "GB", true}, {"123", "GB", false}, {"0", "GB", false}, {"+", "GB", false}, {"+999 123456789", "GB", false},
		{"0207946001812345", "GB", false}, {"+44", "GB", false},
		{"020 7946 0018 ext. 12", "GB", true}, {"020 7946 0018 x12", "GB", true}, {"020 7946 0018x12", "GB", true}, {"+442079460018 Ext 1234567", "GB", true},
		{"+1 650 253 0000 extension 7", "GB", true}, {"123 x12", "GB", false},
	}
	for _, c := range cases {
		for range 2 { // the second result comes from the cache
			if got := phoneSyntax(c.text) && possiblePhone(c.text, c.region); got != c.want {
				t.Errorf("%q in %s: %v", c.text, c.region, got)
			}
		}
	}
	for _, text := range []string{
		"tel:+442079460018", "+442079460018;ext=12", "020 7946 0018 x", "020 7946 0018 ext. 12345678", "020 7946 0018 ext 1 ext 2", "x12", "020 7946 0018 exit 12", "020 7946 0018#12", "0800 FLOWERS", "٠٢٠٧٩٤٦٠٠١٨", "０２０７９４６００１８",
		"44+2079460018", "++442079460018", "020\u00a07946\u00a00018", "020\t7946", "()", "-", " ", "+", "020,7946", "0207946001*",
	} {
		if phoneSyntax(text) {
			t.Errorf("accepted %q", text)
		}
	}
}

func TestPhoneCacheSeparatesRegions(t *testing.T) {
	if !possiblePhones.possible("650 253 0000", "US") || possiblePhones.possible("650 253 0000", "DK") || !possiblePhones.possible("650 253 0000", "US") {
		t.Error("the answer of one region was given for another")
	}
}

func TestPostcode(t *testing.T) {
	for _, text := range []string{"M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT", "W1A 0AX", "EC1A 1BB", "ec1a1bb", "GIR 0AA", "ASCN 1ZZ", "BF1 2AA"} {
		if !ukPostcode(text) {
			t.Errorf("refused %q", text)
		}
	}
	for _, text := range []string{"", "M1", "12345", "M1  1AE", " M1 1AE", "M1 1AE ", "M1 AAE", "Q1 1AE", "MI1 1AE", "M1 1CE", "EC1C 1BB", "W1I 0AX", "EC123 1BB", "GIR 0AB", "ASCN 1ZY", "É1 1AE", "1 1AE", "AAA1 1AE"} {
		if ukPostcode(text) {
			t.Errorf("accepted %q", text)
		}
	}
}

func TestExternalNumber(t *testing.T) {
	for _, text := range []string{"1", "A/B", "a b", "..", "%2F", "é", "e\u0301", "１２", "顧客 7", "a\u00a0b", strings.Repeat("x", 128), strings.Repeat("€", 128)} {
		if !ValidExternalNumber(text) {
			t.Errorf("refused %q", text)
		}
	}
	for _, text := range []string{
		"", " 1", "1 ", "\u00a01", "1\u3000", "\t1", "1\n", "a\x00b", "a\x7fb", "a\u0085b", "a\u200bb", "a\u200db", "a\u200eb", "a\u202eb", "a\u2066b", "a\ufeffb",
		"a\u00adb", "a\u2028b", "a\u3164b", "a\ufe0fb", "a\ue000b", "a\U000e0041b", "\xff", strings.Repeat("x", 129),
	} {
		if ValidExternalNumber(text) {
			t.Errorf("accepted %q", text)
		}
	}
}

func TestCodes(t *testing.T) {
	for text, want := range map[string]bool{
		"A": true, "a.b:c/d-e_f": true, "9": true, "": false, "-a": false, "_a": false, "a b": false, "ä": false, "a\n": false,
	} {
		if got := codeText.Format.Check(text); got != want {
			t.Errorf("code %q: %v", text, got)
		}
	}
	for text, want := range map[string]bool{
		"DEMO_ENERGY": true, "a.b-c": true, "a:b": false, "a/b": false, "": false, strings.Repeat("x", 32): true, strings.Repeat("x", 33): false,
	} {
		if got := ValidSupplierCode(text); got != want {
			t.Errorf("supplier code %q: %v", text, got)
		}
	}
}

// TestListsAgreeWithTheLibrary finds typing mistakes in the two lists.
func TestListsAgreeWithTheLibrary(t *testing.T) {
	if len(countrySet) != 249 {
		t.Errorf("%d countries", len(countrySet))
	}
	for text := range countrySet {
		region, err := tag.ParseRegion(text)
		if err != nil || !region.IsCountry() || region.String() != text {
			t.Errorf("no country: %s", text)
		}
	}
	younger := setOf("MRU SLE VED VES XCG ZWG") // codes newer than the library's table
	for text := range currencySet {
		if _, err := iso.ParseISO(text); err != nil && !younger[text] {
			t.Errorf("no currency: %s", text)
		}
	}
	for _, text := range []string{"gbp", "XXX", "XAU", "DEM", "", "GB"} {
		if ValidCurrency(text) {
			t.Errorf("accepted the currency %q", text)
		}
	}
	for _, text := range []string{"UK", "gb", "XX", "EU", "", "GBR"} {
		if ValidCountry(text) {
			t.Errorf("accepted the country %q", text)
		}
	}
}

func TestLanguage(t *testing.T) {
	for text, want := range map[string]bool{
		"en": true, "en-GB": true, "cy": true, "zh-Hant-TW": true, "de-1996": true, "x-private": true,
		"en_GB": false, "english": false, "e": false, "en-": false, "12": false, "xx-ZZZZZ-": false,
	} {
		if got := validLanguage(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
