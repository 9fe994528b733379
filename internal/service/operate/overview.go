package operate

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/lib/money"
)

// SupplierState summarizes the import of one supplier.
type SupplierState struct { //nolint:recvcheck // it is copied where it is only read
	landfall.Supplier
	Staged, Failed, Refused, Skipped, InProgress, Imported int64
	// Money is what was claimed, sent and created, by currency.
	Money []CurrencyState
	// Run is the live run, or else the last one; nil if there was none.
	Run    *landfall.Run
	Acts   RunActs           // of a run that was paused or undone
	Still  time.Duration     // how long the run has finished nothing; 0 while it makes progress
	Signed *landfall.SignOff // the last one; nil if there is none
}

// All returns how many accounts are known.
func (s SupplierState) All() int64 {
	return s.Staged + s.Failed + s.Refused + s.Skipped + s.InProgress + s.Imported
}

// CurrencyState is the sums of balances in one currency.
type CurrencyState struct {
	Currency string
	Claimed  *money.Total // nil: nothing was claimed
	Sent     money.Total
	Created  money.Total
}

// Overview is the state of all suppliers at one moment.
type Overview struct {
	At              time.Time
	Suppliers       []SupplierState
	FailingWebhooks []string
}

// Overview returns the state of every supplier. It reads sums that are kept up
// to date, so it does not get slower with more accounts.
func (o *Operator) Overview(ctx context.Context) (all Overview, err error) {
	err = o.view(ctx, "overview", func(view landfall.View) error {
		suppliers, err := view.Suppliers(ctx)
		if err != nil {
			return err
		}
		stands, err := supplierStates(ctx, view, suppliers)
		if err != nil {
			return err
		}
		all = Overview{At: o.clock().UTC(), Suppliers: stands}
		webhooks, err := view.Webhooks(ctx, "")
		for _, webhook := range webhooks {
			if !webhook.FailingAt.IsZero() && webhook.State == landfall.WebhookActive {
				all.FailingWebhooks = append(all.FailingWebhooks, webhook.Name)
			}
		}
		return err
	})
	return all, err
}

// SupplierState returns the state of one supplier.
func (o *Operator) SupplierState(ctx context.Context, code string) (stand SupplierState, err error) {
	err = o.view(ctx, "supplier.state", func(view landfall.View) error {
		supplier, err := view.Supplier(ctx, code)
		if err != nil {
			return supplierError(ctx, view, code, err)
		}
		stands, err := supplierStates(ctx, view, []landfall.Supplier{supplier})
		if err == nil {
			stand = stands[0]
		}
		return err
	})
	return stand, err
}

// supplierStates builds the state of each supplier, mostly from a few queries
// about all of them: separate queries would grow with the number of suppliers.
func supplierStates(ctx context.Context, view landfall.View, suppliers []landfall.Supplier) ([]SupplierState, error) {
	busy, err := view.InProgress(ctx)
	if err != nil {
		return nil, err
	}
	last, err := lastRuns(ctx, view, suppliers)
	if err != nil {
		return nil, err
	}
	signed, err := lastSigned(ctx, view)
	if err != nil {
		return nil, err
	}
	stands := make([]SupplierState, len(suppliers))
	for i, supplier := range suppliers {
		stand := &stands[i]
		stand.Supplier, stand.InProgress, stand.Run, stand.Signed = supplier, busy[supplier.Code], last[supplier.Code], signed[supplier.Code]
		if err := stand.count(ctx, view); err != nil {
			return nil, err
		}
		if run := stand.Run; run != nil && (run.Undone > 0 || run.Reason == landfall.PauseRequested) {
			if stand.Acts, err = runActs(ctx, view, *run); err != nil {
				return nil, err
			}
		}
		if run := stand.Run; run != nil && run.State == landfall.RunRunning {
			samples, err := view.RunSamples(ctx, run.ID, run.ReadAt.Add(-stallWindow))
			if err != nil {
				return nil, err
			}
			stand.Still = run.StalledFor(samples)
		}
	}
	return stands, nil
}

// stallWindow is how far back to look for the last account that a run finished.
const stallWindow = 15 * time.Minute

// lastRuns returns the newest run of each supplier. That is the live run if
// there is one, because no other can start while it is live.
func lastRuns(ctx context.Context, view landfall.View, suppliers []landfall.Supplier) (map[string]*landfall.Run, error) {
	var runs []landfall.Run
	var err error
	// The page of one supplier must not get slower with the number of others.
	if len(suppliers) == 1 {
		runs, err = view.Runs(ctx, landfall.RunQuery{Supplier: suppliers[0].Code, Limit: 1})
	} else {
		runs, err = view.LastRuns(ctx)
	}
	last := make(map[string]*landfall.Run, len(runs))
	for i := range runs {
		last[runs[i].Plan.Supplier] = &runs[i]
	}
	return last, err
}

// lastSigned returns the newest sign-off of every supplier.
func lastSigned(ctx context.Context, view landfall.ReconciliationReader) (map[string]*landfall.SignOff, error) {
	all, err := view.SignOffs(ctx, "")
	signed := map[string]*landfall.SignOff{}
	for i := range all {
		if signed[all[i].Supplier] == nil { // the newest come first
			signed[all[i].Supplier] = &all[i]
		}
	}
	return signed, err
}

// count fills in the figures of a supplier.
func (s *SupplierState) count(ctx context.Context, view landfall.View) error {
	tallies, err := view.Tallies(ctx, s.Code)
	if err != nil {
		return err
	}
	var totals *landfall.ControlTotals
	if newest, err := view.ControlTotals(ctx, s.Code); err == nil {
		totals = &newest
	} else if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	found := landfall.Reconcile(s.Code, &tallies, totals)
	s.Staged, s.Failed, s.Refused = tallies.Accounts(landfall.StatusPending), tallies.Accounts(landfall.StatusFailed), tallies.Refused
	s.Imported, s.Skipped = tallies.Accounts(landfall.StatusCreated), tallies.Accounts(landfall.StatusSkipped, landfall.StatusUnstaged)
	// Accounts being created are still counted as staged or failed.
	s.InProgress = min(s.InProgress, s.Staged+s.Failed)
	if s.Staged -= s.InProgress; s.Staged < 0 {
		s.Failed, s.Staged = s.Failed+s.Staged, 0
	}
	for _, row := range found.Rows {
		if row.Measure.Kind != landfall.MeasureBalances {
			continue
		}
		stand := CurrencyState{Currency: row.Measure.Currency, Claimed: row.Claimed.Amount}
		if row.Staged.Amount != nil {
			stand.Sent = *row.Staged.Amount
		}
		if row.Created.Amount != nil {
			stand.Created = *row.Created.Amount
		}
		s.Money = append(s.Money, stand)
	}
	return nil
}
