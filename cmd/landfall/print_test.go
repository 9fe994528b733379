package main

import (
	"encoding/json"
	"testing"
)

// TestControlCharactersAreEscaped checks that data cannot move the cursor, change colours, ring the bell or
// reverse text.
func TestControlCharactersAreEscaped(t *testing.T) {
	for given, want := range map[string]string{
		"A/1 Zoë 東京":     "A/1 Zoë 東京",
		"a\x1b[31mb":     `a\x1b[31mb`,
		"a\u009b31mb":    `a\u009b31mb`,
		"a\nb\tc\a":      `a\nb\tc\a`,
		"a\u202eb":       `a\u202eb`,
		"a\u2066b\u200b": `a\u2066b\u200b`,
		"a\x9b31mb":      "a\ufffd31mb",
	} {
		if got := escapeText(given); got != want {
			t.Errorf("clean(%q) = %q, want %q", given, got, want)
		}
	}
}

// TestEscapedJSONMeansTheSame checks that escaped JSON has the same value.
func TestEscapedJSONMeansTheSame(t *testing.T) {
	for given, want := range map[string]string{
		`["a b", "Zoë"]`:        `["a b", "Zoë"]`,
		"[\"a\u009bb\u202e\"]":  `["a\u009bb\u202e"]`,
		"[\"\U000e0041 tags\"]": `["\udb40\udc41 tags"]`,
	} {
		got := escapeJSON(given)
		if got != want {
			t.Errorf("harmlessJSON(%q) = %q, want %q", given, got, want)
		}
		var before, after []string
		if err := json.Unmarshal([]byte(given), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &after); err != nil || before[0] != after[0] {
			t.Errorf("%q became %q, %v", before, after, err)
		}
	}
}
