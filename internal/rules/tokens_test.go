package rules

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// bothWays reads a body by the quick way and by the decoder, and compares.
func bothWays(t *testing.T, body string) (lost bool) {
	t.Helper()
	quick, is := quickly(body)
	if !is {
		return true
	}
	limits := Limits{Depth: 32, Violations: 100}
	got, fault := thing.follow(quick, body, limits)
	if quick.lost {
		return true
	}
	source := new(source)
	want, reason := thing.follow(source.open([]byte(body)), body, limits)
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
	if want.Raw() != got.Raw() || want.state != got.state || want.value != got.value || (want.kids == nil) != (got.kids == nil) {
		t.Fatalf("%q (%v, %d) is %q (%v, %d) to the quick way", want.Raw(), want.state, want.value, got.Raw(), got.state, got.value)
	}
	if want.kids == nil {
		return
	}
	if len(*want.kids) != len(*got.kids) {
		t.Fatalf("%q has %d parts, not %d", want.Raw(), len(*want.kids), len(*got.kids))
	}
	for i, kid := range *want.kids {
		sameNodes(t, kid, (*got.kids)[i])
	}
}

func TestTheQuickWayIsTakenBySoundBodiesAlone(t *testing.T) {
	for body, lost := range map[string]bool{
		`{"name":"x"}`: false,
		"{ \"name\" :\n\t\"x\" ,\r\n\"count\": 3}":                false,
		`{"name":"a\u00e9\"b","words":["\\"]}`:                    false,
		`{"name":"é","amount":-0.5,"rate":1e2}`:                   false,
		`{"name":"x","any":{"a":[1,-2.5E+3,null,true,false,{}]}}`: false,
		`{"name":3}`:              false, // a wrong shape has a place of its own
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
		`{3:"x"}`:                 true,
		`{"name":"x","name":"y"}`: true,
		`{"any":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: true,
		`{"name":"` + strings.Repeat("x", longestQuick) + `"}`:              true,
	} {
		if got := bothWays(t, body); got != lost {
			t.Errorf("%.60q: lost %v, want %v", body, got, lost)
		}
	}
}

// FuzzBothWays looks for a body that the two ways understand differently.
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
		if quick, is := quickly(body); is && quick.sound() && !sound {
			t.Fatalf("%q is not sound", body)
		}
		if Valid([]byte(body)) != sound {
			t.Fatalf("%q is valid: %v, want %v", body, !sound, sound)
		}
	})
}
