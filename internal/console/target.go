package console

import (
	"fmt"

	"landfall"
	"landfall/internal/service/operate"
)

// targetsPage lists the targets.
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
	Shown      string // the state of the deliveries in the list
	Deliveries []landfall.TargetDelivery
	States     []landfall.TargetDeliveryState
}

// maxTargetRows is how many deliveries a page shows.
const maxTargetRows = 100

func showTarget(r *pageRequest) (any, error) {
	code := r.PathValue("target")
	page := targetPage{pageHead: adminHead(code, "targets").withParent("Targets", "targets"), States: landfall.TargetDeliveryStates}
	var err error
	if page.TargetFigures, err = r.operator().ShowTarget(r.Context(), code); err != nil {
		return nil, err
	}
	// The URL may contain a token. Who may not change the target need not know it.
	if !r.me.May(landfall.MayAdminister, "") {
		page.Target.URL = page.Target.MaskedURL()
	}
	if page.Shown = r.URL.Query().Get("state"); page.Shown == "" {
		page.Shown = string(landfall.TargetRefused)
	}
	page.Deliveries, err = r.operator().Deliveries(r.Context(), landfall.TargetDeliveryQuery{
		Target: code, State: landfall.TargetDeliveryState(page.Shown), Limit: maxTargetRows,
	})
	for i := range page.Deliveries {
		// What a target says about an account may be personal.
		if !r.me.May(landfall.MayAdminister, "") {
			page.Deliveries[i].Reply = ""
		}
	}
	return page, err
}

func replayTarget(r *pageRequest) (any, error) {
	code := r.PathValue("target")
	count, err := r.operator().RetryDeliveries(r.Context(), code, nil)
	return redirect{consolePath("admin", "targets", code), fmt.Sprintf("Sending %d deliveries again.", count)}, err
}

func targetRoutes() []route {
	list, one := get("admin/targets/", listTargets, "targets"), get("admin/targets/{target}/", showTarget, "target")
	to := pathTo("admin", "targets", "{target}")
	return []route{
		list, one, post("admin/targets/{target}/replay/", replayTarget, one),
		post("admin/targets/{target}/pause/", action(to, "Target paused.", withName("target", (*operate.Operator).PauseTarget)), one),
		post("admin/targets/{target}/resume/", action(to, "Target resumed.", withName("target", (*operate.Operator).ResumeTarget)), one),
	}
}
