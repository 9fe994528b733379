package console

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

type overviewPage struct {
	pageHead
	Suppliers       []supplierSummary
	FailingWebhooks []string
	Summary         string // "2 running · 1 paused · 5 done"
}

// supplierSummary is the progress of one supplier.
type supplierSummary struct{ operate.SupplierState }

// Segments are the parts of the supplier's bar, each with its list.
func (s supplierSummary) Segments() []Segment {
	path := func(state string) string { return listPath(s.Code, "accounts/", state, "", "", "") }
	return []Segment{
		{"imported", s.Imported, path("imported")}, {"running", s.InProgress, ""}, {"staged", s.Staged, path("staged")},
		{"failed", s.Failed, path("failed")}, {"refused", s.Refused, path("refused")}, {"skipped", s.Skipped, path("skipped")},
	}
}

// Live reports whether a run has not ended.
func (s supplierSummary) Live() bool { return s.Run != nil && !s.Run.State.Ended() }

func (s supplierSummary) running() bool { return s.Live() && s.Run.State == landfall.RunRunning }

// StallReason says why a live run makes no progress, if it makes none.
func (s supplierSummary) StallReason() template.HTML {
	switch {
	case !s.Live():
		return ""
	case s.Run.State == landfall.RunPaused:
		return pauseText(*s.Run, s.Acts)
	case s.Still > 0:
		return template.HTML("no progress for " + durationWords(s.Still)) //nolint:gosec // our own text
	case s.Run.State == landfall.RunWaiting && s.Run.Plan.NotBefore.After(s.Run.ReadAt):
		return "waiting for its start time"
	}
	return ""
}

// UndoneText says that the last run was undone, by whom and why.
func (s supplierSummary) UndoneText() string {
	if s.Run == nil {
		return ""
	}
	return undoneText(*s.Run, s.Acts)
}

// selectionCounts is how many accounts a run with each selection would have.
func (s supplierSummary) selectionCounts() map[landfall.RunSelection]int64 {
	return map[landfall.RunSelection]int64{
		landfall.SelectPending: s.Staged + s.InProgress + s.Failed, landfall.SelectUntried: s.Staged, landfall.SelectFailed: s.Failed,
	}
}

// Rate is the speed of a running run in accounts per 1,000 seconds. It is 0 for a
// stalled run, whose average describes the past.
func (s supplierSummary) Rate() int64 {
	if !s.running() || s.Still > 0 {
		return 0
	}
	return s.Run.PerThousandSeconds()
}

// Done reports whether every account is imported.
func (s supplierSummary) Done() bool {
	return s.Imported > 0 && s.Staged+s.Failed+s.Refused+s.InProgress == 0
}

// Finished reports whether there is nothing left to do. The overview has one line for it.
func (s supplierSummary) Finished() bool { return s.Done() && !s.Live() && s.UndoneText() == "" }

// sortOrder puts suppliers that need somebody first, then those that run, then the rest.
func (s supplierSummary) sortOrder() int {
	switch {
	case s.StallReason() != "":
		return 0
	case s.Failed+s.Refused > 0:
		return 1
	case s.Live():
		return 2
	case s.Done():
		return 4
	}
	return 3
}

// attention is something that needs somebody, and where to do something about it.
type attention struct {
	Subject      string
	Text         template.HTML
	Path, Action string
	State        string // its colour
}

// Attention lists what needs somebody.
func (p overviewPage) Attention() (items []attention) {
	for _, s := range p.Suppliers {
		if reason := s.StallReason(); reason != "" {
			items = append(items, attention{s.Code, template.HTML("Run "+s.Run.ID+": ") + reason, consolePath("runs", s.Run.ID), "Open the run", "refused"}) //nolint:gosec // our own text
		}
		if s.Failed > 0 {
			text, _ := plural(s.Failed, "account failed", "accounts failed")                                                                        // an int64
			items = append(items, attention{s.Code, template.HTML(text), consolePath("suppliers", s.Code, "failures"), "See the causes", "failed"}) //nolint:gosec // our own text
		}
		if s.Refused > 0 {
			text, _ := plural(s.Refused, "account was refused and is not staged", "accounts were refused and are not staged")                        // an int64
			items = append(items, attention{s.Code, template.HTML(text), consolePath("suppliers", s.Code, "failures"), "See the causes", "refused"}) //nolint:gosec // our own text
		}
	}
	for _, name := range p.FailingWebhooks {
		items = append(items, attention{name, "Webhook fails; its events wait", consolePath("admin", "webhooks", name), "Open the webhook", "failed"})
	}
	return items
}

func showOverview(r *pageRequest) (any, error) {
	overview, err := r.console.live.summaries(r.Context(), r.me)
	if err != nil {
		return nil, err
	}
	page := overviewPage{pageHead: pageHead{Title: "Suppliers"}}
	if r.me.May(landfall.MayInspect, "") {
		page.FailingWebhooks = overview.FailingWebhooks
	}
	counts := map[string]int{}
	for _, one := range overview.Suppliers {
		supplier := supplierSummary{one}
		page.Suppliers = append(page.Suppliers, supplier)
		switch {
		case supplier.running():
			counts["running"]++
		case supplier.Live() && supplier.Run.State == landfall.RunPaused, supplier.Status == landfall.Paused:
			counts["paused"]++
		case supplier.Done():
			counts["done"]++
		}
	}
	slices.SortStableFunc(page.Suppliers, func(a, b supplierSummary) int { return cmp.Compare(a.sortOrder(), b.sortOrder()) })
	var texts []string
	for _, name := range []string{"running", "paused", "done"} {
		if counts[name] > 0 {
			texts = append(texts, strconv.Itoa(counts[name])+" "+name)
		}
	}
	page.Summary = strings.Join(texts, " · ")
	return page, nil
}

func overviewRoutes() []route {
	// People without a role see no supplier.
	return []route{get("", showOverview, "overview").requiring(0), liveRoute("live", showOverview, "overview-live").requiring(0)}
}
