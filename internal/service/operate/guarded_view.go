package operate

import (
	"context"
	"slices"
	"strings"
	"time"

	"landfall"
)

// guardedView is a view for one person. It refuses to read anything of a supplier that
// the person may not see. What is about no supplier is checked by permitView.
type guardedView struct {
	landfall.View
	person *landfall.Operator
}

func (g guardedView) read(supplier string) error { return permit(g.person, landfall.MayRead, supplier) }

func (g guardedView) Account(ctx context.Context, key landfall.Key) (landfall.Account, error) {
	return guarded(g.read(key.Supplier), func() (landfall.Account, error) { return g.View.Account(ctx, key) })
}

func (g guardedView) AccountPage(ctx context.Context, key landfall.Key, query landfall.AccountPageQuery) (landfall.AccountPage, error) {
	return guarded(g.read(key.Supplier), func() (landfall.AccountPage, error) { return g.View.AccountPage(ctx, key, query) })
}

func (g guardedView) AccountFigures(ctx context.Context, key landfall.Key) (landfall.AccountFigures, error) {
	return guarded(g.read(key.Supplier), func() (landfall.AccountFigures, error) { return g.View.AccountFigures(ctx, key) })
}

func (g guardedView) AccountState(ctx context.Context, key landfall.Key, ids []string) (landfall.AccountState, error) {
	return guarded(g.read(key.Supplier), func() (landfall.AccountState, error) { return g.View.AccountState(ctx, key, ids) })
}

func (g guardedView) Identifiers(ctx context.Context, key landfall.Key) ([]landfall.Identifier, error) {
	return guarded(g.read(key.Supplier), func() ([]landfall.Identifier, error) { return g.View.Identifiers(ctx, key) })
}

func (g guardedView) Events(ctx context.Context, key landfall.Key) ([]landfall.Event, error) {
	return guarded(g.read(key.Supplier), func() ([]landfall.Event, error) { return g.View.Events(ctx, key) })
}

func (g guardedView) Process(ctx context.Context, key landfall.Key) (landfall.Process, error) {
	return guarded(g.read(key.Supplier), func() (landfall.Process, error) { return g.View.Process(ctx, key) })
}

func (g guardedView) Revisions(ctx context.Context, key landfall.Key) ([]landfall.StagedRevision, error) {
	return guarded(g.read(key.Supplier), func() ([]landfall.StagedRevision, error) { return g.View.Revisions(ctx, key) })
}

func (g guardedView) Revision(ctx context.Context, key landfall.Key, number int) (landfall.StagedRevision, error) {
	return guarded(g.read(key.Supplier), func() (landfall.StagedRevision, error) { return g.View.Revision(ctx, key, number) })
}

func (g guardedView) StagingRefusal(ctx context.Context, key landfall.Key) (landfall.Refusal, error) {
	return guarded(g.read(key.Supplier), func() (landfall.Refusal, error) { return g.View.StagingRefusal(ctx, key) })
}

func (g guardedView) RefusedPostings(ctx context.Context, key landfall.Key) ([]landfall.Failure, error) {
	return guarded(g.read(key.Supplier), func() ([]landfall.Failure, error) { return g.View.RefusedPostings(ctx, key) })
}

func (g guardedView) UndoneAccounts(ctx context.Context, key landfall.Key) ([]landfall.UndoneAccount, error) {
	return guarded(g.read(key.Supplier), func() ([]landfall.UndoneAccount, error) { return g.View.UndoneAccounts(ctx, key) })
}

func (g guardedView) AccountDelivery(ctx context.Context, key landfall.Key) (landfall.AccountDelivery, error) {
	return guarded(g.read(key.Supplier), func() (landfall.AccountDelivery, error) { return g.View.AccountDelivery(ctx, key) })
}

func (g guardedView) WholeAccount(ctx context.Context, key landfall.Key) (landfall.WholeAccount, error) {
	return guarded(g.read(key.Supplier), func() (landfall.WholeAccount, error) { return g.View.WholeAccount(ctx, key) })
}

func (g guardedView) MailsOf(ctx context.Context, key landfall.Key) ([]landfall.MailRecord, error) {
	return guarded(g.read(key.Supplier), func() ([]landfall.MailRecord, error) { return g.View.MailsOf(ctx, key) })
}

func (g guardedView) Postings(ctx context.Context, key landfall.Key, each func(landfall.PostedItem) error) (landfall.PostedAccount, error) {
	return guarded(g.read(key.Supplier), func() (landfall.PostedAccount, error) { return g.View.Postings(ctx, key, each) })
}

