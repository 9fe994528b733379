package operate

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"landfall"
)

// For returns a copy of the operator that may do only what a person may do. Changes
// are checked by their action, and reads by what they are about, in the transaction
// itself. An operator without a person may do everything.
func (o *Operator) For(person landfall.Operator) *Operator {
	limited := *o
	limited.person = &person
	limited.store = guardedStore{o.store, &person}
	return &limited
}

// Permit refuses a person who lacks a permission at a supplier, or in general with "".
func (o *Operator) Permit(permission landfall.Permission, supplier string) error {
	if o.person == nil {
		return nil
	}
	return permit(o.person, permission, supplier)
}

func permit(person *landfall.Operator, permission landfall.Permission, supplier string) error {
	if person.May(permission, supplier) {
		return nil
	}
	role := string(person.RoleAt(supplier))
	if role == "" {
		role = "none"
	}
	detail := fmt.Sprintf("Your role (%s) does not allow this. Ask an administrator.", role)
	if supplier != "" {
		detail = fmt.Sprintf("Your role at %s (%s) does not allow this. Ask an administrator.", supplier, role)
	}
	return &landfall.Error{Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied, Detail: detail}
}

// permitChange checks an action. What is not listed is for administrators.
func (o *Operator) permitChange(ctx context.Context, view landfall.View, action, subject string) error {
	if o.person == nil {
		return nil
	}
	kind, _, _ := strings.Cut(action, ".")
	supplier, _, _ := strings.Cut(subject, "/")
	switch {
	case action == "account.reveal", action == "account.check":
		return o.Permit(landfall.MayReveal, supplier)
	case slices.Contains([]string{"account", "control_totals", "delivery", "mail"}, kind), action == "run.start", action == "supplier.set", action == landfall.SignOffAction:
		return o.Permit(landfall.MayAct, supplier)
	case kind == "run":
		run, err := view.Run(ctx, subject)
		if err != nil {
			return nil //nolint:nilerr // the change says that there is no such run
		}
		return o.Permit(landfall.MayAct, run.Plan.Supplier)
	}
	return o.Permit(landfall.MayAdminister, "")
}

// permitView checks a read by its name. Reads about suppliers are checked by
// guardedView when the supplier is known.
func (o *Operator) permitView(doing string) error {
	kind, _, _ := strings.Cut(doing, ".")
	kind, _, _ = strings.Cut(kind, " ")
	switch kind {
	case "account", "run", "supplier", "overview", "reconcile", "sign", "mail", "delivery", "team", "pack":
		return o.Permit(landfall.MayRead, "")
	case "audit":
		return o.Permit(landfall.MayAudit, "")
	case "operator", "session":
		return o.Permit(landfall.MaySeePeople, "")
	}
	return o.Permit(landfall.MayInspect, "")
}

type guardedStore struct {
	Store
	person *landfall.Operator
}

func (g guardedStore) View(ctx context.Context, fn func(landfall.View) error) error {
	return g.Store.View(ctx, func(view landfall.View) error { return fn(guardedView{view, g.person}) })
}

func (g guardedStore) Update(ctx context.Context, fn func(landfall.Tx) error) error {
	return g.Store.Update(ctx, func(tx landfall.Tx) error { return fn(guardedTx{tx, guardedView{tx, g.person}}) })
}

// guardedTx writes what the permitted change writes, and reads what the person may.
type guardedTx struct {
	landfall.Writer
	guardedView
}

// guardedSeq reads a list only with permission.
func guardedSeq[T any](refusal error, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	if refusal == nil {
		return list
	}
	return func(yield func(T, error) bool) {
		var none T
		yield(none, refusal)
	}
}

func (g guardedStore) read(supplier string) error {
	return permit(g.person, landfall.MayRead, supplier)
}
func (g guardedStore) act(supplier string) error { return permit(g.person, landfall.MayAct, supplier) }

func (g guardedStore) List(ctx context.Context, query landfall.ProcessQuery) iter.Seq2[landfall.ProcessEntry, error] {
	return guardedSeq(g.read(query.Supplier), g.Store.List(ctx, query))
}

func (g guardedStore) WholeAccounts(ctx context.Context, query landfall.WholeAccountQuery) iter.Seq2[landfall.WholeAccount, error] {
	return guardedSeq(permit(g.person, landfall.MayReveal, query.Supplier), g.Store.WholeAccounts(ctx, query))
}

func (g guardedStore) Failed(ctx context.Context, query landfall.FailureQuery) iter.Seq2[landfall.FailedProcess, error] {
	return guardedSeq(g.read(query.Supplier), g.Store.Failed(ctx, query))
}

func (g guardedStore) FailureSummary(ctx context.Context, supplier string) (landfall.FailureSummary, error) {
	return guarded(g.read(supplier), func() (landfall.FailureSummary, error) { return g.Store.FailureSummary(ctx, supplier) })
}

