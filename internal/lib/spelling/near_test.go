package spelling_test

import (
	"slices"
	"strings"
	"testing"

	"landfall/internal/lib/spelling"
)

func TestNearestFirst(t *testing.T) {
	known := []string{"NORTH", "SOUTH", "listen", "log-level", "log-format", "name", strings.Repeat("x", 500)}
	for typed, want := range map[string][]string{
		"NROTH":                  {"NORTH"},
		"north":                  {"NORTH", "SOUTH"},
		"lissten":                {"listen"},
		"level":                  {"log-level"}, // a part will do
		"nmae":                   {"name"},      //nolint:misspell // on purpose
		"zz":                     nil,
		"":                       nil,
		strings.Repeat("x", 499): nil, // long words are not worth the work
	} {
		if got := spelling.Near(typed, known); !slices.Equal(got, want) {
			t.Errorf("Near(%.20q) = %q, want %q", typed, got, want)
		}
	}
	if got := spelling.Hint("nmae", known); got != "Did you mean name?" { //nolint:misspell // on purpose
		t.Errorf("got %q", got)
	}
	if got := spelling.Hint("zz", known); got != "" {
		t.Errorf("got %q", got)
	}
}
