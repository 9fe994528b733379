package app

import (
	"context"
	"strconv"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

const (
	// maxSuppliers limits how many suppliers have metrics of their own. Each one
	// adds about ten time series to the monitoring system.
	maxSuppliers = 200
)

// stateLabels maps account statuses to the labels on dashboards.
var stateLabels = map[landfall.AccountStatus]string{
	landfall.StatusPending: "pending", landfall.StatusFailed: "failed", landfall.StatusSkipped: "skipped",
	landfall.StatusUnstaged: "skipped", landfall.StatusCreated: "imported",
}

// statsReader reads the progress of the migration from the database, at most
// every ten seconds, in one snapshot. It reads stored sums, so it costs the same
// for ten accounts and for ten million.
type statsReader struct {
	store landfall.Transactor
	mu    sync.Mutex
	asked time.Time
	found migrationStats
}

// migrationStats is the result of one read. Suppliers beyond maxSuppliers are in
// none of the maps.
type migrationStats struct {
	accounts  map[string]map[string]int64 // by supplier and status
	deviating map[string]int64
	runs      map[landfall.RunState]int64
	remaining map[string]int64 // accounts of runs, by supplier
	active    map[string]int64 // 1 while a run should make progress
	health    landfall.DatabaseHealth
	claims    map[string]int64
	signed    map[string]int64 // when, in seconds since 1970
	purges    bool             // some supplier has a retention period
	purged    int64            // when the last complete purge ended, in seconds since 1970
	scrub     landfall.ScrubStatus
}

// read returns the latest stats, or the previous ones if the database is
// unavailable.
func (s *statsReader) read() migrationStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	// All metrics of a scrape come from one read. It ends well within the ten
	// seconds that scrapers usually wait.
	if time.Since(s.asked) > limits.MetricsAge {
		// Set it before the read, so that a database in trouble is not queried
		// again for every metric of the same scrape.
		s.asked = time.Now()
		ctx, stop := context.WithTimeout(context.Background(), limits.MetricsRead)
		defer stop()
		var found migrationStats
		if err := s.store.View(ctx, func(view landfall.View) (err error) {
			found, err = readStats(ctx, view)
			return err
		}); err == nil {
			s.found = found
		}
	}
	return s.found
}

// readStats reads everything in one view, so that related figures agree.
func readStats(ctx context.Context, view landfall.View) (migrationStats, error) {
	found := migrationStats{
		accounts: map[string]map[string]int64{}, deviating: map[string]int64{},
		runs: map[landfall.RunState]int64{}, remaining: map[string]int64{}, active: map[string]int64{},
	}
	suppliers, err := view.Suppliers(ctx)
	if err != nil {
		return found, err
	}
	for _, supplier := range suppliers[:min(len(suppliers), maxSuppliers)] {
		tallies, err := view.Tallies(ctx, supplier.Code)
		if err != nil {
			return found, err
		}
		counts := map[string]int64{"refused": tallies.Refused}
		for standing, name := range stateLabels {
			// Show a status without accounts as 0. A series that comes and goes
			// cannot be compared over time, and alerts on it would not work.
			counts[name] += 0
			for _, sums := range tallies.Sums[standing] {
				counts[name] += sums[landfall.AtAccounts].Count()
			}
		}
		found.accounts[supplier.Code] = counts
		found.purges = found.purges || !supplier.Retention.Forever()
		// Likewise for suppliers without a run.
		found.remaining[supplier.Code], found.active[supplier.Code] = 0, 0
		if found.deviating[supplier.Code], err = view.DeviatingAccounts(ctx, supplier.Code); err != nil {
			return found, err
		}
	}
	alive, err := view.InProgress(ctx)
	if err != nil {
		return found, err
	}
	found.claims = make(map[string]int64, len(found.accounts))
	// Include exactly the suppliers that have metrics, also those without claims.
	for supplier := range found.accounts {
		found.claims[supplier] = alive[supplier]
	}
	signed, err := view.SignedOffAt(ctx)
	if err != nil {
		return found, err
	}
	found.signed = make(map[string]int64, len(signed))
	for supplier, at := range signed {
		if _, named := found.accounts[supplier]; named {
			found.signed[supplier] = at.Unix()
		}
	}
	if found.purges {
		ended, err := view.PurgeEnded(ctx)
		if err != nil {
			return found, err
		}
		// If no purge was ever completed, ended is the zero time, which is long
		// before 1970.
		found.purged = max(0, ended.Unix())
	}
	if found.scrub, err = view.ScrubStatus(ctx); err != nil {
		return found, err
	}
	live, err := view.LiveRuns(ctx)
	if err != nil {
		return found, err
	}
	for _, run := range live {
		found.runs[run.State]++
		if _, named := found.remaining[run.Plan.Supplier]; named {
			found.remaining[run.Plan.Supplier] += int64(run.Tally.Remaining())
			if run.State == landfall.RunRunning {
				found.active[run.Plan.Supplier] = 1
			}
		}
	}
	found.health, err = view.DatabaseHealth(ctx)
	return found, err
}

