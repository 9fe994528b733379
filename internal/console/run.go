package console

import (
	"fmt"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

// ran is what the page of a run shows.
type ran struct {
	head
	operate.RunFacts
	Undo   *undoing // of this run, under way or ended since the service started
	Pace   pacing
	Reason string
}

// firstFailures is how many failures stand on the page itself.
const firstFailures = 20

func showRun(v *visit) (any, error) {
	facts, err := v.operator().ShowRun(v.ctx(), v.value("run"), firstFailures)
	if err != nil {
		return nil, err
	}
	return &ran{
		head:     head{Title: "Run " + facts.ID, Trail: runTrail(facts.Run)},
		RunFacts: facts, Undo: v.console.undos.of(facts.ID), Pace: pace(facts.Samples), Reason: pauseWords[facts.Reason],
	}, nil
}

func runTrail(run landfall.Run) []crumb {
	return []crumb{{"Suppliers", Root}, {run.Plan.Supplier, address("suppliers", run.Plan.Supplier)}, {"Runs", address("suppliers", run.Plan.Supplier, "runs")}}
}

// Bar is what became of the run's accounts.
func (r ran) Bar() []Segment {
	good := "imported"
	if r.Plan.DryRun {
		good = "dry run"
	}
	return []Segment{
		{good, int64(r.Tally.Succeeded), ""}, {"failed", int64(r.Tally.Failed), ""}, {"refused", int64(r.Tally.Refused), ""}, {"staged", int64(r.Tally.Remaining()), ""},
	}
}

// Left is how many of what it created are still there.
func (r ran) Left() int { return r.Tally.Succeeded - r.Undone }

// Undoable says whether something can be taken back.
func (r ran) Undoable() bool { return r.State.Ended() && !r.Plan.DryRun && r.Left() > 0 }

// Sampled is what a sample says of the whole, in words.
func (r ran) Sampled() string {
	estimate, ok := r.Estimate()
	if !ok {
		return ""
	}
	share := func(s landfall.Share) string { return fmt.Sprintf("%d.%d %%", s/100, s%100/10) }
	return fmt.Sprintf("%s would pass; in 95 of 100 cases it is between %s and %s", share(estimate.Share), share(estimate.Low), share(estimate.High))
}

// pauseWords says why a run is paused.
var pauseWords = map[landfall.PauseReason]string{
	landfall.PauseRequested: "somebody paused it", landfall.PauseSupplierPaused: "its supplier is paused; it goes on with him",
	landfall.PauseSupplierComplete: "its supplier is complete", landfall.PauseKeyNotValid: "the key it acts for is good no more; resume it to let it act for you",
	landfall.PauseNotGranted: "the organisation it acts for is not granted the supplier", landfall.PauseWindowOver: "its window is over; resume it to go on all the same",
	landfall.PauseTeamUnknown: "its team is gone",
}

// pacing is how quick a run was, in a unit that its figures are read in.
type pacing struct {
	Unit   string
	Points []Point
}

// perSecondFrom is how many accounts a minute are told by the second: the words
// beside the chart count seconds too, and below that a second has too few.
const perSecondFrom = 600

// pace turns samples into accounts a second, or a minute where they are few.
func pace(samples []landfall.RunSample) pacing {
	paced := pacing{Unit: "a minute"}
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
	if highest >= perSecondFrom {
		paced.Unit = "a second"
		for i := range paced.Points {
			paced.Points[i].Count /= 60
		}
	}
	return paced
}

// startRun starts one and goes to its page.
func startRun(v *visit) (any, error) {
	plan, err := v.plan()
	if err != nil {
		return nil, err
	}
	run, err := v.operator().StartRun(v.ctx(), plan)
	if err != nil {
		return nil, err
	}
	// The runner looks by itself too, only later: who has just pressed the button is watching.
	v.console.Wake()
	return done{to: address("runs", run.ID), say: "The run is started."}, nil
}

// plan reads what somebody asks of a run.
func (v *visit) plan() (landfall.RunPlan, error) {
	plan := landfall.RunPlan{
		Supplier: v.value("supplier"), Team: v.typed("team"), Select: landfall.RunSelection(v.typed("select")), DryRun: v.typed("dry_run") != "",
	}
	// Texts that are no numbers are refused here; what the numbers may be is for the verb to say,
	// as it does for the command line.
	for name, into := range map[string]*int{"sample": &plan.Sample, "limit": &plan.Limit, "at_once": &plan.Concurrency} {
		if err := v.number(name, into); err != nil {
			return plan, err
		}
	}
	for name, into := range map[string]*time.Time{"not_before": &plan.NotBefore, "not_after": &plan.NotAfter} {
		if err := v.moment(name, into); err != nil {
			return plan, err
		}
	}
	return plan, nil
}

// number reads a whole number; nothing typed is 0.
func (v *visit) number(name string, into *int) error {
	text := v.typed(name)
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

// moment reads a time of the reader's zone, as browsers send it.
func (v *visit) moment(name string, into *time.Time) error {
	text := v.typed(name)
	if text == "" {
		return nil
	}
	zone, err := time.LoadLocation(v.zone())
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
func changeRun(how func(*operate.Operator, *visit, string) (landfall.Run, error), say string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		id := v.value("run")
		if _, err := how(v.operator(), v, id); err != nil {
			return nil, err
		}
		v.console.Wake()
		return done{to: address("runs", id), say: say}, nil
	}
}

func pauseRun(o *operate.Operator, v *visit, id string) (landfall.Run, error) {
	return o.PauseRun(v.ctx(), id)
}
func resumeRun(o *operate.Operator, v *visit, id string) (landfall.Run, error) {
	return o.ResumeRun(v.ctx(), id)
}

// cancelRun wants the supplier's code typed: a cancelled run is over for good.
func cancelRun(o *operate.Operator, v *visit, id string) (landfall.Run, error) {
	facts, err := o.ShowRun(v.ctx(), id, 0)
	// Asked before it is cancelled, because the code to type is the supplier's and the address
	// only names the run.
	if err == nil {
		err = v.confirmed(facts.Plan.Supplier)
	}
	if err != nil {
		return landfall.Run{}, err
	}
	return o.CancelRun(v.ctx(), id)
}

// confirmed refuses a dangerous act unless the supplier's code was typed.
func (v *visit) confirmed(code string) error {
	if v.typed("confirm") != code {
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Type %s to confirm. Nothing was done.", code))
	}
	return nil
}

func runPages() []page {
	shown, undone := reads("runs/{run}/", showRun, "run"), reads("runs/{run}/undo/", showUndo, "undo")
	return []page{
		shown, live("runs/{run}/live", showRun, "run-live"),
		acts("runs/{run}/pause/", changeRun(pauseRun, "The run pauses as soon as what is being created is finished."), shown),
		acts("runs/{run}/resume/", changeRun(resumeRun, "The run goes on."), shown),
		acts("runs/{run}/cancel/", changeRun(cancelRun, "The run ends as soon as what is being created is finished."), shown),
		undone, live("runs/{run}/undo/live", showUndo, "undo-parts"), acts("runs/{run}/undo/", undoRun, undone),
	}
}
