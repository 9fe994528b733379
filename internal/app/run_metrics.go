package app

import (
	"context"

	"landfall/internal/api/httpapi"
	"landfall/internal/service/run"
)

// AdvanceRuns works on runs until the context ends. Run does the same for a whole
// server.
func (a *App) AdvanceRuns(ctx context.Context) { a.runs.Run(ctx) }

// runReadings returns the metrics of this replica's work on runs.
func (a *App) runReadings() []httpapi.FuncMetric {
	// Use a.runs only when a metric is read: metrics are declared before the
	// runner exists.
	reading := func(name, help string, counts bool, read func(run.Figures) int64) httpapi.FuncMetric {
		return httpapi.FuncMetric{Name: name, Help: help, Counts: counts, Read: func() float64 { return float64(read(a.runs.Figures())) }}
	}
	return []httpapi.FuncMetric{
		reading("landfall_runs_live", "Runs that have not ended, as this replica last saw them.", false,
			func(f run.Figures) int64 { return f.Live }),
		reading("landfall_run_workers_busy", "Workers of this replica that are creating a run's accounts.", false,
			func(f run.Figures) int64 { return f.Busy }),
		reading("landfall_run_accounts_created_total", "Accounts that runs have created on this replica.", true,
			func(f run.Figures) int64 { return f.Created }),
		reading("landfall_run_accounts_dry_run_total", "Accounts that passed a dry run of a run on this replica.", true,
			func(f run.Figures) int64 { return f.DryRun }),
		reading("landfall_run_accounts_failed_total", "Accounts of runs that failed on this replica because of their data.", true,
			func(f run.Figures) int64 { return f.Failed }),
		reading("landfall_run_accounts_refused_total", "Accounts of runs that were skipped or taken by another caller.", true,
			func(f run.Figures) int64 { return f.Refused }),
		reading("landfall_run_accounts_retried_total", "Times an account of a run was left for a later attempt.", true,
			func(f run.Figures) int64 { return f.Retried }),
	}
}
