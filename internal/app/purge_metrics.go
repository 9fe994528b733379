package app

import (
	"landfall"
	"landfall/internal/api/httpapi"
)

// purgeMetrics returns the metrics about purging.
func (a *App) purgeMetrics(s *statsReader) []httpapi.LabelledMetric {
	figures := func() landfall.PurgeFigures {
		return a.upkeep.PurgeFigures()
	}
	one := func(get func(landfall.PurgeFigures) float64) func(func(float64, ...string)) {
		return func(report func(float64, ...string)) { report(get(figures())) }
	}
	return []httpapi.LabelledMetric{
		{Name: "landfall_purged_total", Counts: true, Labels: []string{"kind"},
			Help: "What this server has purged after its retention: documents, failures (their texts), mails (their addresses), events, runs (their accounts).",
			Read: func(report func(float64, ...string)) {
				gone := figures().Removed
				for kind, count := range map[string]int{
					"documents": gone.Documents, "failures": gone.Failures, "mails": gone.Mails, "events": gone.Events, "runs": gone.Runs,
				} {
					report(float64(count), kind)
				}
			}},
		{Name: "landfall_purge_steps_total", Counts: true, Help: "Purge steps of this server, each of a few hundred rows at most.",
			Read: one(func(f landfall.PurgeFigures) float64 { return float64(f.Steps) })},
		{Name: "landfall_purge_step_seconds_total", Counts: true, Help: "Time those steps took, without the pauses between them.",
			Read: one(func(f landfall.PurgeFigures) float64 { return f.Took.Seconds() })},
		{Name: "landfall_purge_longest_step_seconds", Help: "Duration of the longest of them.",
			Read: one(func(f landfall.PurgeFigures) float64 { return f.Longest.Seconds() })},
		{Name: "landfall_purge_unreadable_total", Counts: true, Help: "Rows that this server could not read while purging; the log and 'landfall doctor' name them.",
			Read: one(func(f landfall.PurgeFigures) float64 { return float64(f.Unreadable) })},
		{Name: "landfall_purge_ended_timestamp_seconds",
			Help: "When servers last completed a purge; 0 is never. Left out if nothing has a retention.",
			Read: func(report func(float64, ...string)) {
				if found := s.read(); found.purges {
					report(float64(found.purged))
				}
			}},
	}
}

// scrubMetrics returns the metrics about checking the stored data.
func scrubMetrics(s *statsReader) []httpapi.LabelledMetric {
	return []httpapi.LabelledMetric{
		{Name: "landfall_scrub_ended_timestamp_seconds",
			Help: "When servers last checked all stored data to the end. Left out until the first time.",
			Read: func(report func(float64, ...string)) {
				if ended := s.read().scrub.EndedAt; !ended.IsZero() {
					report(float64(ended.Unix()))
				}
			}},
		{Name: "landfall_scrub_findings", Help: "Damage found in the stored data by the last whole check or the one in progress.",
			Read: func(report func(float64, ...string)) { report(float64(s.read().scrub.Findings)) }},
	}
}
