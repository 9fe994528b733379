package main

import "testing"

// Data from elsewhere must not move the cursor, colour the screen, ring the
// bell or turn text around.
func TestCleanEscapesTricks(t *testing.T) {
	for given, want := range map[string]string{
		"A/1 Zoë 東京":     "A/1 Zoë 東京",
		"a\x1b[31mb":     `a\x1b[31mb`,
		"a\u009b31mb":    `a\u009b31mb`,
		"a\nb\tc\a":      `a\nb\tc\a`,
		"a\u202eb":       `a\u202eb`,
		"a\u2066b\u200b": `a\u2066b\u200b`,
	} {
		if got := clean(given); got != want {
			t.Errorf("clean(%q) = %q, want %q", given, got, want)
		}
	}
}
