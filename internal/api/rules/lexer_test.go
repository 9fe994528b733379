package rules

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// bothWays reads a body with the fast path and with the decoder, and compares the
// results.
func bothWays(t *testing.T, body string) (lost bool) {
	t.Helper()
	is := scanTraits(body)
	quick, can := newLexer(body, is)
	if !can {
		return true
	}
	limits := Limits{Depth: 32, Violations: 100}
	got, fault := thing.follow(quick, body, is, limits)
	if quick.failed {
		return true
	}
	source := new(pooledDecoder)
	want, reason := thing.follow(source.open([]byte(body)), body, is, limits)
	if diff := cmp.Diff(reason, fault); diff != "" {
		t.Fatalf("%q: the quick way says otherwise:\n%s", body, diff)
	}
	if fault != nil {
		return false
	}
	if diff := cmp.Diff(want.Report().Errors(), got.Report().Errors()); diff != "" {
		t.Fatalf("%q: the quick way finds other errors:\n%s", body, diff)
	}
	sameNodes(t, want.Root(), got.Root())
	return false
}

func sameNodes(t *testing.T, want, got *Node) {
	t.Helper()
	if want.Raw() != got.Raw() || want.state != got.state || want.value != got.value || (want.children == nil) != (got.children == nil) {
		t.Fatalf("%q (%v, %d) is %q (%v, %d) to the quick way", want.Raw(), want.state, want.value, got.Raw(), got.state, got.value)
	}
	if want.children == nil {
		return
	}
	if len(*want.children) != len(*got.children) {
		t.Fatalf("%q has %d parts, not %d", want.Raw(), len(*want.children), len(*got.children))
	}
	for i, kid := range *want.children {
		sameNodes(t, kid, (*got.children)[i])
	}
}

func TestFastLexerAcceptsOnlyValidBodies(t *testing.T) {
	for body, lost := range map[string]bool{
		`{"name":"x"}`: false,
		"{ \"name\" :\n\t\"x\" ,\r\n\"count\": 3}":                false,
		`{"name":"a\u00e9\"b","words":["\\"]}`:                    false,
		`{"name":"é","amount":-0.5,"rate":1e2}`:                   false,
		`{"name":"x","any":{"a":[1,-2.5E+3,null,true,false,{}]}}`: false,
		`{"name":3}`:              false, // a wrong shape is reported with its own path
		`{"name":"x"} x`:          false,
		`{"name":"x","nam":1}`:    true,
		`{"name":"x",}`:           true,
		`{"name":"x" "count":3}`:  true,
		`{"name" "x"}`:            true,
		`{"name"::"x"}`:           true,
		`{,"name":"x"}`:           true,
		`{"words":["a",]}`:        true,
		`{"words":["a"}`:          true,
		`{"words":["a" "b"]}`:     true,
		`{"count":01}`:            true,
		`{"count":1.}`:            true,
		`{"count":-}`:             true,
		`{"count":1e}`:            true,
		`{"flag":tru}`:            true,
		`{"name":"\ud800"}`:       true,
		`{"name":"\x"}`:           true,
		"{\"name\":\"a\nb\"}":     true,
		"{\"name\":\"\xff\"}":     true,
		`{"name":"x`:              true,
		`{name:"x"}`:              true,
		`{"name":}`:               true,
		`{"name":]}`:              true,
		`{"name":,"count":1}`:     true,
		`{"name":x}`:              true,
		`{"name":`:                true,
		`{"name":"x","flag":`:     true,
		`{"names":"x"}`:           true,
		`{"name" :"x"}`:           false,
		`{"count":1,"name":"x"}`:  false, // not in table order
		`{3:"x"}`:                 true,
		`{"name":"x","name":"y"}`: true,
		`{"any":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: true,
		`{"name":"` + strings.Repeat("x", maxFastBody) + `"}`:               true,
	} {
		if got := bothWays(t, body); got != lost {
			t.Errorf("%.60q: lost %v, want %v", body, got, lost)
		}
	}
}

// FuzzBothWays looks for a body that the two paths read differently.
func FuzzBothWays(f *testing.F) {
	for _, seed := range []string{
		`{"name":"x", "words":["a","b"],"count":3}`, `{"name":"\u00e9\n","any":{"a":[1e9,null,{"b":{}}]}}`,
		`{"amount":"1.50","rate":-1.10E5,"day":"2024-02-29","flag":true}`, `{"parts":[{"id":"1"},{"id":"2"}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		bothWays(t, body)
		sound := jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true))
		if quick, can := newLexer(body, scanTraits(body)); can && quick.validate() && !sound {
			t.Fatalf("%q is not sound", body)
		}
		if ValidJSON([]byte(body)) != sound {
			t.Fatalf("%q is valid: %v, want %v", body, !sound, sound)
		}
	})
}

// TestScanTraitsFindsEveryByte puts every byte at every position of a text. Scanning
// eight bytes at a time must find the same as scanning one by one.
func TestScanTraitsFindsEveryByte(t *testing.T) {
	for length := range 40 {
		for place := range length {
			for c := range 256 {
				text := strings.Repeat("x", place) + string([]byte{byte(c)}) + strings.Repeat("~", length-place-1)
				if got, want := scanTraits(text), (traits{ascii: c < 0x7f, noControls: c >= ' ', noEscapes: c != '\\'}); got != want {
					t.Fatalf("%q: %+v", text, got)
				}
				if got, want := indexQuote(text), strings.IndexByte(text, '"'); got != want {
					t.Fatalf("%q: a quote at %d, want %d", text, got, want)
				}
			}
		}
	}
}
