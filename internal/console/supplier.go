package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// supplierHead is the head of every page of a supplier. Current is the last part
// of the page's path.
func supplierHead(code, title, current string) pageHead {
	head := pageHead{Title: title, Breadcrumbs: []breadcrumb{{"Suppliers", Root}, {code, consolePath("suppliers", code)}}}
	if current == "" { // the supplier's own page has no breadcrumb to itself
		head.Breadcrumbs = head.Breadcrumbs[:1]
	}
	return head.withTabs(current, []string{"suppliers", code}, [][2]string{
		{"Progress", ""}, {"Runs", "runs"}, {"Accounts", "accounts"}, {"Failures", "failures"}, {"Reconciliation", "reconciliation"}, {"Settings", "settings"},
	})
}

// supplierPage shows the progress of a supplier.
type supplierPage struct {
	pageHead
	supplierSummary
	Throughput throughput // of the live run, or of the last one
	NextSteps  []nextStep // while there are no accounts
}

func showSupplier(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	summary, err := r.operator().SupplierState(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := supplierPage{pageHead: supplierHead(code, code, ""), supplierSummary: supplierSummary{summary}}
	if summary.Run != nil {
		facts, err := r.operator().ShowRun(r.Context(), summary.Run.ID, 0)
		if err != nil {
			return nil, err
		}
		page.Throughput = throughputOf(facts)
	}
	if summary.All() == 0 {
		page.NextSteps, err = r.nextSteps(code)
	}
	return page, err
}

type runsPage struct {
	pageHead
	landfall.Supplier
	Runs   []*runRow
	Teams  []landfall.Team
	Counts map[landfall.RunSelection]int64 // of accounts that a run would have
}

type runRow struct{ operate.RunEntry }

// UndoneText says what became of the run.
func (r *runRow) UndoneText() string { return undoneText(r.Run, r.Acts) }

// Rehearsed reports whether the last run was a dry run that finished.
func (p runsPage) Rehearsed() bool {
	return len(p.Runs) > 0 && p.Runs[0].Plan.DryRun && p.Runs[0].State == landfall.RunFinished
}

// Options are the selections of a run with the number of their accounts.
func (p runsPage) Options() (options []selectionOption) {
	for _, selection := range []landfall.RunSelection{landfall.SelectPending, landfall.SelectUntried, landfall.SelectFailed} {
		options = append(options, selectionOption{string(selection), selectionLabel(selection), p.Counts[selection]})
	}
	return options
}

// FirstSize is how many accounts a run has if nothing in its form is changed.
func (p runsPage) FirstSize() runSize {
	count := p.Counts[landfall.SelectPending]
	return runSize{Count: count, All: count}
}

type selectionOption struct {
	Value, Label string
	Count        int64
}

// maxListedRuns is more than a supplier ever has.
const maxListedRuns = 200

func listRuns(r *pageRequest) (any, error) {
	code, operator := r.PathValue("supplier"), r.operator()
	facts, err := operator.ShowSupplier(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page := runsPage{pageHead: supplierHead(code, code+": runs", "runs"), Supplier: facts.Supplier}
	runs, err := operator.RunEntries(r.Context(), code, maxListedRuns)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		page.Runs = append(page.Runs, &runRow{runs[i]})
	}
	state, err := operator.SupplierState(r.Context(), code)
	if err != nil {
		return nil, err
	}
	page.Counts = supplierSummary{state}.selectionCounts()
	page.Teams, err = operator.Teams(r.Context())
	return page, err
}

// runSize says how many accounts a run would touch, while its form is filled in.
type runSize struct {
	Count, All int64
	Problem    string
}

func showRunSize(r *pageRequest) (any, error) {
	r.form = r.URL.Query() // the form has not been sent yet
	plan, err := r.runPlan()
	if refusal, known := errors.AsType[*landfall.Error](err); known {
		return runSize{Problem: refusal.Detail}, nil
	}
	state, err := r.operator().SupplierState(r.Context(), plan.Supplier)
	if err != nil {
		return nil, err
	}
	all := supplierSummary{state}.selectionCounts()[plan.Select]
	size := runSize{Count: all, All: all}
	if plan.Sample > 1 {
		size.Count = (all + int64(plan.Sample) - 1) / int64(plan.Sample) // the first, and every Nth after it
	}
	if plan.Limit > 0 {
		size.Count = min(size.Count, int64(plan.Limit))
	}
	return size, nil
}

type settingsPage struct {
	pageHead
	operate.SupplierFacts
	Rules       []ruleRow
	Targets     []string
	PackChoices []operate.PackFacts
}

// ruleRow is a rule and its severity for this supplier.
type ruleRow struct {
	contract.Rule
	Severity landfall.Severity // "": the default
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
	if page.PackChoices, err = r.operator().Packs(r.Context()); err != nil {
		return nil, err
	}
	// Targets are shared by all suppliers. Who has a role at one supplier only cannot
	// see or choose them.
	if r.me.May(landfall.MayAdminister, "") {
		page.Targets, err = r.operator().TargetCodes(r.Context())
	}
	return page, err
}

// HasPack reports whether the supplier uses a pack.
func (s settingsPage) HasPack(name string) bool { return slices.Contains(s.Packs, name) }

// UndoWindowInput is the undo window as people type it.
func (s settingsPage) UndoWindowInput() string { return durationInput(s.UndoWindow) }

// MailDelayInput is the delay of e-mails as people type it.
func (s settingsPage) MailDelayInput() string { return durationInput(s.MailDelay) }

// retentionRow is how long something is kept.
type retentionRow struct {
	Name, Label, Help string
	Length            time.Duration // 0: forever
}

// Input is the duration as people type it.
func (k retentionRow) Input() string { return durationInput(k.Length) }

// RetentionRows lists the retention periods.
func (s settingsPage) RetentionRows() []retentionRow {
	return []retentionRow{
		{"keep_staged", "Keep staged documents", "after the account was created, or after the last staging or attempt; such as 90d, 0 = forever", s.Retention.Staged},
		{"keep_failures", "Keep failure messages", "codes and fields stay; such as 90d, 0 = forever", s.Retention.Failures},
		{"keep_mails", "Keep email addresses", "after an email was sent or failed permanently; such as 90d, 0 = forever", s.Retention.Mails},
		{"keep_events", "Keep events", "after every webhook received them; such as 180d, 0 = forever", s.Retention.Events},
		{"keep_runs", "Keep the accounts of runs", "after a run has ended; the run and its totals stay; such as 90d, 0 = forever", s.Retention.Runs},
	}
}

// setSupplier saves the settings form. Every field is set, empty ones too,
// because the form shows all of them.
func setSupplier(r *pageRequest) error {
	change := operate.SupplierChange{}
	for name, field := range map[string]**string{
		"name": &change.Name, "document_root": &change.DocumentRoot, "currency": &change.Currency, "region": &change.Region, "time_zone": &change.TimeZone,
	} {
		text := r.formValue(name)
		*field = &text
	}
	if r.form.Has("target") { // it is shown where there are targets
		code := r.formValue("target")
		change.Target = &code
	}
	if r.form.Has("shows_packs") { // a form without a checked box sends nothing of them
		packs := slices.Concat([]string{}, r.form["packs"])
		change.Packs = &packs
	}
	limit, err := r.formInt("concurrency_limit")
	if err != nil {
		return err
	}
	for name, field := range map[string]**time.Duration{
		"undo_window": &change.UndoWindow, "keep_staged": &change.KeepStaged, "keep_failures": &change.KeepFailures,
		"keep_mails": &change.KeepMails, "keep_events": &change.KeepEvents, "keep_runs": &change.KeepRuns, "mail_delay": &change.MailDelay,
	} {
		length, err := r.formDuration(name)
		if err != nil {
			return err
		}
		*field = &length
	}
	unit := landfall.MajorUnits
	if r.formValue("statement_amounts") != "" {
		unit = landfall.MinorUnits
	}
	change.StatementAmounts = &unit
	verify, email := r.formValue("verify_documents") != "", r.formValue("send_customer_emails") != ""
	change.ConcurrencyLimit, change.VerifyDocuments, change.SendCustomerEmails = &limit, &verify, &email
	_, err = r.operator().SetSupplier(r.Context(), r.PathValue("supplier"), change)
	return err
}

// setStatus changes the status of a supplier. Completing it needs confirmation.
func setStatus(r *pageRequest) (any, error) {
	code, status := r.PathValue("supplier"), landfall.SupplierStatus(r.formValue("status"))
	if status == landfall.Complete {
		if err := r.requireConfirmation(code); err != nil {
			return nil, err
		}
	}
	_, err := r.operator().SetSupplier(r.Context(), code, operate.SupplierChange{Status: &status})
	r.console.WakeRuns() // runs stop and continue with their supplier
	return redirect{consolePath("suppliers", code, "settings"), fmt.Sprintf("%s is now %s.", code, status)}, err
}

func setRules(r *pageRequest) error {
	change := operate.SupplierChange{Severities: map[string]landfall.Severity{}}
	for name := range r.form {
		if rule, is := strings.CutPrefix(name, "rule."); is {
			change.Severities[rule] = landfall.Severity(r.formValue(name))
		}
	}
	_, err := r.operator().SetSupplier(r.Context(), r.PathValue("supplier"), change)
	return err
}

func supplierRoutes() []route {
	const base = "suppliers/{supplier}/"
	settings, runs := get(base+"settings/", showSettings, "settings"), get(base+"runs/", listRuns, "runs")
	size := get(base+"runs/size/", showRunSize, "run-size")
	size.partial = true
	settingsPath := pathTo("suppliers", "{supplier}", "settings")
	return []route{
		get(base, showSupplier, "supplier"), liveRoute(base+"live", showSupplier, "supplier-live"),
		runs, post(base+"runs/", startRun, runs), size,
		settings, post(base+"settings/", action(settingsPath, "Settings saved.", setSupplier), settings),
		post(base+"status/", setStatus, settings), post(base+"rules/", action(settingsPath, "Rules saved.", setRules), settings),
	}
}
