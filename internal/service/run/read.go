package run

import (
	"context"
	"errors"
	"iter"

	"landfall"
	"landfall/internal/service/intake"
)

// Callers cannot tell another organisation's run from one that does not exist.
var errUnknown = &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeRunNotFound, Detail: "There is no run with this id."}

// Get returns a run of a supplier that the caller was granted.
func (r *Runner) Get(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	var run landfall.Run
	err := r.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		run, err = grantedRun(ctx, view, who, id)
		return err
	})
	if err != nil {
		return landfall.Run{}, userError(err)
	}
	intake.NoteSupplier(ctx, run.Plan.Supplier)
	return run, nil
}

// grantedRun reads a run and checks its supplier's grant each time, because a
// grant may be revoked while the run goes on.
func grantedRun(ctx context.Context, view landfall.View, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := view.Run(ctx, id)
	if err == nil {
		_, err = view.GrantedSupplier(ctx, who.Organisation, run.Plan.Supplier)
	}
	if errors.Is(err, landfall.ErrNotFound) {
		err = errUnknown
	}
	return run, err
}

// pageSize is how many runs are read at a time.
const pageSize = 50

// List streams a supplier's runs, newest first.
func (r *Runner) List(ctx context.Context, who landfall.Principal, query landfall.RunQuery) (iter.Seq2[landfall.Run, error], error) {
	if err := r.intake.RequireSupplier(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	left := query.Limit
	return func(yield func(landfall.Run, error) bool) {
		for query.Limit == 0 || left > 0 {
			page := query
			if page.Limit = pageSize; query.Limit > 0 {
				page.Limit = min(left, pageSize)
			}
			var runs []landfall.Run
			err := r.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
				runs, err = view.Runs(ctx, page)
				return err
			})
			if err != nil {
				yield(landfall.Run{}, userError(err))
				return
			}
			for _, run := range runs {
				if !yield(run, nil) {
					return
				}
				query.After = run.ID
			}
			if left -= len(runs); len(runs) < page.Limit {
				return
			}
		}
	}, nil
}

// Failures streams the accounts that failed in a run.
func (r *Runner) Failures(
	ctx context.Context, who landfall.Principal, query landfall.RunFailureQuery,
) (iter.Seq2[landfall.FailedProcess, error], error) {
	if _, err := r.Get(ctx, who, query.Run); err != nil {
		return nil, err
	}
	return intake.UserErrors(r.store.For(who.Caller()).RunFailures(ctx, query)), nil
}
