package operate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// PostingArchive saves what was posted to accounts before they are undone, one
// part after the other. A part is settled when it is known which of its accounts
// were undone. An undo that was interrupted may leave one unsettled part, which is
// settled before the next part begins.
type PostingArchive interface {
	// Begin starts a part and drops one that was not committed.
	Begin() error
	// Add adds an item of an account to the part.
	Add(key landfall.Key, item landfall.PostedItem) error
	// Commit makes the part durable, together with the accounts it is about.
	Commit(accounts []landfall.PostedAccount) error
	// Unsettled returns the accounts of the part that is committed and not settled;
	// none if there is no such part.
	Unsettled() ([]landfall.PostedAccount, error)
	// Settle removes the items of kept accounts from that part.
	Settle(kept map[landfall.Key]bool) error
}

const (
	// savedAtOnce is how many accounts are in a part of an archive.
	savedAtOnce = 500
	// maxSaves is how often the postings of an account are saved again because
	// others were added meanwhile.
	maxSaves = 3
)

// errPostedMeanwhile means that postings were added to an account each time after
// its postings had been saved.
var errPostedMeanwhile = landfall.Refuse(landfall.CodeHasPostings,
	"The account is kept: postings were added while its postings were being saved. Pause the supplier and try again.")

// archiveError is an error of the archive: unlike one of the database, waiting does
// not help.
type archiveError struct{ error }

func (e archiveError) Unwrap() error { return e.error }

// inArchive marks an error of the archive.
func inArchive(err error) error {
	if err != nil {
		return archiveError{err}
	}
	return nil
}

// undoSaved undoes one account, and saves its postings first if there is an
// archive.
func (o *Operator) undoSaved(ctx context.Context, request landfall.UndoRequest, archive PostingArchive) (outcome landfall.UndoOutcome, err error) {
	if archive == nil {
		return o.undoAccount(ctx, request)
	}
	if err := o.settle(ctx, archive); err != nil {
		return outcome, err
	}
	for range maxSaves {
		saved, err := o.save(ctx, archive, []landfall.Key{request.Key})
		if err != nil || len(saved) == 0 {
			return landfall.UndoOutcome{Verdict: landfall.UndoNoAccount}, err
		}
		request.AllPostings, request.Saved = true, saved[0].Postings
		outcome, err = o.undoAccount(ctx, request)
		if err = errors.Join(err, o.settle(context.WithoutCancel(ctx), archive)); err != nil || outcome.Verdict != landfall.UndoUnsaved {
			return outcome, err
		}
	}
	return outcome, errPostedMeanwhile
}

// save writes the postings of accounts to a part of the archive. It returns the
// accounts that exist, and retries during a short outage of the database.
func (o *Operator) save(ctx context.Context, archive PostingArchive, keys []landfall.Key) (saved []landfall.PostedAccount, err error) {
	for try := range undoTries {
		if try > 0 {
			select {
			case <-time.After(limits.UndoRetry << try):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		saved, err = o.saveOnce(ctx, archive, keys)
		if _, local := errors.AsType[archiveError](err); err == nil || local || ctx.Err() != nil {
			break
		}
	}
	return saved, err
}

func (o *Operator) saveOnce(ctx context.Context, archive PostingArchive, keys []landfall.Key) (saved []landfall.PostedAccount, err error) {
	if err := archive.Begin(); err != nil {
		return nil, inArchive(err)
	}
	for _, key := range keys {
		var account landfall.PostedAccount
		err := o.store.View(ctx, func(view landfall.View) (err error) {
			account, err = view.Postings(ctx, key, func(item landfall.PostedItem) error { return inArchive(archive.Add(key, item)) })
			return err
		})
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		}
		saved = append(saved, account)
	}
	return saved, inArchive(archive.Commit(saved))
}

// settle removes the accounts that were not undone from the last part of the
// archive. The database knows them, also when an answer was lost.
func (o *Operator) settle(ctx context.Context, archive PostingArchive) error {
	accounts, err := archive.Unsettled()
	if err != nil || len(accounts) == 0 {
		return inArchive(err)
	}
	kept := map[landfall.Key]bool{}
	if err := o.store.View(ctx, func(view landfall.View) error {
		for _, account := range accounts {
			before, err := view.UndoneAccounts(ctx, account.Key)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(before, func(u landfall.UndoneAccount) bool { return u.CreatedAt.Equal(account.CreatedAt) }) {
				kept[account.Key] = true
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return inArchive(archive.Settle(kept))
}

// undoTask is the undo of one account of a run.
type undoTask struct {
	landfall.UndoRequest
	done func(landfall.UndoOutcome) (again bool) // called with the result; again means that it is not final
}

// handOut gives the accounts of a run to workers.
func (o *Operator) handOut(ctx context.Context, run, reason string, archive PostingArchive, tasks chan<- undoTask) error {
	if archive != nil {
		if err := o.settle(ctx, archive); err != nil {
			return err
		}
	}
	var part []landfall.Key
	for key, err := range o.store.RunCreated(ctx, run) {
		switch {
		case err != nil:
			return err
		case archive != nil:
			if part = append(part, key); len(part) == savedAtOnce {
				if err := o.handOutSaved(ctx, run, reason, archive, part, tasks); err != nil {
					return err
				}
				part = nil
			}
		case !give(ctx, tasks, undoTask{o.undoRequest(key, reason, run), func(landfall.UndoOutcome) bool { return false }}):
			return nil
		}
	}
	return o.handOutSaved(ctx, run, reason, archive, part, tasks)
}

// give hands out a task, unless the work was stopped.
func give(ctx context.Context, tasks chan<- undoTask, task undoTask) bool {
	select {
	case tasks <- task:
		return true
	case <-ctx.Done():
		return false
	}
}

// handOutSaved saves the postings of some accounts, hands them out and waits for
// the workers. Accounts that got more postings meanwhile are saved again.
func (o *Operator) handOutSaved(ctx context.Context, run, reason string, archive PostingArchive, keys []landfall.Key, tasks chan<- undoTask) error {
	for try := 1; len(keys) > 0; try++ {
		saved, err := o.save(ctx, archive, keys)
		if err != nil {
			return err
		}
		var working sync.WaitGroup
		var lock sync.Mutex
		keys = nil
		for _, account := range saved {
			request := o.undoRequest(account.Key, reason, run)
			request.AllPostings, request.Saved = true, account.Postings
			working.Add(1)
			if !give(ctx, tasks, undoTask{request, func(outcome landfall.UndoOutcome) bool {
				defer working.Done()
				if outcome.Verdict != landfall.UndoUnsaved || try == maxSaves {
					return false
				}
				lock.Lock()
				defer lock.Unlock()
				keys = append(keys, request.Key)
				return true
			}}) {
				working.Done()
				break
			}
		}
		working.Wait()
		if err := o.settle(context.WithoutCancel(ctx), archive); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}
