package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
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
	Measure                                           string
	Claimed, Staged, Created, Difference, Unexplained string
	Delivered                                         string
	Reasons                                           []explanation
	Agrees                                            bool
}

// explanation is a part of a difference that some accounts explain.
type explanation struct{ Label, Value, Path string }

var reasonLabels = map[landfall.Reason]string{
	landfall.ReasonPending: "pending", landfall.ReasonFailed: "failed", landfall.ReasonSkipped: "skipped", landfall.ReasonMovedDates: "moved dates",
	landfall.ReasonOtherFigures: "different",
}

func showReconciliation(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	result, err := r.operator().Reconcile(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := reconciliationPage{pageHead: supplierHead(code, code+": reconciliation", "reconciliation"), Code: code, Result: result}
	page.Wide = true
	for _, one := range result.Rows {
		row := newReconciliationRow(code, one)
		page.Rows = append(page.Rows, row)
		page.HasDelivered = page.HasDelivered || one.Delivered != nil
		if !one.Unexplained().Zero() {
			page.Unexplained = append(page.Unexplained, row)
		}
	}
	page.SignOffs, err = r.operator().SignOffs(r.Context(), code)
	return page, err
}

func newReconciliationRow(code string, row landfall.ReconciliationRow) reconciliationRow {
	currency := row.Measure.Currency
	formatted := reconciliationRow{
		Measure: row.Measure.String(), Claimed: formatValue(row.Claimed, currency), Staged: formatValue(row.Staged, currency), Created: formatValue(row.Created, currency),
		Difference: formatValue(row.Difference(), currency), Unexplained: formatValue(row.Unexplained(), currency),
		// A figure that nobody claimed does not agree with anything.
		Agrees: row.Claimed.Known() && row.Difference().Zero(),
	}
	if row.Delivered != nil {
		formatted.Delivered = formatValue(*row.Delivered, currency)
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
func formatValue(figure landfall.Value, currency string) string {
	var texts []string
	if figure.Count != nil {
		texts = append(texts, groupDigits(figure.Count.Digits()))
	}
	if figure.Amount != nil {
		texts = append(texts, formatTotal(*figure.Amount, currency))
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
	page := differencePage{pageHead: supplierHead(code, measure+": "+label, "reconciliation"), Code: code, Measure: measure, Reason: label}
	parsed, _ := landfall.ParseMeasure(measure) // BehindFrom refuses an unknown one
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
