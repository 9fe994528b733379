package landfall_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Two decisions were once merged on the same day with the same number.
func TestDecisionNumbersAreUnique(t *testing.T) {
	pages, err := os.ReadDir("docs/adr")
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		text, err := os.ReadFile("docs/adr/" + page.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(page.Name(), fmt.Sprintf("%04d-", i+1)) || !strings.HasPrefix(string(text), fmt.Sprintf("# %d. ", i+1)) {
			t.Errorf("%s should be number %d, in its name and in its title", page.Name(), i+1)
		}
	}
}

// Two schema steps once had the same number, and no database could be opened.
func TestRepairStepNumbersAreUnique(t *testing.T) {
	for _, folder := range []string{"internal/store/sqlstore/schema/sqlite", "internal/store/sqlstore/schema/postgres"} {
		steps, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range steps {
			if !strings.HasPrefix(step.Name(), fmt.Sprintf("%04d_", i+1)) {
				t.Errorf("%s/%s should be number %d", folder, step.Name(), i+1)
			}
		}
	}
}
