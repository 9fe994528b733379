package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"landfall"
)

func TestQueryBool(t *testing.T) {
	for raw, want := range map[string]bool{
		"": true, "flag=true": true, "flag=1": true, "flag=false": false, "flag=0": false, "fl%61g=0": false,
		"flag=TRUE": true, "flag=False": false, "flag=tRuE": true,
	} {
		if got, err := QueryBool(raw, "flag", true); got != want || err != nil {
			t.Errorf("%q: %v, %v", raw, got, err)
		}
	}
	for raw, want := range map[string][]string{
		"flag=maybe":          {"invalid_choice flag"},
		"flag=":               {"invalid_choice flag"},
		"flag":                {"invalid_choice flag"},
		"flag=2":              {"invalid_choice flag"},
		"flag=yes":            {"invalid_choice flag"},
		"flag=true&flag=true": {"invalid_choice flag"},
		"Flag=true":           {"unknown_parameter Flag"},
		"b=1&a=1&flag=1":      {"unknown_parameter a", "unknown_parameter b"},
		"flag=%zz":            {"invalid_characters "},
		"a;b":                 {"invalid_characters "},
	} {
		_, err := QueryBool(raw, "flag", true)
		if diff := cmp.Diff(want, violationsOf(t, err)); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	}
}

func TestHostileParameterNamesAreTruncated(t *testing.T) {
	_, err := QueryBool(strings.Repeat("x", 5000)+"=1", "flag", false)
	if attr := violationsOf(t, err)[0]; len(attr) > 250 {
		t.Errorf("%d bytes", len(attr))
	}
}

func TestReadPage(t *testing.T) {
	cursor := landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(1718449200123456).UTC(), External: "A/ß 1"}
	page, err := ReadPage("limit=10000&after=" + EncodeCursor(cursor))
	if err != nil || page.Limit != 10000 || *page.After != cursor {
		t.Errorf("%+v, %v", page, err)
	}
	if page, err := ReadPage(""); err != nil || page.Limit != 0 || page.After != nil {
		t.Errorf("%+v, %v", page, err)
	}
	for raw, want := range map[string][]string{
		"limit=0": {"out_of_range limit"}, "limit=10001": {"out_of_range limit"}, "limit=": {"out_of_range limit"}, "limit=+5": {"out_of_range limit"},
		"limit=05": {"out_of_range limit"}, "limit=1e3": {"out_of_range limit"}, "limit=5&limit=6": {"invalid_choice limit"},
		"after=": {"invalid_cursor after"}, "after=AAAA": {"invalid_cursor after"}, "limit=x&after=x&z=1": {"out_of_range limit", "invalid_cursor after", "unknown_parameter z"},
	} {
		_, err := ReadPage(raw)
		if diff := cmp.Diff(want, violationsOf(t, err)); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	}
}

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cursor := landfall.ProcessCursor{
			FirstStagedAt: time.UnixMicro(rapid.Int64Range(-1e15, 1e16).Draw(t, "at")).UTC(),
			External:      rapid.StringMatching(`[a-z0-9/é][ -~é]{0,40}[a-z]`).Draw(t, "external"),
		}
		text := EncodeCursor(cursor)
		if got, sound := DecodeCursor(text); !sound || got != cursor {
			t.Fatalf("%v became %v", cursor, got)
		}
		cut := rapid.IntRange(0, len(text)-1).Draw(t, "cut")
		if _, sound := DecodeCursor(text[:cut]); sound {
			t.Fatalf("a cut cursor is accepted: %q", text[:cut])
		}
	})
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add(EncodeCursor(landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(1).UTC(), External: "1"}))
	f.Add("")
	f.Add("AQAAAAAAAAABMQ")
	f.Fuzz(func(t *testing.T, text string) {
		if cursor, sound := DecodeCursor(text); sound && EncodeCursor(cursor) != text {
			t.Errorf("%q is read as %v", text, cursor)
		}
	})
}
