package landfall_test

import (
	"fmt"
	"slices"
	"testing"

	"landfall"
)

// tally counts accounts with the given mistakes, one letter each.
func tally(accounts map[string]int) landfall.FailureSummary {
	var t landfall.FailureTally
	for mistakes, count := range accounts {
		var failure landfall.Failure
		for _, mistake := range mistakes {
			failure.Violations = append(failure.Violations, landfall.Violation{Code: string(mistake)})
		}
		for range count {
			t.Add(failure)
		}
	}
	return t.Summary()
}

func repairs(summary landfall.FailureSummary) (found []string) {
	for _, repair := range summary.Repairs {
		var codes []string
		for _, group := range repair.Groups {
			codes = append(codes, group.Code)
		}
		slices.Sort(codes)
		found = append(found, fmt.Sprint(repair.Percent, " ", repair.Accounts, codes))
	}
	return found
}

// TestRepairsAreTheShortest has mistakes that occur together: fixing only the
// most frequent one helps hardly any account.
func TestRepairsAreTheShortest(t *testing.T) {
	summary := tally(map[string]int{"ab": 60, "c": 25, "a": 5, "cd": 10})
	if got, want := repairs(summary), []string{"50 65 [a b]", "80 90 [a b c]", "95 100 [a b c d]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if summary.Accounts != 100 || summary.Groups[0].Code != "a" || summary.Groups[0].Accounts != 65 || summary.Groups[0].Alone != 5 {
		t.Errorf("got %+v", summary)
	}
	if got := repairs(tally(nil)); len(got) != 0 {
		t.Errorf("no account failed, got %v", got)
	}
}

// TestStepIsReportedOnce has one mistake behind everything: three lines that say
// the same would be noise.
func TestStepIsReportedOnce(t *testing.T) {
	for accounts, want := range map[string]string{
		"a": "[95]", "b": "[50 95]", "c": "[80 95]",
	} {
		summary := tally(map[string]map[string]int{
			"a": {"a": 10}, "b": {"a": 6, "b": 4}, "c": {"a": 9, "b": 1},
		}[accounts])
		var percents []int
		for _, step := range summary.Steps() {
			percents = append(percents, step.Percent)
		}
		if got := fmt.Sprint(percents); got != want {
			t.Errorf("%s: %s, want %s", accounts, got, want)
		}
	}
}

// TestRandomMistakesAreBounded checks that a caller who invents fields
// cannot use up the memory.
func TestRandomMistakesAreBounded(t *testing.T) {
	var many landfall.FailureTally
	for i := range 30_000 {
		many.Add(landfall.Failure{Violations: []landfall.Violation{
			{Code: "unknown_field", Attr: fmt.Sprintf("x%d", i)}, {Code: "unknown_field", Attr: fmt.Sprintf("y%d", i)},
		}})
	}
	summary := many.Summary()
	if summary.Accounts != 30_000 || len(summary.Groups) > 5_001 || summary.Groups[0].Attr != "*" {
		t.Errorf("%d accounts in %d groups, first %+v", summary.Accounts, len(summary.Groups), summary.Groups[0])
	}
}
