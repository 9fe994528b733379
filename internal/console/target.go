package console

import (
	"cmp"
	"fmt"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

type targetsPage struct {
	pageHead
	Targets []landfall.TargetFigures
}

func listTargets(r *pageRequest) (any, error) {
	found, err := r.operator().Targets(r.Context())
	return targetsPage{adminHead("Targets", "targets"), found}, err
}

// targetPage shows a target and some of its deliveries.
type targetPage struct {
	pageHead
	landfall.TargetFigures
	NewSecret  string // shown once
	Shown      string // the state of the deliveries in the list
	Deliveries []targetRow
	States     []landfall.TargetDeliveryState
}

type targetRow struct {
	landfall.TargetDelivery
	RetryPath string // "": it cannot be sent again
}

// ID identifies the delivery.
func (d *targetRow) ID() string { return contract.DeliveryID(d.TargetDelivery.ID, d.At) }

// maxTargetRows is how many deliveries a page shows.
const maxTargetRows = 100

func showTarget(r *pageRequest) (any, error) { return r.targetPage(r.PathValue("target")) }

func (r *pageRequest) targetPage(code string) (targetPage, error) {
	page := targetPage{pageHead: adminHead(code, "targets").withParent("Targets", "targets"), States: landfall.TargetDeliveryStates}
	var err error
	if page.TargetFigures, err = r.operator().ShowTarget(r.Context(), code); err != nil {
		return page, err
	}
	operates := r.me.May(landfall.MayAdminister, "")
	// The URL may contain a token. Who may not change the target need not know it.
	if !operates {
		page.Target.URL = page.Target.MaskedURL()
	}
	page.Shown = r.URL.Query().Get("state")
	switch {
	case page.Shown != "":
	case page.Refused == 0 && page.Waiting > 0:
		page.Shown = string(landfall.TargetWaiting)
	default:
		page.Shown = string(landfall.TargetRefused)
	}
	found, err := r.operator().Deliveries(r.Context(), landfall.TargetDeliveryQuery{
		Target: code, State: landfall.TargetDeliveryState(page.Shown), Limit: maxTargetRows,
	})
	for _, one := range found {
		row := targetRow{TargetDelivery: one}
		switch {
		case !operates: // what a target says about an account may be personal
			row.Reply = ""
		case one.State == landfall.TargetRefused && !one.Held:
			row.RetryPath = consolePath("admin", "targets", code) + "replay/"
		}
		page.Deliveries = append(page.Deliveries, row)
	}
	return page, err
}

// setTarget creates or changes a target. It renders a new secret in its response,
// because it is shown only once.
func setTarget(r *pageRequest) (any, error) {
	url, program, back := r.formValue("url"), r.formValue("shape"), r.formValue("takes_back") != ""
	change := operate.TargetChange{URL: &url, Shape: &program, TakesBack: &back}
	many, err := r.formInt("at_once")
	if err != nil {
		return nil, err
	}
	if many != 0 {
		change.AtOnce = &many
	}
	saved, secret, err := r.operator().SetTarget(r.Context(), cmp.Or(r.PathValue("target"), r.formValue("code")), change)
	if err != nil {
		return nil, err
	}
	page, err := r.targetPage(saved.Code)
	page.NewSecret = secret
	return page, err
}

func testTarget(r *pageRequest) (any, error) {
	code := r.PathValue("target")
	answer, err := r.operator().TestTarget(r.Context(), code)
	message := fmt.Sprintf("The target answered with HTTP %d.", answer.Status)
	if answer.Words != "" {
		message = "The test failed: " + answer.Words
	}
	return redirect{consolePath("admin", "targets", code), message}, err
}

func replayTarget(r *pageRequest) (any, error) {
	code := r.PathValue("target")
	var ids []string
	if id := r.formValue("delivery"); id != "" {
		ids = []string{id}
	}
	count, err := r.operator().RetryDeliveries(r.Context(), code, ids)
	return redirect{consolePath("admin", "targets", code), fmt.Sprintf("Sending %d deliveries again.", count)}, err
}

func targetRoutes() []route {
	list, one := get("admin/targets/", listTargets, "targets"), get("admin/targets/{target}/", showTarget, "target")
	to := pathTo("admin", "targets", "{target}")
	add := post("admin/targets/", setTarget, list)
	add.view = one.view // shows the new target with its secret
	return []route{
		list, add, one, post("admin/targets/{target}/replay/", replayTarget, one),
		post("admin/targets/{target}/set/", setTarget, one), post("admin/targets/{target}/test/", testTarget, one),
		post("admin/targets/{target}/remove/", confirmedAction("target", pathTo("admin", "targets"), "Target removed.",
			withName("target", (*operate.Operator).RemoveTarget)), one),
		post("admin/targets/{target}/pause/", action(to, "Target paused.", withName("target", (*operate.Operator).PauseTarget)), one),
		post("admin/targets/{target}/resume/", action(to, "Target resumed.", withName("target", (*operate.Operator).ResumeTarget)), one),
	}
}
