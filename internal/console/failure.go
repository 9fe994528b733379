package console

import (
	"context"
	"slices"

	"landfall"
	"landfall/internal/api/contract"
)

// failuresPage groups the failures of a supplier.
type failuresPage struct {
	pageHead
	Code       string
	SummaryJob countJob[landfall.FailureSummary]
	Summary    landfall.FailureSummary
	Team       string // of a run that tries again; "" if it has to be chosen
	newRows
}

// maxCauses is the number of causes that a page shows.
const maxCauses = 50

func showFailures(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	// Count before summarising: failures in between count as new.
	rows, _, err := r.newRowsOf(failedOrRefused)
	if err != nil {
		return nil, err
	}
	page := failuresPage{pageHead: supplierHead(code, code+": failures", "failures"), Code: code, newRows: rows}
	total := int(rows.Count)
	page.SummaryJob = r.console.failureSummaries.get(r, code, total, func(ctx context.Context, progress func(done, total int)) (landfall.FailureSummary, error) {
		return r.operator().FailureSummary(ctx, code, func(done int) { progress(done, max(done, total)) })
	})
	page.Summary = page.SummaryJob.Result
	page.Team, err = r.usualTeam(code)
	return page, err
}

// usualTeam is the team of the supplier's last run, or the only team there is.
func (r *pageRequest) usualTeam(code string) (string, error) {
	runs, err := r.operator().Runs(r.Context(), code, 1)
	if err != nil || len(runs) > 0 {
		if len(runs) > 0 {
			return runs[0].Plan.Team, err
		}
		return "", err
	}
	teams, err := r.operator().Teams(r.Context())
	if len(teams) == 1 {
		return teams[0].Name, err
	}
	return "", err
}

// causeRow is why some accounts failed, and what can be done about it.
type causeRow struct {
	landfall.FailureCause
	Supplier string
	Team     string // of a run that tries again
	Longest  int    // accounts of the most frequent cause
	Meaning  string
	IsRule   bool // its severity can be changed
}

// newCauses describes the first causes of a summary.
func newCauses(summary landfall.FailureSummary, supplier, team string) (rows []causeRow) {
	codes := contract.RuleCodes()
	for _, cause := range summary.Causes[:min(len(summary.Causes), maxCauses)] {
		rows = append(rows, causeRow{
			FailureCause: cause, Supplier: supplier, Team: team, Longest: summary.Causes[0].Accounts,
			Meaning: contract.Meaning(cause.Code), IsRule: slices.Contains(codes, cause.Code),
		})
	}
	return rows
}

// Path leads to the accounts with the cause, and CSV to a file of them.
func (c causeRow) Path() string {
	return listPath(c.Supplier, "accounts/", failedOrRefused, c.Code, "", "")
}

// CSV is the path of a file with the accounts.
func (c causeRow) CSV() string {
	return listPath(c.Supplier, "accounts.csv", failedOrRefused, c.Code, "", "")
}

// Bar shows how frequent the cause is, compared with the most frequent one.
func (c causeRow) Bar() []Segment {
	return []Segment{{"failed", int64(c.Accounts), ""}, {"", int64(c.Longest - c.Accounts), ""}}
}

// Causes are the causes of the supplier's failures.
func (f failuresPage) Causes() []causeRow { return newCauses(f.Summary, f.Code, f.Team) }

// HiddenCauses is the number of causes that the page does not show.
func (f failuresPage) HiddenCauses() int { return len(f.Summary.Causes) - len(f.Causes()) }

// Path leads to the accounts of a group.
func (f failuresPage) Path(group landfall.FailureGroup) string {
	return listPath(f.Code, "accounts/", failedOrRefused, group.Code, group.Attr, "")
}

// retryFailures starts a run over the accounts that failed with a code.
func retryFailures(r *pageRequest) (any, error) {
	code := r.formValue("code")
	if code == "" {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "Choose what to try again.")
	}
	return r.start(landfall.RunPlan{Supplier: r.PathValue("supplier"), Team: r.formValue("team"), Select: landfall.SelectFailed, Codes: []string{code}})
}
