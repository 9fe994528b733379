package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
)

// reconciliationPage compares control totals with what is there.
type reconciliationPage struct {
	pageHead
	Code         string
	Result       landfall.Reconciliation
	Rows         []reconciliationRow
	SignOffs     []landfall.SignOff
	HasDelivered bool                // the supplier's target has received something
	Unexplained  []reconciliationRow // each needs a reason to be signed off
}

// reconciliationRow is one measure, formatted.
type reconciliationRow struct {
	Measure, Label                     string // its name for forms, and for people
	Claimed, Staged, Created           figure
	Difference, Unexplained, Delivered figure
	Reasons                            []explanation
	Agrees                             bool
}

// order puts what differs first and what nobody claimed last.
func (r reconciliationRow) order() int {
	switch {
	case r.Agrees:
		return 1
	case r.Claimed == figure{}:
		return 2
	}
	return 0
}

// figure is a count and an amount, each in a column of its own.
type figure struct{ Count, Amount string }

func newFigure(value landfall.Value, currency string) figure {
	return figure{formatValue(landfall.Value{Count: value.Count}, currency), formatValue(landfall.Value{Amount: value.Amount}, currency)}
}

// Text writes both.
func (f figure) Text() string { return strings.Trim(f.Count+" · "+f.Amount, " ·") }

// measureLabel is the name of a measure for people.
func measureLabel(measure landfall.Measure) string {
	label := codeLabel(measure.Kind)
	if measure.Type != "" {
		label = codeLabel(measure.Type) + " transactions"
	}
	if measure.Currency != "" {
		label += " (" + measure.Currency + ")"
	}
	return label
}

// Verdict says whether the books agree.
func (p reconciliationPage) Verdict() string {
	claimed, differ := 0, 0 // a figure that nobody claimed is not compared
	var accounts int64
	var amounts []string
	for _, row := range p.Result.Rows {
		if row.Claimed.Known() {
			claimed++
		}
		if !row.Claimed.Known() || row.Difference().Zero() {
			continue
		}
		differ++
		open := row.Unexplained()
		if row.Measure.Kind == landfall.MeasureAccounts && open.Count != nil {
			accounts = open.Count.Count()
		}
		if row.Measure.Kind == landfall.MeasureBalances && open.Amount != nil && !open.Amount.Zero() {
			amounts = append(amounts, formatTotal(*open.Amount, row.Measure.Currency))
		}
	}
	switch {
	case p.Result.Totals == nil:
		return "No control totals received yet"
	case differ == 0:
		return fmt.Sprintf("%d of %d agree. Ready to sign.", claimed, claimed)
	case len(p.Unexplained) == 0:
		return fmt.Sprintf("%d of %d differ, and accounts explain every difference. Ready to sign.", differ, claimed)
	}
	text := fmt.Sprintf("%d of %d differ", differ, claimed)
	var open []string
	if accounts != 0 {
		count, _ := plural(accounts, "account", "accounts") // an int64
		open = append(open, count)
	}
	if open = append(open, amounts...); len(open) > 0 {
		text += ": " + strings.Join(open, ", ") + " unexplained"
	}
	return text
}

// Ready reports whether the reconciliation can be signed off as it is.
func (p reconciliationPage) Ready() bool { return p.Result.Totals != nil && len(p.Unexplained) == 0 }

// explanation is a part of a difference that some accounts explain.
type explanation struct{ Label, Value, Path string }

var reasonLabels = map[landfall.Reason]string{
	landfall.ReasonPending: "pending", landfall.ReasonFailed: "failed or refused", landfall.ReasonSkipped: "skipped", landfall.ReasonMovedDates: "moved dates",
	landfall.ReasonOtherFigures: "different",
}

