package report

import (
	"bytes"
	_ "embed" // for the page
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/lib/money"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": Number, "percent": Percent, "barWidth": barWidth, "describe": describePart,
	"rowNumber": func(i int) int { return i + 1 }, "groupNumbers": groupNumbers, "maxAccounts": maxAccounts,
	"parts": func(attr string) []string { return strings.Split(attr, ".") },
}).Parse(pageText))

// Page renders a report as one self-contained HTML file.
func Page(summary Summary) ([]byte, error) {
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, summary); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Number formats a count with thousands separators.
func Number(count int) string {
	return money.GroupDigits(strconv.Itoa(count))
}

// Percent returns a share, which never rounds to 0 or 100.
func Percent(count, whole int) string {
	if whole == 0 {
		return "0 %"
	}
	tenths := (count*1_000 + whole/2) / whole
	switch {
	case count > 0 && tenths == 0:
		return "<0.1 %"
	case count < whole && tenths == 1_000:
		return ">99.9 %"
	}
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}

// barWidth is a share in percent, large enough to be visible.
func barWidth(count, whole int) string {
	if count == 0 || whole == 0 {
		return "0"
	}
	return strconv.FormatFloat(max(0.6, 100*float64(count)/float64(whole)), 'f', 2, 64)
}

// describePart describes a part in words, also for screen readers.
func describePart(part Part, bar Bar) string {
	return Number(part.Count) + " " + part.Name + " (" + Percent(part.Count, bar.Whole()) + ")"
}

// maxAccounts is the value of the longest bar in a table.
func maxAccounts(groups []landfall.FailureGroup) (count int) {
	for _, group := range groups {
		count = max(count, group.Accounts)
	}
	return count
}

// groupNumbers refers to groups by their numbers in the table, which is shorter than their codes.
func groupNumbers(chosen, all []landfall.FailureGroup) string {
	var list []string
	for i, group := range all {
		if slices.Contains(chosen, group) {
			list = append(list, strconv.Itoa(i+1))
		}
	}
	if len(list) == 1 {
		return "no. " + list[0]
	}
	return "these " + strconv.Itoa(len(list)) + " (nos. " + strings.Join(list, ", ") + ")"
}
