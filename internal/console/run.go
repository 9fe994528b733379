package console

import (
	"fmt"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

// runPage is what the page of a run shows.
type runPage struct {
	pageHead
	operate.RunFacts
	Undo       *undoJob // of this run, under way or ended since the service started
	Throughput throughput
	PauseText  string
}

// maxRunFailures is how many failures stand on the page itself.
const maxRunFailures = 20

func showRun(r *pageRequest) (any, error) {
	facts, err := r.operator().ShowRun(r.Context(), r.PathValue("run"), maxRunFailures)
	if err != nil {
		return nil, err
	}
	return &runPage{
		pageHead: pageHead{Title: "Run " + facts.ID, Breadcrumbs: runBreadcrumbs(facts.Run)},
		RunFacts: facts, Undo: r.console.undoJobs.get(facts.ID), Throughput: throughputOf(facts.Samples), PauseText: pauseReasons[facts.Reason],
	}, nil
}

func runBreadcrumbs(run landfall.Run) []breadcrumb {
	return []breadcrumb{{"Suppliers", Root}, {run.Plan.Supplier, consolePath("suppliers", run.Plan.Supplier)}, {"Runs", consolePath("suppliers", run.Plan.Supplier, "runs")}}
}

// Segments is what became of the run's accounts.
func (r runPage) Segments() []Segment {
	good := "imported"
	if r.Plan.DryRun {
		good = "dry run"
	}
	return []Segment{
		{good, int64(r.Tally.Succeeded), ""}, {"failed", int64(r.Tally.Failed), ""}, {"refused", int64(r.Tally.Refused), ""}, {"staged", int64(r.Tally.Remaining()), ""},
	}
}

// Remaining is how many of what it created are still there.
func (r runPage) Remaining() int { return r.Tally.Succeeded - r.Undone }

// Undoable says whether something can be taken back.
func (r runPage) Undoable() bool { return r.State.Ended() && !r.Plan.DryRun && r.Remaining() > 0 }

// EstimateText is what a sample says of the whole, in words.
func (r runPage) EstimateText() string {
	estimate, ok := r.Estimate()
	if !ok {
		return ""
	}
	share := func(s landfall.Share) string { return fmt.Sprintf("%d.%d %%", s/100, s%100/10) }
	return fmt.Sprintf("%s would pass; in 95 of 100 cases it is between %s and %s", share(estimate.Share), share(estimate.Low), share(estimate.High))
}

// pauseReasons says why a run is paused.
var pauseReasons = map[landfall.PauseReason]string{
	landfall.PauseRequested: "somebody paused it", landfall.PauseSupplierPaused: "its supplier is paused; it goes on with him",
	landfall.PauseSupplierComplete: "its supplier is complete", landfall.PauseKeyNotValid: "the key it acts for is good no more; resume it to let it act for you",
	landfall.PauseNotGranted: "the organisation it acts for is not granted the supplier", landfall.PauseWindowOver: "its window is over; resume it to go on all the same",
	landfall.PauseTeamUnknown: "its team is gone",
}

// throughput is how quick a run was, in a unit that its figures are read in.
type throughput struct {
	Unit   string
	Points []Point
}

// minPerMinuteForSeconds is how many accounts a minute are told by the second: the words
// beside the chart count seconds too, and below that a second has too few.
const minPerMinuteForSeconds = 600

// throughputOf turns samples into accounts a second, or a minute where they are few.
func throughputOf(samples []landfall.RunSample) throughput {
	paced := throughput{Unit: "a minute"}
	highest := int64(0)
	// At most some 120 points: more could not be told apart at the chart's width, and the table
	// below it would be endless.
	step := max(1, len(samples)/120)
	for i := step; i < len(samples); i += step {
		before, now := samples[i-step], samples[i]
		span := now.At.Sub(before.At)
		if span <= 0 {
			continue
		}
		// Per minute first whatever the unit: whole numbers of slow runs would all be 0 a second.
		point := Point{At: now.At, Count: int64(now.Done-before.Done) * int64(time.Minute) / int64(span), Pause: before.State == landfall.RunPaused}
		highest = max(highest, point.Count)
		paced.Points = append(paced.Points, point)
	}
	if highest >= minPerMinuteForSeconds {
		paced.Unit = "a second"
		for i := range paced.Points {
			paced.Points[i].Count /= 60
		}
	}
	return paced
}

// startRun starts one and goes to its page.
func startRun(r *pageRequest) (any, error) {
	plan, err := r.runPlan()
	if err != nil {
		return nil, err
	}
	run, err := r.operator().StartRun(r.Context(), plan)
	if err != nil {
		return nil, err
	}
	// The runner looks by itself too, only later: who has just pressed the button is watching.
	r.console.WakeRuns()
	return redirect{to: consolePath("runs", run.ID), message: "The run is started."}, nil
}

// runPlan reads what somebody asks of a run.
func (r *pageRequest) runPlan() (landfall.RunPlan, error) {
	plan := landfall.RunPlan{
		Supplier: r.PathValue("supplier"), Team: r.formValue("team"), Select: landfall.RunSelection(r.formValue("select")), DryRun: r.formValue("dry_run") != "",
	}
	// Texts that are no numbers are refused here; what the numbers may be is for the verb to say,
	// as it does for the command line.
	for name, into := range map[string]*int{"sample": &plan.Sample, "limit": &plan.Limit, "at_once": &plan.Concurrency} {
		if err := r.formInt(name, into); err != nil {
			return plan, err
		}
	}
	for name, into := range map[string]*time.Time{"not_before": &plan.NotBefore, "not_after": &plan.NotAfter} {
		if err := r.formTime(name, into); err != nil {
			return plan, err
		}
	}
	return plan, nil
}

// formInt reads a whole number; nothing typed is 0.
func (r *pageRequest) formInt(name string, into *int) error {
	text := r.formValue(name)
	if text == "" {
		return nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%q is not a whole number.", text))
	}
	*into = number
	return nil
}

// formTime reads a time of the reader's zone, as browsers send it.
func (r *pageRequest) formTime(name string, into *time.Time) error {
	text := r.formValue(name)
	if text == "" {
		return nil
	}
	zone, err := time.LoadLocation(r.zone())
	if err != nil {
		zone = time.UTC
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			*into = at.UTC()
			return nil
		}
	}
	return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%q is not a time such as 2026-11-16 22:30.", text))
}

