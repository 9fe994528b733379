package operate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// Reconcile compares what a supplier's source claims with what was staged and
// created.
func (o *Operator) Reconcile(ctx context.Context, code string) (landfall.Reconciliation, error) {
	var found landfall.Reconciliation
	err := o.view(ctx, "reconcile", func(view landfall.View) (err error) {
		found, err = landfall.LoadReconciliation(ctx, view, code)
		return supplierError(ctx, view, code, err)
	})
	return found, err
}

// Contributions streams the accounts that contribute to a figure. The figure
// must exist.
func (o *Operator) Contributions(ctx context.Context, code, measure, reason string) (iter.Seq2[landfall.Contribution, error], error) {
	return o.ContributionsAfter(ctx, code, measure, reason, nil)
}

// ContributionsAfter is Contributions, starting after an account.
func (o *Operator) ContributionsAfter(
	ctx context.Context, code, measure, reason string, after *landfall.ProcessCursor,
) (iter.Seq2[landfall.Contribution, error], error) {
	// Check the arguments before the stream starts: after that they can no
	// longer be refused.
	found, err := o.Reconcile(ctx, code)
	if err != nil {
		return nil, err
	}
	row, err := rowOf(&found, measure)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(landfall.Reasons, landfall.Reason(reason)) {
		return nil, invalid("reason", rules.CodeInvalidChoice, "There is no reason %q. Use one of: pending, failed, skipped, moved_dates, other_figures.", reason)
	}
	rows := o.store.Contributions(ctx, landfall.ContributionQuery{Supplier: code, Measure: row.Measure, Reason: landfall.Reason(reason), After: after})
	return userErrors("reconcile", rows), nil
}

// rowOf returns the row with the name an operator gave.
func rowOf(found *landfall.Reconciliation, name string) (landfall.ReconciliationRow, error) {
	if measure, known := landfall.ParseMeasure(name); known {
		if row, there := found.Row(measure); there {
			return row, nil
		}
	}
	known := make([]string, len(found.Rows))
	for i, row := range found.Rows {
		known[i] = row.Measure.String()
	}
	return landfall.ReconciliationRow{}, invalid("measure", rules.CodeInvalidChoice, "There is no measure %q. Use one of: %s.",
		name, strings.Join(known, ", "))
}

// ControlTotalsHistory returns the control totals of a supplier, newest first.
func (o *Operator) ControlTotalsHistory(ctx context.Context, code string) (history []landfall.ControlTotals, err error) {
	err = o.view(ctx, "reconcile.totals", func(view landfall.View) (err error) {
		if _, err := view.Supplier(ctx, code); err != nil {
			return supplierError(ctx, view, code, err)
		}
		history, err = view.ControlTotalsHistory(ctx, code)
		return err
	})
	return history, err
}

// SetControlTotals stores control totals that somebody entered by hand. Earlier totals
// stay; the same ones again change nothing.
func (o *Operator) SetControlTotals(ctx context.Context, code string, totals landfall.ControlTotals) error {
	totals.By = landfall.Author{Operator: o.actor, RequestID: o.request}
	same := errors.New("the same totals")
	err := o.change(ctx, "control_totals.set", code, func(tx landfall.Tx) (string, error) {
		// Locks the supplier, so that concurrent calls wait.
		if _, err := tx.Supplier(ctx, code); err != nil {
			return "", supplierError(ctx, tx, code, err)
		}
		before, err := tx.ControlTotals(ctx, code)
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			before.Claims = nil
		case err != nil:
			return "", err
		case maps.EqualFunc(before.Claims, totals.Claims, landfall.Value.Equal):
			return "", same
		}
		if _, err := tx.SetControlTotals(ctx, code, totals); err != nil {
			return "", err
		}
		if len(before.Claims) == 0 {
			return totals.Text(), nil
		}
		return before.Text() + " → " + totals.Text(), nil
	})
	if errors.Is(err, same) {
		return nil
	}
	return err
}

// SignOffs returns the sign-offs of a supplier, or of all suppliers with "".
func (o *Operator) SignOffs(ctx context.Context, code string) ([]landfall.SignOff, error) {
	var found []landfall.SignOff
	err := o.view(ctx, "reconcile reports", func(view landfall.View) (err error) {
		if code != "" {
			if _, err := view.Supplier(ctx, code); err != nil {
				return supplierError(ctx, view, code, err)
			}
		}
		found, err = view.SignOffs(ctx, code)
		return err
	})
	return found, err
}

// ShowSignOff returns a signed reconciliation as it was signed.
func (o *Operator) ShowSignOff(ctx context.Context, id int64) (landfall.SignOff, error) {
	var found landfall.SignOff
	err := o.view(ctx, "reconcile show", func(view landfall.View) (err error) {
		found, err = view.SignOff(ctx, id)
		return replaceError(err, landfall.ErrNotFound, notFound(landfall.CodeNotFound,
			"There is no signed reconciliation %d. List them with: reconcile reports", id))
	})
	return found, err
}

