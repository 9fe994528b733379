package console

import (
	"context"
	"slices"

	"landfall"
)

// failuresPage groups the failures of a supplier.
type failuresPage struct {
	pageHead
	Code       string
	SummaryJob countJob[landfall.FailureSummary]
	Summary    landfall.FailureSummary
	newRows
}

// maxFailureGroups is the number of groups that a page shows.
const maxFailureGroups = 200

func showFailures(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	// Count before summarising: failures in between count as new.
	rows, _, err := r.newRowsOf(failedOrRefused)
	if err != nil {
		return nil, err
	}
	page := failuresPage{pageHead: supplierHead(code, code+": failures", "failures"), Code: code, newRows: rows}
	page.Wide = true
	total := int(rows.Count)
	page.SummaryJob = r.console.failureSummaries.get(r, code, total, func(ctx context.Context, progress func(done, total int)) (landfall.FailureSummary, error) {
		return r.operator().FailureSummary(ctx, code, func(done int) { progress(done, max(done, total)) })
	})
	page.Summary = page.SummaryJob.Result
	return page, nil
}

// VisibleGroups returns the groups that the page shows.
func (f failuresPage) VisibleGroups() []landfall.FailureGroup {
	return f.Summary.Groups[:min(len(f.Summary.Groups), maxFailureGroups)]
}

// HiddenGroups is the number of groups that the page does not show.
func (f failuresPage) HiddenGroups() int { return len(f.Summary.Groups) - len(f.VisibleGroups()) }

// InRepair reports whether fixing a group is part of the largest repair.
func (f failuresPage) InRepair(group landfall.FailureGroup) bool {
	repairs := f.Summary.Repairs
	return len(repairs) > 0 && slices.ContainsFunc(repairs[len(repairs)-1].Groups, func(one landfall.FailureGroup) bool {
		return one.Code == group.Code && one.Attr == group.Attr
	})
}

// Path leads to the accounts of a group.
func (f failuresPage) Path(group landfall.FailureGroup) string {
	return listPath(f.Code, "accounts/", failedOrRefused, group.Code, group.Attr, "")
}