func showReconciliation(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	result, err := r.operator().Reconcile(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := reconciliationPage{pageHead: supplierHead(code, code+": reconciliation", "reconciliation"), Code: code, Result: result}
	for _, one := range result.Rows {
		row := newReconciliationRow(code, one)
		page.Rows = append(page.Rows, row)
		page.HasDelivered = page.HasDelivered || one.Delivered != nil
		if !one.Unexplained().Zero() {
			page.Unexplained = append(page.Unexplained, row)
		}
	}
	slices.SortStableFunc(page.Rows, func(a, b reconciliationRow) int { return cmp.Compare(a.order(), b.order()) })
	page.SignOffs, err = r.operator().SignOffs(r.Context(), code)
	return page, err
}

func newReconciliationRow(code string, row landfall.ReconciliationRow) reconciliationRow {
	currency := row.Measure.Currency
	formatted := reconciliationRow{
		Measure: row.Measure.String(), Label: measureLabel(row.Measure),
		Claimed: newFigure(row.Claimed, currency), Staged: newFigure(row.Staged, currency), Created: newFigure(row.Created, currency),
		Difference: newFigure(row.Difference(), currency), Unexplained: newFigure(row.Unexplained(), currency),
		// A figure that nobody claimed does not agree with anything.
		Agrees: row.Claimed.Known() && row.Difference().Zero(),
	}
	if row.Delivered != nil {
		formatted.Delivered = newFigure(*row.Delivered, currency)
	}
	for _, reason := range landfall.Reasons {
		if share := row.Explained[reason]; share.Known() && !share.Zero() {
			formatted.Reasons = append(formatted.Reasons, explanation{reasonLabels[reason], formatValue(share, currency),
				differencePath(code, row.Measure.String(), string(reason), "")})
		}
	}
	return formatted
}

// formatValue writes a count, an amount or both.
func formatValue(value landfall.Value, currency string) string {
	var texts []string
	if value.Count != nil {
		texts = append(texts, groupDigits(value.Count.Digits()))
	}
	if value.Amount != nil {
		texts = append(texts, formatTotal(*value.Amount, currency))
	}
	return strings.Join(texts, " · ")
}

// differencePage lists the accounts that explain a difference.
type differencePage struct {
	pageHead
	Code, Measure, Reason, Next string
	Rows                        []differenceRow
}

type differenceRow struct{ External, AccountNumber, Share string }

func differencePath(code, measure, reason, after string) string {
	path := consolePath("suppliers", code, "reconciliation", "accounts") + "?measure=" + url.QueryEscape(measure) + "&reason=" + url.QueryEscape(reason)
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	return path
}

func showDifference(r *pageRequest) (any, error) {
	code, measure, reason := r.PathValue("supplier"), cmp.Or(r.queryParam("measure"), "accounts"), cmp.Or(r.queryParam("reason"), string(landfall.ReasonPending))
	rows, err := r.operator().ContributionsAfter(r.Context(), code, measure, reason, parseCursor(r.queryParam("after")))
	if err != nil {
		return nil, err
	}
	label := reasonLabels[landfall.Reason(reason)]
	parsed, _ := landfall.ParseMeasure(measure) // an unknown one was refused above
	page := differencePage{pageHead: supplierHead(code, measureLabel(parsed)+": "+label, "reconciliation"), Code: code, Measure: measureLabel(parsed), Reason: label}
	last := ""
	for one, err := range rows {
		if err != nil {
			return nil, err
		}
		if len(page.Rows) == accountsPerPage {
			page.Next = differencePath(code, measure, reason, last)
			break
		}
		last = processCursor(one.FirstStagedAt, one.External)
		page.Rows = append(page.Rows, differenceRow{one.External, one.AccountNumber, formatValue(one.Value, parsed.Currency)})
	}
	return page, nil
}

// signOff seals a report.
func signOff(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	if err := r.requireConfirmation(code); err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	// The names of the fields contain the measure. SignOff refuses missing reasons.
	for name := range r.form {
		if measure, is := strings.CutPrefix(name, "reason:"); is && r.formValue(name) != "" {
			reasons[measure] = r.formValue(name)
		}
	}
	report, err := r.operator().SignOff(r.Context(), code, reasons, contract.Custody{})
	return redirect{consolePath("suppliers", code, "reconciliation"), fmt.Sprintf("Report %d sealed. It cannot be changed.", report.ID)}, err
}

// downloadSignOff sends a sealed report as a file. It is not a page, because its
// inline styles do not comply with the console's content security policy.
func downloadSignOff(r *pageRequest) (any, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		id = 0 // there is no report 0
	}
	report, err := r.operator().ShowSignOff(r.Context(), id)
	if err != nil {
		return nil, err
	}
	// Report numbers are shared by all suppliers.
	if report.Supplier != r.PathValue("supplier") {
		return nil, &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "This supplier has no such report."}
	}
	body, contentType, extension := report.Page, "text/html; charset=utf-8", "html"
	if r.queryParam("as") == "json" {
		body, contentType, extension = report.Report, "application/json", "json"
	}
	r.Writer.Header().Set("Content-Type", contentType)
	r.Writer.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="reconciliation-%d.%s"`, id, extension))
	r.Writer.WriteHeader(http.StatusOK)
	_, _ = r.Writer.Write(body) // the reader may have left
	return nil, nil             //nolint:nilnil // the response is written
}