// SignOff signs a reconciliation. First it recounts everything from the ledgers
// and other rows; the result must equal the stored sums. Each measure with an
// unexplained difference needs a reason, given under its name. The versions of
// the servers and the undone accounts are added to the custody.
func (o *Operator) SignOff(ctx context.Context, code string, reasons map[string]string, custody contract.Custody) (landfall.SignOff, error) {
	for measure, reason := range reasons {
		if err := checkLine("reason", "The reason for "+measure, reason, maxReasonLength); err != nil {
			return landfall.SignOff{}, err
		}
	}
	// Counting reads every row of the supplier and may take long, so it takes no
	// lock. The transaction below locks the supplier and checks that nothing
	// changed since.
	counted, err := o.recount(ctx, code)
	if err != nil {
		return landfall.SignOff{}, err
	}
	var signed landfall.SignOff
	err = o.change(ctx, landfall.SignOffAction, code, func(tx landfall.Tx) (string, error) {
		// Lock the supplier, so that its totals do not change and nobody else
		// signs at the same time.
		if _, err := tx.Supplier(ctx, code); err != nil {
			return "", supplierError(ctx, tx, code, err)
		}
		found, err := landfall.LoadReconciliation(ctx, tx, code)
		if err != nil {
			return "", err
		}
		if !slices.EqualFunc(found.Rows, counted.Rows, landfall.ReconciliationRow.Equal) {
			return "", landfall.Refuse(landfall.CodeValidationFailed,
				"The figures changed while they were counted, because accounts are being imported. "+
					"Pause the supplier, or wait until the import ends, and sign again.")
		}
		if err := checkSignable(&found, reasons); err != nil {
			return "", err
		}
		if err := o.completeCustody(ctx, tx, code, &custody); err != nil {
			return "", err
		}
		signed = landfall.SignOff{Supplier: code, SignedAt: found.At, Actor: o.actor}
		sealed := contract.Signed{Reconciliation: found, Actor: o.actor, Reasons: reasons, Custody: custody}
		signed.Report = contract.SignedBody.Append(nil, sealed)
		signed.ReportHash = sha256.Sum256(signed.Report)
		if signed.Page, err = reportPage(sealed, signed.ReportHash); err != nil {
			return "", err
		}
		signed.PageHash = sha256.Sum256(signed.Page)
		if signed.ID, err = tx.CreateSignOff(ctx, signed); err != nil {
			return "", err
		}
		// Write both hashes to the audit as well, so that a report altered later
		// contradicts it.
		return landfall.SignOffDetail(signed.ID, signed.ReportHash, signed.PageHash),
			tx.AppendEvent(ctx, landfall.Event{
				Type: landfall.EventSignedOff, Key: landfall.Key{Supplier: code},
				Details: map[string]string{"report": strconv.FormatInt(signed.ID, 10), "sha256": hex.EncodeToString(signed.ReportHash[:])},
			})
	})
	return signed, err
}

// completeCustody adds what the database knows to the chain of custody.
func (o *Operator) completeCustody(ctx context.Context, view landfall.View, code string, custody *contract.Custody) (err error) {
	if custody.Undone, err = view.UndoneOf(ctx, code); err != nil {
		return err
	}
	servers, err := view.Replicas(ctx, replicaSeen)
	custody.Servers = []string{} // may run again
	for _, one := range servers {
		if !slices.Contains(custody.Servers, one.Version) {
			custody.Servers = append(custody.Servers, one.Version)
		}
	}
	slices.Sort(custody.Servers)
	return err
}

// recount reconciles from the rows themselves, and refuses if the result differs
// from the stored sums.
func (o *Operator) recount(ctx context.Context, code string) (counted landfall.Reconciliation, err error) {
	err = o.view(ctx, "sign off", func(view landfall.View) error {
		fresh, err := view.Recount(ctx, code)
		if err != nil {
			return supplierError(ctx, view, code, err)
		}
		kept, err := view.Tallies(ctx, code)
		if err != nil {
			return err
		}
		if wrong := kept.Differences(&fresh); len(wrong) > 0 {
			return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("The stored sums of supplier %s do not match its rows: "+
				"%s (%d differences). Nothing can be signed; 'landfall verify' shows details.", code, wrong[0], len(wrong)))
		}
		totals, err := view.ControlTotals(ctx, code)
		if errors.Is(err, landfall.ErrNotFound) {
			return landfall.Refuse(landfall.CodeNoControlTotals, fmt.Sprintf(
				"Nothing can be signed: supplier %s has no control totals. Set them first.", code))
		}
		counted = landfall.Reconcile(code, &fresh, &totals)
		return err
	})
	return counted, err
}

// checkSignable refuses if an unexplained difference has no reason, or if a reason is
// given where none is needed.
func checkSignable(found *landfall.Reconciliation, reasons map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		row, err := rowOf(found, name)
		if err != nil {
			return err
		}
		if row.Unexplained().Zero() {
			return invalid("reason", rules.CodeInvalidChoice, "%s has nothing unexplained, so it needs no reason.", name)
		}
	}
	var open []string
	for _, row := range found.Rows {
		if !row.Unexplained().Zero() && reasons[row.Measure.String()] == "" {
			open = append(open, row.Measure.String())
		}
	}
	if len(open) == 0 {
		return nil
	}
	return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Not everything is explained: %s. Give a reason for each, as in "+
		"--reason %s=\"closed before the migration\", or find what is missing.", strings.Join(open, ", "), open[0]))
}