// databaseMetrics returns the labelled metrics for the operator's dashboards.
func (a *App) databaseMetrics() []httpapi.LabelledMetric {
	// All metrics share one reader, so that those of a scrape agree with each
	// other.
	s := &statsReader{store: a.store}
	each := func(of func(migrationStats) map[string]int64) func(func(float64, ...string)) {
		return func(report func(float64, ...string)) {
			for supplier, value := range of(s.read()) {
				report(float64(value), supplier)
			}
		}
	}
	return append([]httpapi.LabelledMetric{
		{Name: "landfall_supplier_accounts", Labels: []string{"supplier", "standing"},
			Help: "Accounts of a supplier by status: pending, failed, skipped, imported, or refused if only a refused staging is known. The same on every server.",
			Read: func(report func(float64, ...string)) {
				for supplier, counts := range s.read().accounts {
					for standing, count := range counts {
						report(float64(count), supplier, standing)
					}
				}
			}},
		{Name: "landfall_supplier_deviating_accounts", Labels: []string{"supplier"},
			Help: "Accounts whose ledger or contents differ from what was sent for them.",
			Read: each(func(s migrationStats) map[string]int64 { return s.deviating })},
		{Name: "landfall_supplier_signed_off_timestamp_seconds", Labels: []string{"supplier"},
			Help: "When the reconciliation of a supplier was last signed off; suppliers without one are left out.",
			Read: each(func(s migrationStats) map[string]int64 { return s.signed })},
		{Name: "landfall_run_remaining_accounts", Labels: []string{"supplier"},
			Help: "Accounts that a supplier's run still has to create.",
			Read: each(func(s migrationStats) map[string]int64 { return s.remaining })},
		{Name: "landfall_run_active", Labels: []string{"supplier"},
			Help: "1 while a supplier's run should make progress; 0 without a run, and while it waits or is paused.",
			Read: each(func(s migrationStats) map[string]int64 { return s.active })},
		{Name: "landfall_claims", Labels: []string{"supplier"}, Help: "Accounts of a supplier that are being created now, by all servers.",
			Read: each(func(s migrationStats) map[string]int64 { return s.claims })},
		{Name: "landfall_runs", Labels: []string{"state"}, Help: "Runs that have not ended, by state.",
			Read: func(report func(float64, ...string)) {
				runs := s.read().runs
				for _, state := range landfall.RunStates {
					if !state.Ended() {
						report(float64(runs[state]), string(state))
					}
				}
			}},
		{Name: "landfall_vendor_breakers_open", Labels: []string{"vendor"},
			Help: "Organisations for which a payment vendor is not called because it failed.",
			Read: func(report func(float64, ...string)) {
				// The metrics are declared before the vendors exist.
				if a.vendors == nil {
					return
				}
				for vendor, open := range a.vendors.Breakers() {
					report(float64(open), vendor)
				}
			}},
	}, append(append(a.purgeMetrics(s), scrubMetrics(s)...), append(a.engineMetrics(), a.alarmMetrics(s)...)...)...)
}

// engineStore is a store that reports the statistics of its engine. They are not
// part of landfall.Store, because its users do not need them.
type engineStore interface{ Figures() engine.Stats }

// engineMetrics returns the metrics of this server's use of the database.
func (a *App) engineMetrics() []httpapi.LabelledMetric {
	figures := func() engine.Stats {
		if m, ok := a.store.(engineStore); ok {
			return m.Figures()
		}
		return engine.Stats{}
	}
	one := func(get func(engine.Stats) float64) func(func(float64, ...string)) {
		return func(report func(float64, ...string)) { report(get(figures())) }
	}
	pools := func(get func(engine.PoolStats) int) func(func(float64, ...string)) {
		return func(report func(float64, ...string)) {
			for _, pool := range figures().Pools {
				report(float64(get(pool)), pool.Name)
			}
		}
	}
	return []httpapi.LabelledMetric{
		{Name: "landfall_database_connections_max", Labels: []string{"pool"}, Help: "Maximum connections of this server to the database, by purpose.",
			Read: pools(func(p engine.PoolStats) int { return p.Size })},
		{Name: "landfall_database_connections_busy", Labels: []string{"pool"}, Help: "Connections in use now.",
			Read: pools(func(p engine.PoolStats) int { return p.InUse })},
		{Name: "landfall_database_calls_inside", Help: "Calls that wait to be written or are being written.",
			Read: one(func(f engine.Stats) float64 { return float64(f.Active) })},
		{Name: "landfall_database_calls_refused_total", Counts: true, Help: "Calls refused because they would have waited too long.",
			Read: one(func(f engine.Stats) float64 { return float64(f.Refused) })},
		{Name: "landfall_database_batched_calls_total", Counts: true, Help: "Calls that were written; divided by the number of batches, how many share a transaction.",
			Read: one(func(f engine.Stats) float64 { return float64(f.Calls) })},
		{Name: "landfall_database_batches_total", Counts: true, Labels: []string{"up_to"}, Help: "Batches of calls that were written together, by size: up to this many calls, and more than the next smaller size.",
			Read: func(report func(float64, ...string)) {
				for class, count := range figures().Batches {
					report(float64(count), strconv.Itoa(engine.BatchSizes[class]))
				}
			}},
		{Name: "landfall_database_wal_bytes", Help: "Size of the write-ahead log beside a SQLite file; 0 on PostgreSQL.",
			Read: one(func(f engine.Stats) float64 { return float64(f.Log) })},
	}
}
