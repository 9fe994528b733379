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
func supplierHead(code, title, here string) head {
	made := head{Title: title, Trail: []crumb{{"Suppliers", Root}, {code, address("suppliers", code)}}}
	// The supplier's own first page is not above itself.
	if here == "" {
		made.Trail = made.Trail[:1]
	}
	for _, one := range []struct{ name, part string }{
		{"Progress", ""}, {"Runs", "runs"}, {"Accounts", "accounts"}, {"Failures", "failures"}, {"Reconciliation", "reconciliation"}, {"Settings", "settings"},
	} {
		path := address("suppliers", code)
		if one.part != "" {
			path = address("suppliers", code, one.part)
		}
		made.Tabs = append(made.Tabs, tab{one.name, path, one.part == here})
	}
	return made
}

// supplied is what the first page of a supplier shows.
type supplied struct {
	head
	stand
	Pace pacing // of the run there is, or was last
}

func showSupplier(v *visit) (any, error) {
	code := v.value("supplier")
	found, err := v.operator().Stand(v.ctx(), code)
	if err != nil {
		return nil, err
	}
	page := supplied{head: supplierHead(code, code, ""), stand: stand{found}}
	if found.Run != nil {
		// Without failures: this page only wants the samples for its chart.
		facts, err := v.operator().ShowRun(v.ctx(), found.Run.ID, 0)
		if err != nil {
			return nil, err
		}
		page.Pace = pace(facts.Samples)
	}
	return page, nil
}

// runsShown is what the runs of a supplier look like, and how one is started.
type runsShown struct {
	head
	landfall.Supplier
	Runs  []*landfall.Run
	Teams []landfall.Team
}

// runsListed is how many runs are listed. Nobody starts more.
const runsListed = 200

func listRuns(v *visit) (any, error) {
	code, operator := v.value("supplier"), v.operator()
	facts, err := operator.ShowSupplier(v.ctx(), code)
	if err != nil {
		return nil, err
	}
	page := runsShown{head: supplierHead(code, code+": runs", "runs"), Supplier: facts.Supplier}
	runs, err := operator.Runs(v.ctx(), code, runsListed)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		page.Runs = append(page.Runs, &runs[i])
	}
	page.Teams, err = operator.Teams(v.ctx())
	return page, err
}

// settingsShown is a supplier's settings, each with what it means.
type settingsShown struct {
	head
	operate.SupplierFacts
	Rules []ruleShown
}

// ruleShown is a rule with what breaking it does to this supplier's requests.
type ruleShown struct {
	contract.Rule
	Severity landfall.Severity // of this supplier; "" is the rule book's
}

func showSettings(v *visit) (any, error) {
	code := v.value("supplier")
	facts, err := v.operator().ShowSupplier(v.ctx(), code)
	if err != nil {
		return nil, err
	}
	page := settingsShown{head: supplierHead(code, code+": settings", "settings"), SupplierFacts: facts}
	for _, rule := range contract.RuleBook() {
		page.Rules = append(page.Rules, ruleShown{rule, facts.Severities[rule.Code]})
	}
	return page, nil
}

// setSupplier changes settings.
func setSupplier(v *visit) (any, error) {
	change := operate.SupplierChange{}
	// Every field is set, the empty ones too: the form shows all of them, and what somebody has
	// cleared is to be cleared.
	for name, into := range map[string]**string{
		"name": &change.Name, "document_root": &change.DocumentRoot, "currency": &change.Currency, "region": &change.Region, "time_zone": &change.TimeZone,
	} {
		text := v.typed(name)
		*into = &text
	}
	limit := 0
	if err := v.number("concurrency_limit", &limit); err != nil {
		return nil, err
	}
	window, err := v.span("undo_window")
	if err != nil {
		return nil, err
	}
	for name, into := range map[string]**time.Duration{
		"keep_staged": &change.KeepStaged, "keep_failures": &change.KeepFailures, "keep_mails": &change.KeepMails, "keep_events": &change.KeepEvents,
	} {
		length, err := v.span(name)
		if err != nil {
			return nil, err
		}
		*into = &length
	}
	verify, mail := v.typed("verify_documents") != "", v.typed("send_customer_emails") != ""
	change.ConcurrencyLimit, change.UndoWindow, change.VerifyDocuments, change.SendCustomerEmails = &limit, &window, &verify, &mail
	code := v.value("supplier")
	_, err = v.operator().SetSupplier(v.ctx(), code, change)
	return done{to: address("suppliers", code, "settings"), say: "The settings are kept."}, err
}