// Duplicates leaves out pairs with accounts of suppliers that the person may not see.
func (g guardedStore) Duplicates(ctx context.Context, query landfall.DuplicateQuery) iter.Seq2[landfall.Duplicate, error] {
	return func(yield func(landfall.Duplicate, error) bool) {
		for pair, err := range guardedSeq(g.read(query.Supplier), g.Store.Duplicates(ctx, query)) {
			if err == nil && !pair.Unfinished && g.read(pair.Supplier) != nil {
				continue
			}
			if !yield(pair, err) {
				return
			}
		}
	}
}

func (g guardedStore) Contributions(ctx context.Context, query landfall.ContributionQuery) iter.Seq2[landfall.Contribution, error] {
	return guardedSeq(g.read(query.Supplier), g.Store.Contributions(ctx, query))
}

// Search searches the suppliers that the person may see.
func (g guardedStore) Search(ctx context.Context, query landfall.SearchQuery) (landfall.SearchResult, error) {
	if g.person.Role != "" && len(g.person.SupplierRoles) == 0 {
		return g.Store.Search(ctx, query)
	}
	query.Suppliers = []string{}
	err := g.View(ctx, func(view landfall.View) error {
		suppliers, err := view.Suppliers(ctx)
		for _, supplier := range suppliers {
			query.Suppliers = append(query.Suppliers, supplier.Code)
		}
		return err
	})
	return guarded(err, func() (landfall.SearchResult, error) { return g.Store.Search(ctx, query) })
}

// ofRun refuses to read a run of a supplier that the person may not see.
func (g guardedStore) ofRun(ctx context.Context, id string) error {
	return g.View(ctx, func(view landfall.View) error {
		_, err := view.Run(ctx, id)
		return err
	})
}

func (g guardedStore) RunFailures(ctx context.Context, query landfall.RunFailureQuery) iter.Seq2[landfall.FailedProcess, error] {
	return guardedSeq(g.ofRun(ctx, query.Run), g.Store.RunFailures(ctx, query))
}

func (g guardedStore) RunCreated(ctx context.Context, run string) iter.Seq2[landfall.Key, error] {
	return guardedSeq(g.ofRun(ctx, run), g.Store.RunCreated(ctx, run))
}

func (g guardedStore) Undo(ctx context.Context, request landfall.UndoRequest) (landfall.UndoOutcome, error) {
	return guarded(g.act(request.Key.Supplier), func() (landfall.UndoOutcome, error) { return g.Store.Undo(ctx, request) })
}

func (g guardedStore) RestartDeliveries(ctx context.Context, key landfall.Key, limit int) (int, error) {
	return guarded(g.act(key.Supplier), func() (int, error) { return g.Store.RestartDeliveries(ctx, key, limit) })
}

func (g guardedStore) Purge(ctx context.Context, order landfall.PurgeRequest) (landfall.PurgeStep, error) {
	return guarded(permit(g.person, landfall.MayAdminister, ""), func() (landfall.PurgeStep, error) { return g.Store.Purge(ctx, order) })
}

func (g guardedStore) Rekey(ctx context.Context) (landfall.RekeyStep, error) {
	return guarded(permit(g.person, landfall.MayAdminister, ""), func() (landfall.RekeyStep, error) { return g.Store.Rekey(ctx) })
}

func (g guardedStore) AcceptPlain(ctx context.Context) error {
	if err := permit(g.person, landfall.MayAdminister, ""); err != nil {
		return err
	}
	return g.Store.AcceptPlain(ctx)
}

func (g guardedStore) Encryption(ctx context.Context) (landfall.Encryption, error) {
	return guarded(permit(g.person, landfall.MayInspect, ""), func() (landfall.Encryption, error) { return g.Store.Encryption(ctx) })
}

func (g guardedStore) Inspect(ctx context.Context) iter.Seq2[landfall.Inspection, error] {
	return guardedSeq(permit(g.person, landfall.MayAdminister, ""), g.Store.Inspect(ctx))
}

// guarded reads only with permission.
func guarded[T any](refusal error, read func() (T, error)) (T, error) {
	if refusal != nil {
		var none T
		return none, refusal
	}
	return read()
}

// readable keeps the values of suppliers that a person may see.
func readable[T any](person *landfall.Operator, all []T, err error, supplier func(T) string) ([]T, error) {
	return slices.DeleteFunc(all, func(one T) bool { return !person.May(landfall.MayRead, supplier(one)) }), err
}

func readableOf[T any](person *landfall.Operator, all map[string]T, err error) (map[string]T, error) {
	maps.DeleteFunc(all, func(supplier string, _ T) bool { return !person.May(landfall.MayRead, supplier) })
	return all, err
}
