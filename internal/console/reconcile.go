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

// comparison is the reconciliation of a supplier.
type comparison struct {
	head
	Code  string
	Found landfall.Reconciliation
	Rows  []comparedRow
	Signs []landfall.SignOff
	Open  []comparedRow // rows that need a reason to be signed
}

// comparedRow is one measure, written out.
type comparedRow struct {
	Measure                                           string
	Claimed, Staged, Created, Difference, Unexplained string
	Reasons                                           []explained
	Right                                             bool
}

// explained is a part of a difference that accounts explain.
type explained struct {
	Reason, Word, Value, Path string
}

var reasonWords = map[landfall.Reason]string{
	landfall.ReasonPending: "pending", landfall.ReasonFailed: "failed", landfall.ReasonSkipped: "skipped", landfall.ReasonOtherFigures: "with other figures",
}

// reconciled compares what was claimed with what is there.
func reconciled(v *visit) (any, error) {
	code := v.value("supplier")
	found, err := v.operator().Reconcile(v.ctx(), code)
	if err != nil {
		return nil, err
	}
	shown := comparison{head: supplierHead(code, code+": reconciliation", "reconciliation"), Code: code, Found: found}
	shown.Wide = true
	for _, row := range found.Rows {
		written := writeRow(code, row)
		shown.Rows = append(shown.Rows, written)
		if !row.Unexplained().Zero() {
			shown.Open = append(shown.Open, written)
		}
	}
	shown.Signs, err = v.operator().SignOffs(v.ctx(), code)
	return shown, err
}

func writeRow(code string, row landfall.ReconciliationRow) comparedRow {
	currency := row.Measure.Currency
	written := comparedRow{
		Measure: row.Measure.String(), Claimed: value(row.Claimed, currency), Staged: value(row.Staged, currency), Created: value(row.Created, currency),
		Difference: value(row.Difference(), currency), Unexplained: value(row.Unexplained(), currency),
		// A figure that nobody claimed is not right, even where nothing differs: there is nothing
		// that it agrees with.
		Right: row.Claimed.Known() && row.Difference().Zero(),
	}
	for _, reason := range landfall.Reasons {
		if part := row.Explained[reason]; part.Known() && !part.Zero() {
			written.Reasons = append(written.Reasons, explained{string(reason), reasonWords[reason], value(part, currency),
				behindPath(code, row.Measure.String(), string(reason), "")})
		}
	}
	return written
}

// value writes a count, an amount or both.
func value(of landfall.Value, currency string) string {
	var parts []string
	if of.Count != nil {
		parts = append(parts, grouped(of.Count.Digits()))
	}
	if of.Amount != nil {
		parts = append(parts, total(*of.Amount, currency))
	}
	return strings.Join(parts, " · ")
}

// accountsBehind is a page of the accounts behind a figure.
type accountsBehind struct {
	head
	Code, Measure, Word, Next string
	Rows                      []behindRow
}

type behindRow struct{ External, AccountNumber, Part string }

func behindPath(code, measure, reason, after string) string {
	path := address("suppliers", code, "reconciliation", "accounts") + "?measure=" + url.QueryEscape(measure) + "&reason=" + url.QueryEscape(reason)
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	return path
}

// behind lists the accounts behind a figure.
func behind(v *visit) (any, error) {
	code, measure, reason := v.value("supplier"), cmp.Or(v.query("measure"), "accounts"), cmp.Or(v.query("reason"), string(landfall.ReasonPending))
	var after *landfall.ProcessCursor
	if at, external, is := strings.Cut(v.query("after"), "~"); is {
		cursor := landfall.ProcessCursor{External: external}
		if micros, err := strconv.ParseInt(at, 10, 64); err == nil {
			cursor.FirstStagedAt = time.UnixMicro(micros)
		}
		// A place whose moment cannot be read begins at the earliest one: rows come twice rather
		// than not at all.
		after = &cursor
	}
	rows, err := v.operator().BehindFrom(v.ctx(), code, measure, reason, after)
	if err != nil {
		return nil, err
	}
	shown := accountsBehind{
		head: supplierHead(code, measure+": "+reasonWords[landfall.Reason(reason)], "reconciliation"),
		Code: code, Measure: measure, Word: reasonWords[landfall.Reason(reason)],
	}
	parsed, _ := landfall.ParseMeasure(measure) // the verb has refused one that is none
	last := ""
	for one, err := range rows {
		if err != nil {
			return nil, err
		}
		if len(shown.Rows) == listRows {
			shown.Next = behindPath(code, measure, reason, last)
			break
		}
		last = strconv.FormatInt(one.FirstStagedAt.UnixMicro(), 10) + "~" + one.External
		shown.Rows = append(shown.Rows, behindRow{one.External, one.AccountNumber, value(one.Value, parsed.Currency)})
	}
	return shown, nil
}

// signOff seals the comparison.
func signOff(v *visit) (any, error) {
	code := v.value("supplier")
	if err := v.confirmed(code); err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	// Names of fields carry the measure, since what is unexplained differs from supplier to
	// supplier. An empty reason is none, and the verb refuses what then lacks one.
	for name := range v.form {
		if measure, is := strings.CutPrefix(name, "reason:"); is && v.typed(name) != "" {
			reasons[measure] = v.typed(name)
		}
	}
	sealed, err := v.operator().SignOff(v.ctx(), code, reasons)
	if err != nil {
		return nil, err
	}
	return done{address("suppliers", code, "reconciliation"), fmt.Sprintf("Report %d is sealed. It never changes.", sealed.ID)}, nil
}

// signed hands out a sealed report. It is a file and not a page: it brings its
// own looks, which the console's policy would not let in.
func signed(v *visit) (any, error) {
	id, err := strconv.ParseInt(v.value("id"), 10, 64)
	if err != nil {
		// No report has number 0, so that a mangled one is answered as one that is not there.
		id = 0
	}
	sealed, err := v.operator().ShowSignOff(v.ctx(), id)
	if err != nil {
		return nil, err
	}
	// Numbers run over all suppliers: without this an address of one supplier would hand out a
	// report of another.
	if sealed.Supplier != v.value("supplier") {
		return nil, &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "This supplier has no such report."}
	}
	body, kind, ending := sealed.Page, "text/html; charset=utf-8", "html"
	if v.query("as") == "json" {
		body, kind, ending = sealed.Report, "application/json", "json"
	}
	v.Writer.Header().Set("Content-Type", kind)
	v.Writer.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="reconciliation-%d.%s"`, id, ending))
	v.Writer.WriteHeader(http.StatusOK)
	_, _ = v.Writer.Write(body) // who has left needs no file
	return nil, nil             //nolint:nilnil // it is answered
}
