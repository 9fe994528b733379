package console

import (
	"cmp"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// overviewPage is what the overview shows.
type overviewPage struct {
	pageHead
	Suppliers []supplierSummary
	Summary   string // "2 running · 1 paused · 5 done"
}

// supplierSummary is one supplier as a row.
type supplierSummary struct{ operate.SupplierStand }

// Segments are the parts of the supplier's bar, each with the list behind it.
func (s supplierSummary) Segments() []Segment {
	list := func(state string) string { return listPath(s.Code, "accounts/", state, "", "", "") }
	return []Segment{
		{"imported", s.Imported, list("imported")}, {"in progress", s.InProgress, list("pending")}, {"staged", s.Staged, list("pending")},
		{"failed", s.Failed, list("failed")}, {"refused", s.Refused, list("refused")}, {"skipped", s.Skipped, list("skipped")},
	}
}

// Live says whether a run has not ended.
func (s supplierSummary) Live() bool { return s.Run != nil && !s.Run.State.Ended() }

// StallReason says why a run that has not ended does nothing, where it does nothing.
func (s supplierSummary) StallReason() string {
	switch {
	// The order is from the most certain reason to the least: what somebody decided explains why
	// it stands still.
	case !s.Live():
		return ""
	case s.Run.State == landfall.RunPaused:
		return pauseReasons[s.Run.Reason]
	case s.Still > 0:
		return "stands still for " + durationWords(s.Still)
	case s.Run.State == landfall.RunWaiting && s.Run.Plan.NotBefore.After(s.Run.ReadAt):
		return "waits for its time"
	}
	return ""
}

// Rate is how many accounts a running run does, in thousandths a second.
func (s supplierSummary) Rate() int64 {
	// Figures of a run that stands still are of a time that is over, so none are shown.
	if !s.Live() || s.Run.State != landfall.RunRunning || s.Still > 0 {
		return 0
	}
	return s.Run.PerThousandSeconds()
}

// Done says whether nothing is left to be created.
func (s supplierSummary) Done() bool {
	return s.Imported > 0 && s.Staged+s.Failed+s.Refused+s.InProgress == 0
}

// sortOrder puts what runs first, then what waits for somebody, then the rest.
func (s supplierSummary) sortOrder() int {
	switch {
	case s.Live() && s.Run.State == landfall.RunRunning:
		return 0
	case s.Live():
		return 1
	case s.Done():
		return 3
	}
	return 2
}

func showOverview(r *pageRequest) (any, error) {
	found, err := r.console.live.summaries(r.Context())
	if err != nil {
		return nil, err
	}
	page := overviewPage{pageHead: pageHead{Title: "Suppliers", Wide: true}}
	var running, paused, finished int
	for _, one := range found.Suppliers {
		s := supplierSummary{one}
		page.Suppliers = append(page.Suppliers, s)
		switch {
		case s.Live() && s.Run.State == landfall.RunRunning:
			running++
		// Both kinds of pause wait for somebody, and count once where a supplier and its run are
		// paused together.
		case s.Live() && s.Run.State == landfall.RunPaused, s.Status == landfall.Paused:
			paused++
		case s.Done():
			finished++
		}
	}
	slices.SortStableFunc(page.Suppliers, func(a, b supplierSummary) int { return cmp.Compare(a.sortOrder(), b.sortOrder()) })
	var words []string
	for _, part := range []struct {
		count int
		word  string
	}{{running, "running"}, {paused, "paused"}, {finished, "done"}} {
		if part.count > 0 {
			text, _ := formatInt(part.count)
			words = append(words, text+" "+part.word)
		}
	}
	page.Summary = strings.Join(words, " · ")
	return page, nil
}

func overviewRoutes() []route {
	return []route{get("", showOverview, "overview"), liveRoute("live", showOverview, "stands")}
}