// setStatus lets a supplier's move go on, rest or end. Completing one wants its
// code typed.
func setStatus(v *visit) (any, error) {
	code, status := v.value("supplier"), landfall.SupplierStatus(v.typed("status"))
	if status == landfall.Complete {
		// Only the last step is confirmed: a pause is taken back with a button.
		if err := v.confirmed(code); err != nil {
			return nil, err
		}
	}
	_, err := v.operator().SetSupplier(v.ctx(), code, operate.SupplierChange{Status: &status})
	// Woken even where the verb refused, which costs one look of the runner; runs stop and go on
	// with their supplier.
	v.console.Wake()
	return done{to: address("suppliers", code, "settings"), say: fmt.Sprintf("%s is %s now.", code, status)}, err
}

// setRules changes what breaking rules does.
func setRules(v *visit) (any, error) {
	change := operate.SupplierChange{Severities: map[string]landfall.Severity{}}
	for name := range v.form {
		if rule, is := strings.CutPrefix(name, "rule."); is {
			change.Severities[rule] = landfall.Severity(v.typed(name))
		}
	}
	code := v.value("supplier")
	_, err := v.operator().SetSupplier(v.ctx(), code, change)
	return done{to: address("suppliers", code, "settings"), say: "The rules are kept."}, err
}

func supplierPages() []page {
	settings, runs := reads("suppliers/{supplier}/settings/", showSettings, "settings"), reads("suppliers/{supplier}/runs/", listRuns, "runs")
	return []page{
		reads("suppliers/{supplier}/", showSupplier, "supplier"), live("suppliers/{supplier}/live", showSupplier, "supplier-parts"),
		runs, acts("suppliers/{supplier}/runs/", startRun, runs),
		settings, acts("suppliers/{supplier}/settings/", setSupplier, settings),
		acts("suppliers/{supplier}/status/", setStatus, settings), acts("suppliers/{supplier}/rules/", setRules, settings),
	}
}

// Window is the undo window as it is typed.
func (s settingsShown) Window() string { return typedSpan(s.UndoWindow) }

// keepShown is how long something is kept, and what that is.
type keepShown struct {
	Name, What, Means string
	Length            time.Duration // 0: for ever
}

// Typed is the length as it is typed.
func (k keepShown) Typed() string { return typedSpan(k.Length) }

// Keeps are the lengths of time that things are kept.
func (s settingsShown) Keeps() []keepShown {
	return []keepShown{
		{"keep_staged", "Keep staged documents", "after the account was created, or else after the last staging or attempt; such as 90d, 0 for ever", s.Retention.Staged},
		{"keep_failures", "Keep the words of failures", "their codes and places stay; such as 90d, 0 for ever", s.Retention.Failures},
		{"keep_mails", "Keep addresses of mails", "once they were sent or given up; such as 90d, 0 for ever", s.Retention.Mails},
		{"keep_events", "Keep events", "once every webhook has received them; such as 180d, 0 for ever", s.Retention.Events},
	}
}

// typedSpan writes a length of time as it is typed.
func typedSpan(length time.Duration) string {
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

// span reads a length of time such as 12h or 90d; nothing typed is none.
func (v *visit) span(name string) (time.Duration, error) {
	text := v.typed(name)
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
