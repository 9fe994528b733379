package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// supplierHead is the head of every page about a supplier, with the tabs that
// lead from one to the other. Here is the last part of the page's own path.
func supplierHead(code, title, here string) pageHead {
	made := pageHead{Title: title, Breadcrumbs: []breadcrumb{{"Suppliers", Root}, {code, consolePath("suppliers", code)}}}
	// The supplier's own first page is not above itself.
	if here == "" {
		made.Breadcrumbs = made.Breadcrumbs[:1]
	}
	for _, one := range []struct{ name, part string }{
		{"Progress", ""}, {"Runs", "runs"}, {"Accounts", "accounts"}, {"Failures", "failures"}, {"Reconciliation", "reconciliation"}, {"Settings", "settings"},
	} {
		path := consolePath("suppliers", code)
		if one.part != "" {
			path = consolePath("suppliers", code, one.part)
		}
		made.Tabs = append(made.Tabs, tab{one.name, path, one.part == here})
	}
	return made
}

// supplierPage is what the first page of a supplier shows.
type supplierPage struct {
	pageHead
	supplierSummary
	Throughput throughput // of the run there is, or was last
}

func showSupplier(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	found, err := r.operator().Stand(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := supplierPage{pageHead: supplierHead(code, code, ""), supplierSummary: supplierSummary{found}}
	if found.Run != nil {
		// Without failures: this page only wants the samples for its chart.
		facts, err := r.operator().ShowRun(r.Context(), found.Run.ID, 0)
		if err != nil {
			return nil, err
		}
		page.Throughput = throughputOf(facts.Samples)
	}
	return page, nil
}

// runsPage is what the runs of a supplier look like, and how one is started.
type runsPage struct {
	pageHead
	landfall.Supplier
	Runs  []*landfall.Run
	Teams []landfall.Team
}

// maxListedRuns is how many runs are listed. Nobody starts more.
const maxListedRuns = 200

func listRuns(r *pageRequest) (any, error) {
	code, operator := r.PathValue("supplier"), r.operator()
	facts, err := operator.ShowSupplier(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := runsPage{pageHead: supplierHead(code, code+": runs", "runs"), Supplier: facts.Supplier}
	runs, err := operator.Runs(r.Context(), code, maxListedRuns)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		page.Runs = append(page.Runs, &runs[i])
	}
	page.Teams, err = operator.Teams(r.Context())
	return page, err
}

// settingsPage is a supplier's settings, each with what it means.
type settingsPage struct {
	pageHead
	operate.SupplierFacts
	Rules []ruleRow
}

// ruleRow is a rule with what breaking it does to this supplier's requests.
type ruleRow struct {
	contract.Rule
	Severity landfall.Severity // of this supplier; "" is the rule book's
}

func showSettings(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	facts, err := r.operator().ShowSupplier(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := settingsPage{pageHead: supplierHead(code, code+": settings", "settings"), SupplierFacts: facts}
	for _, rule := range contract.RuleBook() {
		page.Rules = append(page.Rules, ruleRow{rule, facts.Severities[rule.Code]})
	}
	return page, nil
}

// setSupplier changes settings.
func setSupplier(r *pageRequest) (any, error) {
	change := operate.SupplierChange{}
	// Every field is set, the empty ones too: the form shows all of them, and what somebody has
	// cleared is to be cleared.
	for name, into := range map[string]**string{
		"name": &change.Name, "document_root": &change.DocumentRoot, "currency": &change.Currency, "region": &change.Region, "time_zone": &change.TimeZone,
	} {
		text := r.formValue(name)
		*into = &text
	}
	limit := 0
	if err := r.formInt("concurrency_limit", &limit); err != nil {
		return nil, err
	}
	window, err := r.formDuration("undo_window")
	if err != nil {
		return nil, err
	}
	for name, into := range map[string]**time.Duration{
		"keep_staged": &change.KeepStaged, "keep_failures": &change.KeepFailures, "keep_mails": &change.KeepMails, "keep_events": &change.KeepEvents,
	} {
		length, err := r.formDuration(name)
		if err != nil {
			return nil, err
		}
		*into = &length
	}
	verify, mail := r.formValue("verify_documents") != "", r.formValue("send_customer_emails") != ""
	change.ConcurrencyLimit, change.UndoWindow, change.VerifyDocuments, change.SendCustomerEmails = &limit, &window, &verify, &mail
	code := r.PathValue("supplier")
	_, err = r.operator().SetSupplier(r.Context(), code, change)
	return redirect{to: consolePath("suppliers", code, "settings"), message: "The settings are kept."}, err
}

// setStatus lets a supplier's move go on, rest or end. Completing one wants its
// code typed.
func setStatus(r *pageRequest) (any, error) {
	code, status := r.PathValue("supplier"), landfall.SupplierStatus(r.formValue("status"))
	if status == landfall.Complete {
		// Only the last step is confirmed: a pause is taken back with a button.
		if err := r.requireConfirmation(code); err != nil {
			return nil, err
		}
	}
	_, err := r.operator().SetSupplier(r.Context(), code, operate.SupplierChange{Status: &status})
	// Woken even where the verb refused, which costs one look of the runner; runs stop and go on
	// with their supplier.
	r.console.WakeRuns()
	return redirect{to: consolePath("suppliers", code, "settings"), message: fmt.Sprintf("%s is %s now.", code, status)}, err
}

// setRules changes what breaking rules does.
func setRules(r *pageRequest) (any, error) {
	change := operate.SupplierChange{Severities: map[string]landfall.Severity{}}
	for name := range r.form {
		if rule, is := strings.CutPrefix(name, "rule."); is {
			change.Severities[rule] = landfall.Severity(r.formValue(name))
		}
	}
	code := r.PathValue("supplier")
	_, err := r.operator().SetSupplier(r.Context(), code, change)
	return redirect{to: consolePath("suppliers", code, "settings"), message: "The rules are kept."}, err
}

func supplierRoutes() []route {
	settings, runs := get("suppliers/{supplier}/settings/", showSettings, "settings"), get("suppliers/{supplier}/runs/", listRuns, "runs")
	return []route{
		get("suppliers/{supplier}/", showSupplier, "supplier"), liveRoute("suppliers/{supplier}/live", showSupplier, "supplier-parts"),
		runs, post("suppliers/{supplier}/runs/", startRun, runs),
		settings, post("suppliers/{supplier}/settings/", setSupplier, settings),
		post("suppliers/{supplier}/status/", setStatus, settings), post("suppliers/{supplier}/rules/", setRules, settings),
	}
}

// UndoWindowInput is the undo window as it is typed.
func (s settingsPage) UndoWindowInput() string { return durationInput(s.UndoWindow) }

// retentionRow is how long something is kept, and what that is.
type retentionRow struct {
	Name, Label, Help string
	Length            time.Duration // 0: for ever
}

// Input is the length as it is typed.
func (k retentionRow) Input() string { return durationInput(k.Length) }

// RetentionRows are the lengths of time that things are kept.
func (s settingsPage) RetentionRows() []retentionRow {
	return []retentionRow{
		{"keep_staged", "Keep staged documents", "after the account was created, or else after the last staging or attempt; such as 90d, 0 for ever", s.Retention.Staged},
		{"keep_failures", "Keep the words of failures", "their codes and places stay; such as 90d, 0 for ever", s.Retention.Failures},
		{"keep_mails", "Keep addresses of mails", "once they were sent or given up; such as 90d, 0 for ever", s.Retention.Mails},
		{"keep_events", "Keep events", "once every webhook has received them; such as 180d, 0 for ever", s.Retention.Events},
	}
}

// durationInput writes a length of time as it is typed.
func durationInput(length time.Duration) string {
	switch {
	case length == 0:
		return "0"
	case length%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", length/(24*time.Hour))
	case length%time.Hour == 0:
		return fmt.Sprintf("%dh", length/time.Hour)
	}
	return length.String()
}

// formDuration reads a length of time such as 12h or 90d; nothing typed is none.
func (r *pageRequest) formDuration(name string) (time.Duration, error) {
	text := r.formValue(name)
	if text == "" || text == "0" {
		return 0, nil
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		// Bounded so that the product stays far from what a duration can hold. Anything else
		// falls through to the parser below, whose refusal is the better one.
		if count, err := strconv.Atoi(days); err == nil && count >= 0 && count < 100_000 {
			return time.Duration(count) * 24 * time.Hour, nil
		}
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		return 0, landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("%q is not a length of time such as 12h or 90d.", text))
	}
	return length, nil
}
