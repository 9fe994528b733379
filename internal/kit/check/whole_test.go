package check_test

import (
	"strings"
	"testing"

	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
)

// TestWholeBooks checks what is wrong with a book as a whole, whatever its lines are like.
func TestWholeBooks(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"consistent": {map[string]string{"accounts.ndjson": account("1") + "{\n" + account("2"), "control-totals.json": `{"accounts":3}`}, ""},
		"no totals":  {map[string]string{"accounts.ndjson": account("1")}, ""},
		"twice": {map[string]string{"accounts-1.ndjson": account("1") + account("2"), "accounts-2.ndjson": account("2")},
			"accounts-2.ndjson:1: account 2 is in the book twice, first at "},
		"incomplete": {map[string]string{"accounts.ndjson": account("1"), "control-totals.json": `{"accounts":2}`},
			"control-totals.json says that there are 2 accounts, but the book has 1"},
		"many": {map[string]string{"accounts.ndjson": strings.Repeat(account("1"), 23)}, "and 2 more accounts are in the book twice"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := book.Open(write(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			problems, err := check.Whole(t.Context(), found, func(int) {})
			if text := strings.Join(problems, "\n"); err != nil || c.want == "" && text != "" || !strings.Contains(text, c.want) {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}
