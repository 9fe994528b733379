package run

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

const (
	// batchSize is how many accounts of a slice are created at once and share a
	// transaction. Twice as many are no cheaper each; half as many cost a tenth
	// more, because fewer of their tables have enough rows to be copied.
	batchSize = 256
	// timeSlice is how long a worker stays with a slice before it looks for
	// another run.
	timeSlice = limits.RunTimeSlice
	// A slice whose accounts fail because of a fault of ours is postponed, for
	// longer each time.
	firstPostpone = limits.RunFirstRetry
	maxPostpone   = limits.RunMaxRetry
)

// work takes slices, one after the other, of the run with the fewest workers.
func (r *Runner) work(ctx context.Context) {
	retryPause := time.Duration(0)
	for {
		run := r.next(ctx)
		if run == nil {
			return
		}
		err := r.workOnSlice(ctx, run)
		empty := errors.Is(err, landfall.ErrNotFound)
		r.leave(run, empty)
		if err == nil || empty {
			retryPause = 0
			continue
		}
		if ctx.Err() == nil {
			r.log.Warn("cannot work on a slice of a run now", "run", run.id, "error", err)
		}
		// The database is unavailable or busy: retry less and less often, but often
		// enough to make progress when it comes and goes.
		retryPause = min(max(2*retryPause, limits.RecordRetry), limits.RunDatabaseRetry)
		sleep(ctx, retryPause)
	}
}

// next waits for a run that has work and joins its workers. It returns nil when
// the context ends.
func (r *Runner) next(ctx context.Context) *activeRun {
	for ctx.Err() == nil {
		found, wait, changed := r.pick(time.Now())
		if found != nil {
			return found
		}
		select {
		case <-changed:
		case <-wait:
		case <-ctx.Done():
		}
	}
	return nil
}

// pick returns the run with the fewest workers, or when to ask again. It keeps
// one worker free for a run that is not active yet, because the workers of
// another run may be waiting for a vendor.
func (r *Runner) pick(now time.Time) (*activeRun, <-chan time.Time, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var best *activeRun
	soonest := time.Duration(-1)
	for _, run := range r.active {
		if wait := run.pausedUntil.Sub(now); wait > 0 {
			if soonest < 0 || wait < soonest {
				soonest = wait
			}
			continue
		}
		if run.workers >= max(1, r.workers-1) {
			continue
		}
		if best == nil || run.workers < best.workers || run.workers == best.workers && run.takenAt.Before(best.takenAt) {
			best = run
		}
	}
	if best != nil {
		best.workers++
		best.takenAt = now
		return best, nil, nil
	}
	if soonest < 0 {
		return nil, nil, r.changed
	}
	return nil, time.After(soonest), r.changed
}

// leave removes a worker from a run.
func (r *Runner) leave(run *activeRun, empty bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run.workers--
	if empty {
		run.pausedUntil = time.Now().Add(limits.RunEmpty)
		r.Wake() // the run may be done
		return
	}
	// A worker may have skipped this run because it had enough workers.
	r.notifyWorkers()
}

func (r *Runner) workOnSlice(ctx context.Context, run *activeRun) error {
	slice, err := r.storeFor(run.organisation).TakeSlice(ctx, landfall.SliceRequest{Run: run.id, Lease: r.lease, Concurrency: batchSize})
	if err != nil {
		return err
	}
	r.busy.Add(1)
	defer r.busy.Add(-1)
	// A batch that has begun is finished even when the program is asked to stop.
	graceful, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(shutdownGrace, cancel) })()
	postpone, err := r.createSlice(ctx, graceful, slice)
	r.pauseOn(graceful, slice, err)
	if errors.Is(err, landfall.ErrFenced) {
		return nil // another worker has the slice by now
	}
	return errors.Join(err, r.returnSlice(graceful, slice, postpone))
}

// returnSlice returns a slice, and retries while the database is busy: otherwise
// no worker could take the slice until its lease ends.
func (r *Runner) returnSlice(ctx context.Context, slice landfall.RunSlice, postpone time.Duration) error {
	began := time.Now()
	for wait := limits.RecordRetry; ; wait = min(2*wait, limits.RunDatabaseRetry) {
		err := r.storeFor(slice.Run.ActsFor.Organisation).ReturnSlice(ctx, slice, postpone)
		if err == nil || ctx.Err() != nil || time.Since(began) > r.lease {
			return err
		}
		r.log.Warn("cannot return a slice of a run; trying again", "run", slice.Run.ID, "error", err)
		sleep(ctx, wait)
	}
}

// createSlice creates the accounts of a slice, batch by batch, and returns for
// how long to postpone the rest. When some accounts have to be tried again it
// still goes through all of them, so that the others need not wait.
func (r *Runner) createSlice(ctx, graceful context.Context, slice landfall.RunSlice) (postpone time.Duration, err error) {
	postponed, wait, limited := 0, time.Duration(0), false
	open := slice.Members
	for end := time.Now().Add(timeSlice); len(open) > 0 && ctx.Err() == nil && (time.Now().Before(end) || postponed > 0 && !limited); {
		size := batchLength(open, r.maxBatch(slice.Concurrency))
		var done progress
		r.yield(graceful, slice.Run.ActsFor.Organisation, func() { done, err = r.createBatch(graceful, slice, open[:size]) })
		if err != nil {
			return 0, err
		}
		r.count(done, slice.Run.Plan.DryRun)
		for _, fault := range done.faults {
			r.log.Error("internal error while creating an account of a run", "run", slice.Run.ID, "error", fault)
		}
		if done.stop {
			return 0, nil
		}
		postponed, wait = postponed+done.postponed, max(wait, done.wait)
		open = append(done.untouched, open[size:]...)
		limited = len(done.untouched) > 0
		// The limit is used up by others.
		if len(done.untouched) == size {
			sleep(ctx, limits.RunQuotaPause)
		}
	}
	if postponed == 0 {
		return 0, nil
	}
	return max(postponement(slice.Tries), min(wait, maxPostpone)), nil
}

// postponement is the pause before another try.
func postponement(tries int) time.Duration {
	return min(firstPostpone<<min(tries, 10), maxPostpone)
}

// batchLength is how many of the members make a batch.
func batchLength(open []landfall.RunMember, limit int) int {
	bytes, count := 0, 0
	for count < min(limit, len(open)) && (count == 0 || bytes+open[count].Bytes <= limits.RunBatchBytes) {
		bytes += open[count].Bytes
		count++
	}
	return count
}

// pauseOn pauses a run after an error that only people can resolve.
func (r *Runner) pauseOn(ctx context.Context, slice landfall.RunSlice, err error) {
	var reason landfall.PauseReason
	switch {
	case errors.Is(err, landfall.ErrRevoked):
		reason = landfall.PauseKeyNotValid
	case errors.Is(err, errNotGranted):
		reason = landfall.PauseNotGranted
	case errors.Is(err, errTeamGone):
		reason = landfall.PauseTeamUnknown
	default:
		return
	}
	err = r.storeFor(slice.Run.ActsFor.Organisation).Update(ctx, func(tx landfall.Tx) error {
		run, err := tx.Run(ctx, slice.Run.ID)
		if err != nil {
			return err
		}
		run.Pause(reason)
		return tx.SaveRun(ctx, run)
	})
	if err != nil {
		r.log.Warn("cannot pause a run; trying again", "run", slice.Run.ID, "reason", string(reason), "error", err)
	} else {
		r.log.Warn("run paused", "run", slice.Run.ID, "reason", string(reason))
	}
	r.Wake()
}
