package answer

import (
	"context"
	"fmt"
	"net/url"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/run"
)

// Verbs for runs. Those that act on a run take everything from the path.
var (
	// StartRun starts a run.
	StartRun = &Verb{Path: "runs", Writes: true, run: (*API).startRun}
	// Runs lists a supplier's runs.
	Runs = &Verb{Path: "runs", Streams: true, run: (*API).listRuns}
	// Run returns a run.
	Run = &Verb{Path: "runs", run: runAction((*run.Runner).Get)}
	// PauseRun, ResumeRun and CancelRun stop or continue a run.
	PauseRun  = &Verb{Path: "runs/pause", Writes: true, BodyOptional: true, run: runAction((*run.Runner).Pause)}
	ResumeRun = &Verb{Path: "runs/resume", Writes: true, BodyOptional: true, run: runAction((*run.Runner).Resume)}
	CancelRun = &Verb{Path: "runs/cancel", Writes: true, BodyOptional: true, run: runAction((*run.Runner).Cancel)}
	// RunFailures lists the accounts that failed in a run.
	RunFailures = &Verb{Path: "runs/failures", Streams: true, run: (*API).runFailures}
)

// startRun records the run; a runner on any replica picks it up.
func (a *API) startRun(ctx context.Context, call Call) (Answer, error) {
	if err := rejectQuery(call, "dry_run"); err != nil {
		return Answer{}, err
	}
	plan, err := contract.ReadRun(ctx, call.Body)
	if err != nil {
		return Answer{}, err
	}
	started, err := a.runs.Start(ctx, call.Who, plan)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusCreated, Body: contract.RunBody.Append(call.Scratch[:0], started)}, nil
}

// runAction does something to the run in the path and returns it.
func runAction(
	do func(*run.Runner, context.Context, landfall.Principal, string) (landfall.Run, error),
) func(*API, context.Context, Call) (Answer, error) {
	return func(a *API, ctx context.Context, call Call) (Answer, error) {
		if err := rejectQuery(call); err != nil {
			return Answer{}, err
		}
		if err := contract.ReadEmpty(ctx, call.Body); err != nil {
			return Answer{}, err
		}
		changed, err := do(a.runs, ctx, call.Who, call.Path[0])
		if err != nil {
			return Answer{}, err
		}
		return Answer{Status: statusOK, Body: contract.RunBody.Append(call.Scratch[:0], changed)}, nil
	}
}

// listRuns asks for one row more than the page has, as failed does.
func (a *API) listRuns(ctx context.Context, call Call) (Answer, error) {
	page, err := contract.ReadRunPage(call.Query)
	if err != nil {
		return Answer{}, err
	}
	query := landfall.RunQuery{Supplier: page.Supplier, After: page.After}
	if page.Limit > 0 {
		query.Limit = page.Limit + 1
	}
	rows, err := a.runs.List(ctx, call.Who, query)
	if err != nil {
		return Answer{}, err
	}
	if page.Limit == 0 {
		return Stream(call, rows, contract.RunBody), nil
	}
	return writePage(call, rows, page.Limit, contract.RunBody, func(last landfall.Run) string {
		return fmt.Sprintf("import_supplier_code=%s&limit=%d&after=%s", url.QueryEscape(page.Supplier), page.Limit, last.ID)
	})
}

// runFailures uses external numbers as cursors, because positions shift while
// the run continues.
func (a *API) runFailures(ctx context.Context, call Call) (Answer, error) {
	page, err := contract.ReadPage(call.Query)
	if err != nil {
		return Answer{}, err
	}
	query := landfall.RunFailureQuery{Run: call.Path[0]}
	if page.After != nil {
		query.After = page.After.External
	}
	if page.Limit > 0 {
		query.Limit = page.Limit + 1
	}
	rows, err := a.runs.Failures(ctx, call.Who, query)
	if err != nil {
		return Answer{}, err
	}
	return failures(call, rows, page.Limit)
}