// changeRun does one of the three things to a run that has not ended.
func changeRun(how func(*operate.Operator, *pageRequest, string) (landfall.Run, error), say string) func(*pageRequest) (any, error) {
	return func(r *pageRequest) (any, error) {
		id := r.PathValue("run")
		if _, err := how(r.operator(), r, id); err != nil {
			return nil, err
		}
		r.console.WakeRuns()
		return redirect{to: consolePath("runs", id), message: say}, nil
	}
}

func pauseRun(o *operate.Operator, r *pageRequest, id string) (landfall.Run, error) {
	return o.PauseRun(r.Context(), id)
}
func resumeRun(o *operate.Operator, r *pageRequest, id string) (landfall.Run, error) {
	return o.ResumeRun(r.Context(), id)
}

// cancelRun wants the supplier's code typed: a cancelled run is over for good.
func cancelRun(o *operate.Operator, r *pageRequest, id string) (landfall.Run, error) {
	facts, err := o.ShowRun(r.Context(), id, 0)
	// Asked before it is cancelled, because the code to type is the supplier's and the address
	// only names the run.
	if err == nil {
		err = r.requireConfirmation(facts.Plan.Supplier)
	}
	if err != nil {
		return landfall.Run{}, err
	}
	return o.CancelRun(r.Context(), id)
}

// requireConfirmation refuses a dangerous act unless the supplier's code was typed.
func (r *pageRequest) requireConfirmation(code string) error {
	if r.formValue("confirm") != code {
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Type %s to confirm. Nothing was done.", code))
	}
	return nil
}

func runRoutes() []route {
	shown, undone := get("runs/{run}/", showRun, "run"), get("runs/{run}/undo/", showUndo, "undo")
	return []route{
		shown, liveRoute("runs/{run}/live", showRun, "run-live"),
		post("runs/{run}/pause/", changeRun(pauseRun, "The run pauses as soon as what is being created is finished."), shown),
		post("runs/{run}/resume/", changeRun(resumeRun, "The run goes on."), shown),
		post("runs/{run}/cancel/", changeRun(cancelRun, "The run ends as soon as what is being created is finished."), shown),
		undone, liveRoute("runs/{run}/undo/live", showUndo, "undo-parts"), post("runs/{run}/undo/", undoRun, undone),
	}
}
