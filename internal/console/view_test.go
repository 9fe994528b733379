package console

import (
	"io/fs"
	"strings"
	"testing"
)

// Views have at most one element per line, so that a change is easy to read.
func TestViewsHaveShortLines(t *testing.T) {
	const longest = 160
	for _, pattern := range []string{"views/*.html", "assets/console.*"} {
		names, err := fs.Glob(embedded, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, name := range names {
			content, err := embedded.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(content), "\n") {
				if len(line) >= longest {
					t.Errorf("%s:%d has %d characters, want fewer than %d", name, i+1, len(line), longest)
				}
			}
		}
	}
}
