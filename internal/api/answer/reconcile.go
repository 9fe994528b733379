package answer

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

// Verbs for reconciliation.
var (
	// SetTotals sets control totals.
	SetTotals = &Verb{Path: "control-totals", Writes: true, run: (*API).setTotals}
	// Totals returns control totals.
	Totals = &Verb{Path: "control-totals", run: (*API).totals}
	// Reconciliation compares control totals with what exists, or lists the accounts
	// that contribute to a figure.
	Reconciliation = &Verb{Path: "reconciliation", Streams: true, run: (*API).reconciliation}
	// SignOffs lists signed reconciliations.
	SignOffs = &Verb{Path: "reconciliation/sign-offs", run: (*API).signOffs}
)

// setTotals replaces all totals at once: a mix of two days would match neither.
func (a *API) setTotals(ctx context.Context, call Call) (Answer, error) {
	if err := rejectQuery(call); err != nil {
		return Answer{}, err
	}
	totals, err := a.service.SetControlTotals(ctx, call.Who, call.Path[0], call.Body)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: contract.ControlTotalsBody.Append(call.Scratch[:0], totals)}, nil
}

// totals returns the control totals.
func (a *API) totals(ctx context.Context, call Call) (Answer, error) {
	everything, err := contract.QueryBool(call.Query, "history", false)
	if err != nil {
		return Answer{}, err
	}
	if everything {
		history, err := a.service.ControlTotalsHistory(ctx, call.Who, call.Path[0])
		if err != nil {
			return Answer{}, err
		}
		return Answer{Status: statusOK, Body: contract.ControlTotalsHistoryBody.Append(call.Scratch[:0], history)}, nil
	}
	totals, err := a.service.ControlTotals(ctx, call.Who, call.Path[0])
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: contract.ControlTotalsBody.Append(call.Scratch[:0], totals)}, nil
}

// signOffs lists the signed reconciliations of a supplier.
func (a *API) signOffs(ctx context.Context, call Call) (Answer, error) {
	if err := rejectQuery(call); err != nil {
		return Answer{}, err
	}
	signed, err := a.service.SignOffs(ctx, call.Who, call.Path[0])
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: contract.SignOffsBody.Append(call.Scratch[:0], signed)}, nil
}

// reconciliation returns the comparison, or the accounts of one figure.
func (a *API) reconciliation(ctx context.Context, call Call) (Answer, error) {
	request, err := contract.ReadBehind(call.Query)
	if err != nil {
		return Answer{}, err
	}
	if request.Listed {
		return a.behind(ctx, call, request)
	}
	found, err := a.service.Reconcile(ctx, call.Who, call.Path[0])
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: statusOK, Body: contract.ReconciliationBody.Append(call.Scratch[:0], found)}, nil
}

// behind lists the accounts that contribute to a figure.
func (a *API) behind(ctx context.Context, call Call, request contract.BehindRequest) (Answer, error) {
	query := landfall.ContributionQuery{
		Supplier: call.Path[0], Measure: request.Measure, Reason: request.Reason, After: request.After, Limit: request.Limit,
	}
	if query.Limit > 0 {
		query.Limit++ // to know whether there is a next page
	}
	rows, err := a.service.Contributions(ctx, call.Who, query)
	if err != nil {
		return Answer{}, err
	}
	if request.Limit == 0 {
		return Stream(call, rows, contract.BehindBody), nil
	}
	return writePage(call, rows, request.Limit, contract.BehindBody, func(last landfall.Contribution) string {
		if last.FirstStagedAt.IsZero() {
			last.FirstStagedAt = time.UnixMicro(0) // the number alone is the position
		}
		return "measure=" + request.Measure.String() + "&reason=" + string(request.Reason) + "&" +
			nextQuery(request.Limit, landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External})
	})
}
