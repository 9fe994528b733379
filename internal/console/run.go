package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

type runPage struct {
	pageHead
	operate.RunFacts
	Undo       *undoJob // running, or ended since this replica started
	Throughput throughput
	CausesJob  countJob[landfall.FailureSummary]
	ForReal    *realRun // offered after a dry run
}

func (p runPage) aboutSupplier() string { return p.Plan.Supplier }

func showRun(r *pageRequest) (any, error) {
	facts, err := r.operator().ShowRun(r.Context(), r.PathValue("run"), 0)
	if err != nil {
		return nil, err
	}
	page := &runPage{
		pageHead: pageHead{Title: "Run " + facts.ID, Breadcrumbs: runBreadcrumbs(facts.Run)},
		RunFacts: facts, Undo: r.console.undoJobs.get(facts.ID), Throughput: throughputOf(facts),
	}
	if facts.Tally.Failed > 0 && facts.PurgedAt.IsZero() {
		total := facts.Tally.Failed
		page.CausesJob = r.console.runCauses.get(r, facts.ID, total, func(ctx context.Context, progress func(done, total int)) (landfall.FailureSummary, error) {
			return r.operator().RunCauses(ctx, facts.ID, func(done int) { progress(done, max(done, total)) })
		})
	}
	page.ForReal, err = r.realRun(facts.Run)
	return page, err
}

// Causes are why accounts of the run failed.
func (p runPage) Causes() []causeRow {
	// A dry run leaves its failures on the accounts, so that they can be tried again too.
	return newCauses(p.CausesJob.Result, p.Plan.Supplier, p.Plan.Team)
}

// PauseText says why the run is paused, or will be.
func (p runPage) PauseText() template.HTML { return pauseText(p.Run, p.Acts) }

// pauseText says why a run is paused, and who paused it and when.
func pauseText(run landfall.Run, acts operate.RunActs) template.HTML {
	if run.Reason == landfall.PauseRequested && acts.PausedBy != "" {
		name := template.HTMLEscapeString(actorNames(acts.PausedBy))
		return template.HTML("Paused by "+name+", ") + timeElement(acts.PausedAt, markTime(acts.PausedAt, asMinutes)) //nolint:gosec // escaped
	}
	return template.HTML(pauseReasons[run.Reason]) //nolint:gosec // our own text
}

// undoneText says how many accounts of a run were undone, by whom and why.
func undoneText(run landfall.Run, acts operate.RunActs) string {
	if run.Undone == 0 {
		return ""
	}
	text := "Undone"
	if run.Undone < run.Tally.Succeeded {
		undone, all := groupDigits(strconv.Itoa(run.Undone)), groupDigits(strconv.Itoa(run.Tally.Succeeded))
		text = undone + " of " + all + " undone"
	}
	if acts.UndoneBy != "" {
		text += " by " + actorNames(acts.UndoneBy) + ": " + acts.UndoReason
	}
	return text
}

// UndoneText says what became of the run.
func (p runPage) UndoneText() string { return undoneText(p.Run, p.Acts) }

// realRun is the run that a finished dry run was the rehearsal of.
type realRun struct {
	Count   int64 // accounts it would create
	Counted bool  // Count is known
}

// realRun returns what a run with the plan of a dry run would do now. A run over a
// list of accounts cannot be repeated here, because the list is not kept.
func (r *pageRequest) realRun(run landfall.Run) (*realRun, error) {
	plan := run.Plan
	if !plan.DryRun || run.State != landfall.RunFinished || plan.AccountCount > 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	if plan.Narrowed() {
		return &realRun{int64(run.Tally.Selected), plan.Sample == 0 && plan.Limit == 0}, nil
	}
	state, err := r.operator().SupplierState(r.Context(), plan.Supplier)
	count := supplierSummary{state}.selectionCounts()[plan.Select]
	if count == 0 {
		return nil, err
	}
	return &realRun{count, true}, err
}

// runForReal starts the run that a dry run was the rehearsal of, over all accounts
// and not only a sample.
func runForReal(r *pageRequest) (any, error) {
	facts, err := r.operator().ShowRun(r.Context(), r.PathValue("run"), 0)
	if err != nil {
		return nil, err
	}
	if offered, err := r.realRun(facts.Run); err != nil || offered == nil {
		return nil, cmp.Or(err, error(landfall.Refuse(landfall.CodeValidationFailed, "Only a finished dry run can be repeated for real.")))
	}
	plan := facts.Plan
	return r.start(landfall.RunPlan{
		Supplier: plan.Supplier, Team: plan.Team, Select: plan.Select, Delivery: plan.Delivery, Codes: plan.Codes, Concurrency: plan.Concurrency,
	})
}

func runBreadcrumbs(run landfall.Run) []breadcrumb {
	code := run.Plan.Supplier
	return []breadcrumb{{"Suppliers", Root}, {code, consolePath("suppliers", code)}, {"Runs", consolePath("suppliers", code, "runs")}}
}

// Segments are the results of the run's accounts.
func (p runPage) Segments() []Segment {
	succeeded := "imported"
	if p.Plan.DryRun {
		succeeded = "dry run"
	}
	return []Segment{
		{succeeded, int64(p.Tally.Succeeded), ""}, {"failed", int64(p.Tally.Failed), ""},
		{"skipped", int64(p.Tally.Refused), ""}, {"staged", int64(p.Tally.Remaining()), ""},
	}
}

// Undoable reports whether the run created accounts that were not undone.
func (p runPage) Undoable() bool {
	return p.State.Ended() && !p.Plan.DryRun && p.Tally.Succeeded > p.Undone
}

