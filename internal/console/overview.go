package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// overviewPage lists the suppliers.
type overviewPage struct {
	pageHead
	Suppliers []supplierSummary
	Summary   string // "2 running · 1 paused · 5 done"
}

// supplierSummary is the progress of one supplier.
type supplierSummary struct{ operate.SupplierState }

// Segments are the parts of the supplier's bar, each with its list.
func (s supplierSummary) Segments() []Segment {
	path := func(state string) string { return listPath(s.Code, "accounts/", state, "", "", "") }
	return []Segment{
		{"imported", s.Imported, path("imported")}, {"in progress", s.InProgress, path("pending")}, {"staged", s.Staged, path("pending")},
		{"failed", s.Failed, path("failed")}, {"refused", s.Refused, path("refused")}, {"skipped", s.Skipped, path("skipped")},
	}
}

// Live reports whether a run has not ended.
func (s supplierSummary) Live() bool { return s.Run != nil && !s.Run.State.Ended() }

func (s supplierSummary) running() bool { return s.Live() && s.Run.State == landfall.RunRunning }

// StallReason says why a live run makes no progress, if it makes none.
func (s supplierSummary) StallReason() string {
	switch {
	case !s.Live():
		return ""
	case s.Run.State == landfall.RunPaused:
		return pauseReasons[s.Run.Reason]
	case s.Still > 0:
		return "no progress for " + durationWords(s.Still)
	case s.Run.State == landfall.RunWaiting && s.Run.Plan.NotBefore.After(s.Run.ReadAt):
		return "waiting for its start time"
	}
	return ""
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

// sortOrder puts running suppliers first, then those that wait, then the rest.
func (s supplierSummary) sortOrder() int {
	switch {
	case s.running():
		return 0
	case s.Live():
		return 1
	case s.Done():
		return 3
	}
	return 2
}

func showOverview(r *pageRequest) (any, error) {
	overview, err := r.console.live.summaries(r.Context(), r.me)
	if err != nil {
		return nil, err
	}
	page := overviewPage{pageHead: pageHead{Title: "Suppliers", Wide: true}}
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
