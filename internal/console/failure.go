package console

import (
	"context"

	"landfall"
)

// failuresPage is what keeps a supplier's accounts back.
type failuresPage struct {
	pageHead
	Code       string
	SummaryJob countJob[landfall.FailureSummary]
	Summary    landfall.FailureSummary
	newRows
}

// maxFailureGroups is how many groups a page shows.
const maxFailureGroups = 200

// showFailures groups the failures of a supplier.
func showFailures(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	// Counted before it is summed up: who comes in between is news.
	grown, _, err := r.newRowsOf(failedOrRefused)
	if err != nil {
		return nil, err
	}
	shown := failuresPage{pageHead: supplierHead(code, code+": failures", "failures"), Code: code, newRows: grown}
	shown.Wide = true
	// By supplier and not by reader: all who open the page share one count.
	shown.SummaryJob = r.console.failureSummaries.get(r, code, int(grown.Count), func(ctx context.Context, progress func(looked, of int)) (landfall.FailureSummary, error) {
		return r.operator().FailureSummary(ctx, code, func(looked int) { progress(looked, max(looked, int(grown.Count))) })
	})
	shown.Summary = shown.SummaryJob.Result
	return shown, nil
}

// Shown gives the groups that a page shows.
func (f failuresPage) Shown() []landfall.FailureGroup {
	return f.Summary.Groups[:min(len(f.Summary.Groups), maxFailureGroups)]
}

// Hidden says how many it does not.
func (f failuresPage) Hidden() int { return len(f.Summary.Groups) - len(f.Shown()) }

// InRepair says whether a group is on the shortest list for most accounts.
func (f failuresPage) InRepair(group landfall.FailureGroup) bool {
	if len(f.Summary.Repairs) == 0 {
		return false
	}
	for _, one := range f.Summary.Repairs[len(f.Summary.Repairs)-1].Groups {
		if one.Code == group.Code && one.Attr == group.Attr {
			return true
		}
	}
	return false
}

// Path leads to the accounts of a group.
func (f failuresPage) Path(group landfall.FailureGroup) string {
	return listPath(f.Code, "accounts/", failedOrRefused, group.Code, group.Attr, "")
}
