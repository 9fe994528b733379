package intake

import (
	"context"
	"errors"
	"iter"
	"maps"

	"landfall"
	"landfall/internal/api/contract"
)

// SetControlTotals stores the control totals of a supplier. Earlier totals stay;
// sending the same ones again changes nothing.
func (s *Service) SetControlTotals(ctx context.Context, who landfall.Principal, code string, body []byte) (landfall.ControlTotals, error) {
	if err := s.RequireSupplier(ctx, who, code); err != nil {
		return landfall.ControlTotals{}, err
	}
	totals, err := contract.ReadControlTotals(ctx, body)
	if err != nil {
		return landfall.ControlTotals{}, err
	}
	totals.By = who.Author()
	var kept landfall.ControlTotals
	err = s.store.For(who.Caller()).Update(ctx, func(tx landfall.Tx) (err error) {
		if err := tx.CheckAuthor(ctx, totals.By); err != nil {
			return err
		}
		// Lock the supplier, so that concurrent calls wait.
		if _, err := tx.Supplier(ctx, code); err != nil {
			return err
		}
		kept, err = tx.ControlTotals(ctx, code)
		if err == nil && maps.EqualFunc(kept.Claims, totals.Claims, landfall.Value.Equal) {
			return nil
		} else if err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		if kept, err = tx.SetControlTotals(ctx, code, totals); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, who.Audit("control_totals.set", code, totals.Text()))
	})
	if err != nil {
		return landfall.ControlTotals{}, userError(err)
	}
	return kept, nil
}

// ControlTotals returns the current totals.
func (s *Service) ControlTotals(ctx context.Context, who landfall.Principal, code string) (landfall.ControlTotals, error) {
	if err := s.RequireSupplier(ctx, who, code); err != nil {
		return landfall.ControlTotals{}, err
	}
	var totals landfall.ControlTotals
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		totals, err = view.ControlTotals(ctx, code)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return totals, errNoControlTotals
	} else if err != nil {
		return totals, userError(err)
	}
	return totals, nil
}

// ControlTotalsHistory returns the totals that were ever set, newest first.
func (s *Service) ControlTotalsHistory(ctx context.Context, who landfall.Principal, code string) (history []landfall.ControlTotals, err error) {
	if err := s.RequireSupplier(ctx, who, code); err != nil {
		return nil, err
	}
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		history, err = view.ControlTotalsHistory(ctx, code)
		return err
	})
	if err != nil {
		return nil, userError(err)
	}
	return history, nil
}

// SignOffs returns the signed reconciliations of a supplier, newest first.
func (s *Service) SignOffs(ctx context.Context, who landfall.Principal, code string) (signed []landfall.SignOff, err error) {
	if err := s.RequireSupplier(ctx, who, code); err != nil {
		return nil, err
	}
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		signed, err = view.SignOffs(ctx, code)
		return err
	})
	if err != nil {
		return nil, userError(err)
	}
	return signed, nil
}

// errNoControlTotals differs from totals of zero, which are totals too.
var errNoControlTotals = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeNoControlTotals,
	Detail: "This import supplier has no control totals yet. PUT them first.",
}

// Reconcile compares the control totals with what exists, at one moment. Without
// control totals it still returns what was sent and what exists.
func (s *Service) Reconcile(ctx context.Context, who landfall.Principal, code string) (landfall.Reconciliation, error) {
	if err := s.RequireSupplier(ctx, who, code); err != nil {
		return landfall.Reconciliation{}, err
	}
	var found landfall.Reconciliation
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		found, err = landfall.LoadReconciliation(ctx, view, code)
		return err
	})
	if err != nil {
		return found, userError(err)
	}
	return found, nil
}

// Contributions streams the accounts that make up a figure.
func (s *Service) Contributions(ctx context.Context, who landfall.Principal, query landfall.ContributionQuery) (iter.Seq2[landfall.Contribution, error], error) {
	if err := s.RequireSupplier(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	return UserErrors(s.store.For(who.Caller()).Contributions(ctx, query)), nil
}