func (g guardedView) History(ctx context.Context, query landfall.HistoryQuery) (landfall.History, error) {
	return guarded(g.read(query.Key.Supplier), func() (landfall.History, error) { return g.View.History(ctx, query) })
}

func (g guardedView) AccountLists(ctx context.Context, query landfall.AccountListsQuery) (landfall.AccountLists, error) {
	return guarded(g.read(query.Key.Supplier), func() (landfall.AccountLists, error) { return g.View.AccountLists(ctx, query) })
}

func (g guardedView) Supplier(ctx context.Context, supplier string) (landfall.Supplier, error) {
	return guarded(g.read(supplier), func() (landfall.Supplier, error) { return g.View.Supplier(ctx, supplier) })
}

func (g guardedView) Grantees(ctx context.Context, supplier string) ([]string, error) {
	return guarded(g.read(supplier), func() ([]string, error) { return g.View.Grantees(ctx, supplier) })
}

func (g guardedView) LastEvent(ctx context.Context, supplier string, upTo int64) (landfall.Event, error) {
	return guarded(g.read(supplier), func() (landfall.Event, error) { return g.View.LastEvent(ctx, supplier, upTo) })
}

func (g guardedView) ControlTotals(ctx context.Context, supplier string) (landfall.ControlTotals, error) {
	return guarded(g.read(supplier), func() (landfall.ControlTotals, error) { return g.View.ControlTotals(ctx, supplier) })
}

func (g guardedView) ControlTotalsHistory(ctx context.Context, supplier string) ([]landfall.ControlTotals, error) {
	return guarded(g.read(supplier), func() ([]landfall.ControlTotals, error) { return g.View.ControlTotalsHistory(ctx, supplier) })
}

func (g guardedView) Tallies(ctx context.Context, supplier string) (landfall.Tallies, error) {
	return guarded(g.read(supplier), func() (landfall.Tallies, error) { return g.View.Tallies(ctx, supplier) })
}

func (g guardedView) Recount(ctx context.Context, supplier string) (landfall.Tallies, error) {
	return guarded(g.read(supplier), func() (landfall.Tallies, error) { return g.View.Recount(ctx, supplier) })
}

func (g guardedView) DeviatingAccounts(ctx context.Context, supplier string) (int64, error) {
	return guarded(g.read(supplier), func() (int64, error) { return g.View.DeviatingAccounts(ctx, supplier) })
}

func (g guardedView) UndoneOf(ctx context.Context, supplier string) (int, error) {
	return guarded(g.read(supplier), func() (int, error) { return g.View.UndoneOf(ctx, supplier) })
}

func (g guardedView) RunSamples(ctx context.Context, run string, since time.Time) ([]landfall.RunSample, error) {
	return guarded(g.ofRun(ctx, run), func() ([]landfall.RunSample, error) { return g.View.RunSamples(ctx, run, since) })
}

func (g guardedView) UndoneInRun(ctx context.Context, run string) (int, error) {
	return guarded(g.ofRun(ctx, run), func() (int, error) { return g.View.UndoneInRun(ctx, run) })
}

func (g guardedView) RunIsDone(ctx context.Context, run string) (bool, error) {
	return guarded(g.ofRun(ctx, run), func() (bool, error) { return g.View.RunIsDone(ctx, run) })
}

func (g guardedView) AccountByNumber(ctx context.Context, number string) (landfall.Account, error) {
	found, err := g.View.AccountByNumber(ctx, number)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Key.Supplier), func() (landfall.Account, error) { return found, nil })
}

func (g guardedView) UndoneAccount(ctx context.Context, number string) (landfall.UndoneAccount, error) {
	found, err := g.View.UndoneAccount(ctx, number)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Key.Supplier), func() (landfall.UndoneAccount, error) { return found, nil })
}

func (g guardedView) KeyByNumber(ctx context.Context, number string) (landfall.Key, error) {
	found, err := g.View.KeyByNumber(ctx, number)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Supplier), func() (landfall.Key, error) { return found, nil })
}

func (g guardedView) Run(ctx context.Context, id string) (landfall.Run, error) {
	found, err := g.View.Run(ctx, id)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Plan.Supplier), func() (landfall.Run, error) { return found, nil })
}

func (g guardedView) SignOff(ctx context.Context, id int64) (landfall.SignOff, error) {
	found, err := g.View.SignOff(ctx, id)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Supplier), func() (landfall.SignOff, error) { return found, nil })
}

