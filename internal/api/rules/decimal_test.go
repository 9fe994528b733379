package rules

import (
	"testing"

	"landfall/internal/lib/money"
)

// A decimal stored as an integer equals what its digits say, however they were
// written.
func TestDecimalsAreReadOnce(t *testing.T) {
	table := NewTable("Decimals", "", Optional("rate", Decimal(), ""), Optional("amount", Amount(), ""))
	for sent, spelled := range map[string]string{
		`1.50`: "1.50", `"1.50"`: "1.50", `-0.00`: "-0.00", `1e2`: "100", `1.5e1`: "15", `10e0`: "10", `-25E-1`: "-2.5", `0`: "0",
		`999999999999.9999999999`: "999999999999.9999999999", `0.1234567890000000000000`: "0.1234567890000000000000",
		`"\u0031.25"`: "1.25", `123456789012.123456`: "123456789012.123456", `123456789012.1234567`: "123456789012.1234567",
	} {
		doc, fault := table.Read([]byte(`{"rate":`+sent+`,"amount":`+sent+`}`), Limits{})
		if fault != nil {
			t.Fatal(fault)
		}
		for _, field := range []string{"rate", "amount"} {
			node := doc.Root().Field(field)
			if !node.Valid() { // an amount with more decimal places than money has
				continue
			}
			want, err := money.ParseDecimal(spelled)
			if got := node.Decimal(); err != nil || got != want || got.String() != spelled {
				t.Errorf("%s %s is %s, want %s (%v)", field, sent, got, spelled, err)
			}
		}
	}
}

// The values of an object of decimals are checked like decimals, whatever their names.
func TestObjectsOfDecimals(t *testing.T) {
	table := NewTable("Overrides", "", Optional("rates", Decimals(), ""))
	for sent, want := range map[string]string{
		`{}`: "", `null`: "", `{"peak":0.31,"night":"0.12","x":-1e-3}`: "", `{"\u0061":1}`: "",
		`[1]`: CodeInvalidType, `1`: CodeInvalidType, `{"peak":true}`: CodeInvalidType, `{"peak":null}`: CodeInvalidType,
		`{"peak":{"a":1}}`: CodeInvalidType, `{"peak":"1,5"}`: CodeInvalidDecimal, `{"a":1,"peak":""}`: CodeInvalidDecimal,
		`{"peak":0.12345678901}`: CodeMaxDecimalPlaces, `{"peak":1e400}`: CodeOutOfRange,
	} {
		doc, fault := table.Read([]byte(`{"rates":`+sent+`}`), Limits{})
		if fault != nil {
			t.Fatal(fault)
		}
		got := ""
		for _, one := range doc.Report().Errors() {
			got += one.Code
			if one.Attr != "rates" {
				t.Errorf("%s: the problem is at %s", sent, one.Attr)
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", sent, got, want)
		}
	}
}
