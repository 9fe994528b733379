package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"landfall"
)

// reconciliationPage is the reconciliation of a supplier.
type reconciliationPage struct {
	pageHead
	Code        string
	Result      landfall.Reconciliation
	Rows        []reconciliationRow
	SignOffs    []landfall.SignOff
	Unexplained []reconciliationRow // rows that need a reason to be signed
}

// reconciliationRow is one measure, written out.
type reconciliationRow struct {
	Measure                                           string
	Claimed, Staged, Created, Difference, Unexplained string
	Reasons                                           []explanation
	Agrees                                            bool
}

// explanation is a part of a difference that accounts explain.
type explanation struct {
	Reason, Label, Value, Path string
}

var reasonLabels = map[landfall.Reason]string{
	landfall.ReasonPending: "pending", landfall.ReasonFailed: "failed", landfall.ReasonSkipped: "skipped", landfall.ReasonOtherFigures: "with other figures",
}

// showReconciliation compares what was claimed with what is there.
func showReconciliation(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	found, err := r.operator().Reconcile(r.Context(), code)
	if err != nil {
		return nil, err
	}
	shown := reconciliationPage{pageHead: supplierHead(code, code+": reconciliation", "reconciliation"), Code: code, Result: found}
	shown.Wide = true
	for _, row := range found.Rows {
		written := newReconciliationRow(code, row)
		shown.Rows = append(shown.Rows, written)
		if !row.Unexplained().Zero() {
			shown.Unexplained = append(shown.Unexplained, written)
		}
	}
	shown.SignOffs, err = r.operator().SignOffs(r.Context(), code)
	return shown, err
}

func newReconciliationRow(code string, row landfall.ReconciliationRow) reconciliationRow {
	currency := row.Measure.Currency
	written := reconciliationRow{
		Measure: row.Measure.String(), Claimed: formatValue(row.Claimed, currency), Staged: formatValue(row.Staged, currency), Created: formatValue(row.Created, currency),
		Difference: formatValue(row.Difference(), currency), Unexplained: formatValue(row.Unexplained(), currency),
		// A figure that nobody claimed is not right, even where nothing differs: there is nothing
		// that it agrees with.
		Agrees: row.Claimed.Known() && row.Difference().Zero(),
	}
	for _, reason := range landfall.Reasons {
		if part := row.Explained[reason]; part.Known() && !part.Zero() {
			written.Reasons = append(written.Reasons, explanation{string(reason), reasonLabels[reason], formatValue(part, currency),
				differencePath(code, row.Measure.String(), string(reason), "")})
		}
	}
	return written
}

// formatValue writes a count, an amount or both.
func formatValue(of landfall.Value, currency string) string {
	var parts []string
	if of.Count != nil {
		parts = append(parts, grouped(of.Count.Digits()))
	}
	if of.Amount != nil {
		parts = append(parts, formatTotal(*of.Amount, currency))
	}
	return strings.Join(parts, " · ")
}

// differencePage is a page of the accounts behind a figure.
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

// showDifference lists the accounts behind a figure.
func showDifference(r *pageRequest) (any, error) {
	code, measure, reason := r.PathValue("supplier"), cmp.Or(r.queryParam("measure"), "accounts"), cmp.Or(r.queryParam("reason"), string(landfall.ReasonPending))
	var after *landfall.ProcessCursor
	if at, external, is := strings.Cut(r.queryParam("after"), "~"); is {
		cursor := landfall.ProcessCursor{External: external}
		if micros, err := strconv.ParseInt(at, 10, 64); err == nil {
			cursor.FirstStagedAt = time.UnixMicro(micros)
		}
		// A place whose moment cannot be read begins at the earliest one: rows come twice rather
		// than not at all.
		after = &cursor
	}
	rows, err := r.operator().BehindFrom(r.Context(), code, measure, reason, after)
	if err != nil {
		return nil, err
	}
	shown := differencePage{
		pageHead: supplierHead(code, measure+": "+reasonLabels[landfall.Reason(reason)], "reconciliation"),
		Code:     code, Measure: measure, Reason: reasonLabels[landfall.Reason(reason)],
	}
	parsed, _ := landfall.ParseMeasure(measure) // the verb has refused one that is none
	last := ""
	for one, err := range rows {
		if err != nil {
			return nil, err
		}
		if len(shown.Rows) == accountsPerPage {
			shown.Next = differencePath(code, measure, reason, last)
			break
		}
		last = strconv.FormatInt(one.FirstStagedAt.UnixMicro(), 10) + "~" + one.External
		shown.Rows = append(shown.Rows, differenceRow{one.External, one.AccountNumber, formatValue(one.Value, parsed.Currency)})
	}
	return shown, nil
}

// signOff seals the comparison.
func signOff(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	if err := r.requireConfirmation(code); err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	// Names of fields carry the measure, since what is unexplained differs from supplier to
	// supplier. An empty reason is none, and the verb refuses what then lacks one.
	for name := range r.form {
		if measure, is := strings.CutPrefix(name, "reason:"); is && r.formValue(name) != "" {
			reasons[measure] = r.formValue(name)
		}
	}
	sealed, err := r.operator().SignOff(r.Context(), code, reasons)
	if err != nil {
		return nil, err
	}
	return redirect{consolePath("suppliers", code, "reconciliation"), fmt.Sprintf("Report %d is sealed. It never changes.", sealed.ID)}, nil
}

// downloadSignOff hands out a sealed report. It is a file and not a page: it brings its
// own looks, which the console's policy would not let in.
func downloadSignOff(r *pageRequest) (any, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		// No report has number 0, so that a mangled one is answered as one that is not there.
		id = 0
	}
	sealed, err := r.operator().ShowSignOff(r.Context(), id)
	if err != nil {
		return nil, err
	}
	// Numbers run over all suppliers: without this an address of one supplier would hand out a
	// report of another.
	if sealed.Supplier != r.PathValue("supplier") {
		return nil, &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "This supplier has no such report."}
	}
	body, kind, ending := sealed.Page, "text/html; charset=utf-8", "html"
	if r.queryParam("as") == "json" {
		body, kind, ending = sealed.Report, "application/json", "json"
	}
	r.Writer.Header().Set("Content-Type", kind)
	r.Writer.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="reconciliation-%d.%s"`, id, ending))
	r.Writer.WriteHeader(http.StatusOK)
	_, _ = r.Writer.Write(body) // who has left needs no file
	return nil, nil             //nolint:nilnil // it is answered
}