// EstimateText says what a sample means for all accounts.
func (p runPage) EstimateText() string {
	estimate, ok := p.Estimate()
	if !ok {
		return ""
	}
	whole := func(share landfall.Share) int64 { return (int64(share) + 50) / 100 }
	return fmt.Sprintf("Expect %d–%d %% to import (95 %% confidence).", whole(estimate.Low), whole(estimate.High))
}

var pauseReasons = map[landfall.PauseReason]string{
	landfall.PauseRequested: "Paused through the API", landfall.PauseSupplierPaused: "the supplier is paused; the run continues with it",
	landfall.PauseSupplierComplete: "the supplier is complete", landfall.PauseKeyNotValid: "its API key is no longer valid; resume the run to take it over",
	landfall.PauseNotGranted: "its organisation has no access to the supplier", landfall.PauseWindowOver: "its time window is over; resume the run to continue anyway",
	landfall.PauseTeamUnknown: "its team no longer exists",
}

// throughput is the speed of a run over time.
type throughput struct {
	Unit   string
	Points []Point
}

// minPerMinuteForSeconds is the highest rate per minute from which figures are
// given per second.
const minPerMinuteForSeconds = 600

// throughputOf computes accounts per second, or per minute for slow runs. Samples are
// rare, so the start and the present of the run count as samples too: the chart begins
// with the first second.
func throughputOf(run operate.RunFacts) throughput {
	result := throughput{Unit: "per minute"}
	if run.StartedAt.IsZero() {
		return result
	}
	samples := append([]landfall.RunSample{{At: run.StartedAt, State: landfall.RunRunning}}, run.Samples...)
	now := landfall.RunSample{At: run.ReadAt, State: run.State, Done: run.Tally.Done()}
	if !run.EndedAt.IsZero() {
		now.At = run.EndedAt
	}
	if now.At.Sub(samples[len(samples)-1].At) >= time.Second {
		samples = append(samples, now)
	}
	highest := int64(0)
	step := max(1, len(samples)/120) // the chart has room for about 120 points
	for i := step; i < len(samples); i += step {
		before, now := samples[i-step], samples[i]
		span := now.At.Sub(before.At)
		if span <= 0 {
			continue
		}
		point := Point{At: now.At, Count: int64(now.Done-before.Done) * int64(time.Minute) / int64(span), Pause: before.State == landfall.RunPaused}
		if len(result.Points) == 0 { // a line needs a beginning
			result.Points = append(result.Points, Point{At: before.At, Count: point.Count})
		}
		highest = max(highest, point.Count)
		result.Points = append(result.Points, point)
	}
	if highest >= minPerMinuteForSeconds {
		result.Unit = "per second"
		for i := range result.Points {
			result.Points[i].Count /= 60
		}
	}
	return result
}

func startRun(r *pageRequest) (any, error) {
	plan, err := r.runPlan()
	if err != nil {
		return nil, err
	}
	return r.start(plan)
}

func (r *pageRequest) start(plan landfall.RunPlan) (any, error) {
	run, err := r.operator().StartRun(r.Context(), plan)
	if err != nil {
		return nil, err
	}
	r.console.WakeRuns()                                  // the runner also polls, but later
	return redirect{to: consolePath("runs", run.ID)}, nil // the page says the rest
}

// runPlan reads the form. The operator's action checks the ranges of the numbers.
func (r *pageRequest) runPlan() (plan landfall.RunPlan, err error) {
	plan = landfall.RunPlan{
		Supplier: r.PathValue("supplier"), Team: r.formValue("team"), Select: landfall.RunSelection(r.formValue("select")), DryRun: r.formValue("dry_run") != "",
		Codes: r.form["code"],
	}
	for name, field := range map[string]*int{"sample": &plan.Sample, "limit": &plan.Limit, "at_once": &plan.Concurrency} {
		if *field, err = r.formInt(name); err != nil {
			return plan, err
		}
	}
	for name, field := range map[string]*time.Time{"not_before": &plan.NotBefore, "not_after": &plan.NotAfter} {
		if *field, err = r.formTime(name); err != nil {
			return plan, err
		}
	}
	return plan, nil
}

// confirmedRun returns the run of the path if its supplier's code was typed.
func (r *pageRequest) confirmedRun() (operate.RunFacts, error) {
	facts, err := r.operator().ShowRun(r.Context(), r.PathValue("run"), 0)
	if err == nil {
		err = r.requireConfirmation(facts.Plan.Supplier)
	}
	return facts, err
}

func runRoutes() []route {
	run, undo := get("runs/{run}/", showRun, "run"), get("runs/{run}/undo/", showUndo, "undo")
	// There is no message: the page shows the state, and a message would stay when it changes.
	change := func(name string, confirmed bool, method func(*operate.Operator, context.Context, string) (landfall.Run, error)) route {
		return post("runs/{run}/"+name+"/", action(pathTo("runs", "{run}"), "", func(r *pageRequest) error {
			if confirmed {
				if _, err := r.confirmedRun(); err != nil {
					return err
				}
			}
			_, err := method(r.operator(), r.Context(), r.PathValue("run"))
			r.console.WakeRuns()
			return err
		}), run)
	}
	return []route{
		run, liveRoute("runs/{run}/live", showRun, "run-live"),
		change("pause", false, (*operate.Operator).PauseRun),
		change("resume", false, (*operate.Operator).ResumeRun),
		change("cancel", true, (*operate.Operator).CancelRun),
		undo, liveRoute("runs/{run}/undo/live", showUndo, "undo-live"), post("runs/{run}/undo/", undoRun, undo),
		post("runs/{run}/for-real/", runForReal, run),
	}
}
