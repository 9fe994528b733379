package console

import (
	"context"

	"landfall"
)

// failed is what keeps a supplier's accounts back.
type failed struct {
	head
	Code    string
	Summing counting[landfall.FailureSummary]
	Summary landfall.FailureSummary
	news
}

// mostShown is how many groups a page shows.
const mostShown = 200

// failures groups the failures of a supplier.
func failures(v *visit) (any, error) {
	code := v.value("supplier")
	// Counted before it is summed up: who comes in between is news.
	grown, _, err := v.newsOf(faulty)
	if err != nil {
		return nil, err
	}
	shown := failed{head: supplierHead(code, code+": failures", "failures"), Code: code, news: grown}
	shown.Wide = true
	// By supplier and not by reader: all who open the page share one count.
	shown.Summing = v.console.summaries.stand(v, code, int(grown.Count), func(ctx context.Context, progress func(looked, of int)) (landfall.FailureSummary, error) {
		return v.operator().FailureSummary(ctx, code, func(looked int) { progress(looked, max(looked, int(grown.Count))) })
	})
	shown.Summary = shown.Summing.Found
	return shown, nil
}

// Shown gives the groups that a page shows.
func (f failed) Shown() []landfall.FailureGroup {
	return f.Summary.Groups[:min(len(f.Summary.Groups), mostShown)]
}

// Hidden says how many it does not.
func (f failed) Hidden() int { return len(f.Summary.Groups) - len(f.Shown()) }

// Mends says whether a group is on the shortest list for most accounts.
func (f failed) Mends(group landfall.FailureGroup) bool {
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
func (f failed) Path(group landfall.FailureGroup) string {
	return listPath(f.Code, "accounts/", faulty, group.Code, group.Attr, "")
}