func (g guardedView) Mail(ctx context.Context, id int64) (landfall.MailRecord, error) {
	found, err := g.View.Mail(ctx, id)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Key.Supplier), func() (landfall.MailRecord, error) { return found, nil })
}

func (g guardedView) TargetDelivery(ctx context.Context, id int64) (landfall.TargetDelivery, error) {
	found, err := g.View.TargetDelivery(ctx, id)
	if err != nil {
		return found, err
	}
	return guarded(g.read(found.Key.Supplier), func() (landfall.TargetDelivery, error) { return found, nil })
}

func (g guardedView) Suppliers(ctx context.Context) ([]landfall.Supplier, error) {
	all, err := g.View.Suppliers(ctx)
	return readable(g.person, all, err, func(one landfall.Supplier) string { return one.Code })
}

func (g guardedView) Runs(ctx context.Context, query landfall.RunQuery) ([]landfall.Run, error) {
	all, err := g.View.Runs(ctx, query)
	return readable(g.person, all, err, func(one landfall.Run) string { return one.Plan.Supplier })
}

func (g guardedView) LastRuns(ctx context.Context) ([]landfall.Run, error) {
	all, err := g.View.LastRuns(ctx)
	return readable(g.person, all, err, func(one landfall.Run) string { return one.Plan.Supplier })
}

func (g guardedView) LiveRuns(ctx context.Context) ([]landfall.Run, error) {
	all, err := g.View.LiveRuns(ctx)
	return readable(g.person, all, err, func(one landfall.Run) string { return one.Plan.Supplier })
}

func (g guardedView) SignOffs(ctx context.Context, supplier string) ([]landfall.SignOff, error) {
	all, err := g.View.SignOffs(ctx, supplier)
	return readable(g.person, all, err, func(one landfall.SignOff) string { return one.Supplier })
}

func (g guardedView) Mails(ctx context.Context, query landfall.MailQuery) ([]landfall.MailRecord, error) {
	// Leave them out of the query too: a page that is shorter than its limit is the last.
	for supplier := range g.person.SupplierRoles {
		if !g.person.May(landfall.MayRead, supplier) {
			query.Except = append(query.Except, supplier)
		}
	}
	slices.Sort(query.Except)
	all, err := g.View.Mails(ctx, query)
	return readable(g.person, all, err, func(one landfall.MailRecord) string { return one.Key.Supplier })
}

func (g guardedView) TargetDeliveries(ctx context.Context, query landfall.TargetDeliveryQuery) ([]landfall.TargetDelivery, error) {
	all, err := g.View.TargetDeliveries(ctx, query)
	return readable(g.person, all, err, func(one landfall.TargetDelivery) string { return one.Key.Supplier })
}

func (g guardedView) InProgress(ctx context.Context) (map[string]int64, error) {
	all, err := g.View.InProgress(ctx)
	return readableOf(g.person, all, err)
}

func (g guardedView) SignedOffAt(ctx context.Context) (map[string]time.Time, error) {
	all, err := g.View.SignedOffAt(ctx)
	return readableOf(g.person, all, err)
}

func (g guardedView) UndoForecast(ctx context.Context, query landfall.UndoForecastQuery) (landfall.UndoForecast, error) {
	refusal := g.read(query.Key.Supplier)
	if query.Run != "" {
		refusal = g.ofRun(ctx, query.Run)
	}
	return guarded(refusal, func() (landfall.UndoForecast, error) { return g.View.UndoForecast(ctx, query) })
}

// Audit returns entries about a run or an account, or about anything for people
// who may read the audit.
func (g guardedView) Audit(ctx context.Context, subject string) ([]landfall.AuditEntry, error) {
	supplier, _, _ := strings.Cut(subject, "/")
	refusal := g.read(supplier)
	switch {
	case strings.HasPrefix(subject, "R-"): // who started, paused and undid a run
		refusal = g.ofRun(ctx, subject)
	case supplier == subject:
		refusal = permit(g.person, landfall.MayAudit, "")
	}
	return guarded(refusal, func() ([]landfall.AuditEntry, error) { return g.View.Audit(ctx, subject) })
}

func (g guardedView) AuditTrail(ctx context.Context, query landfall.AuditQuery) ([]landfall.AuditLink, error) {
	return guarded(permit(g.person, landfall.MayAudit, ""), func() ([]landfall.AuditLink, error) { return g.View.AuditTrail(ctx, query) })
}

func (g guardedView) ofRun(ctx context.Context, id string) error {
	_, err := g.Run(ctx, id)
	return err
}
