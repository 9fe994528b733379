package run

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/service/intake"
)

const (
	// width is how many accounts of a slice are under way at once, and share a
	// transaction: twice as many cost no less each, and half as many a tenth more, since
	// fewer of their tables have rows enough to be copied.
	width = 256
	// heaviest bounds the documents of a batch, as they are kept.
	heaviest = 4 << 20
	// stint is how long a worker stays with a slice before others have a turn.
	stint = 2 * time.Second
	// fullPause is how long a worker waits where limits are full.
	fullPause = 250 * time.Millisecond
	// idle is how long a run that had nothing to take is left alone.
	idle = 200 * time.Millisecond
	// A slice whose accounts fail for reasons of ours is left for so long, and
	// longer each time.
	firstPause   = time.Second
	longestPause = time.Minute
	// longestTrouble is how long a worker waits for a database that is away.
	longestTrouble = time.Second
)

// work takes slices, one after the other, of whichever run has least workers.
func (c *Conductor) work(ctx context.Context) {
	trouble := time.Duration(0)
	for {
		taken := c.next(ctx)
		if taken == nil {
			return
		}
		err := c.serve(ctx, taken)
		c.leave(taken, errors.Is(err, landfall.ErrNotFound))
		if err == nil || errors.Is(err, landfall.ErrNotFound) {
			trouble = 0
			continue
		}
		if ctx.Err() == nil {
			c.log.Warn("a part of a run was left for now", "run", taken.id, "error", err)
		}
		// The database is away or busy: come back less and less often, but soon
		// enough to use the moments in between if it comes and goes.
		trouble = min(max(2*trouble, 100*time.Millisecond), longestTrouble)
		pause(ctx, trouble)
	}
}

// next waits for a run that has something to do, and enters its service. It is
// nil at the end.
func (c *Conductor) next(ctx context.Context) *part {
	for ctx.Err() == nil {
		found, wait, changed := c.pick(time.Now())
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

// pick gives the run with least workers, or when to ask again. One worker is
// kept for a run that is not there yet, since those of another may have to wait
// for somebody outside.
func (c *Conductor) pick(now time.Time) (*part, <-chan time.Time, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *part
	soonest := time.Duration(-1)
	for _, p := range c.playing {
		if wait := p.until.Sub(now); wait > 0 {
			if soonest < 0 || wait < soonest {
				soonest = wait
			}
			continue
		}
		if p.lanes >= max(1, c.lanes-1) {
			continue
		}
		if best == nil || p.lanes < best.lanes || p.lanes == best.lanes && p.last.Before(best.last) {
			best = p
		}
	}
	if best != nil {
		best.lanes++
		best.last = now
		return best, nil, nil
	}
	if soonest < 0 {
		return nil, nil, c.changed
	}
	return nil, time.After(soonest), c.changed
}

// leave ends a worker's service on a run.
func (c *Conductor) leave(p *part, empty bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.lanes--
	if empty {
		p.until = time.Now().Add(idle)
		c.Wake() // it may be at its end
		return
	}
	// A worker may have passed it by because there were enough.
	close(c.changed)
	c.changed = make(chan struct{})
}

// serve takes a slice of a run and works on it.
func (c *Conductor) serve(ctx context.Context, p *part) error {
	slice, err := c.store.TakeSlice(behalf(ctx, p.organisation), landfall.SliceRequest{Run: p.id, Lease: c.lease, Concurrency: width})
	if err != nil {
		return err
	}
	c.busy.Add(1)
	defer c.busy.Add(-1)
	// What is being created is finished, even when the end was asked for.
	unhurried, cancel := context.WithCancel(behalf(context.WithoutCancel(ctx), slice.Run.ActsFor.Organisation))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastBatch, cancel) })()
	later, err := c.play(ctx, unhurried, slice)
	c.stop(unhurried, slice, err)
	if errors.Is(err, landfall.ErrFenced) {
		return nil // somebody else has it by now
	}
	return errors.Join(err, c.giveBack(unhurried, slice, later))
}

// giveBack leaves a slice, and tries again where the database is busy: a slice
// that nobody holds and nobody gave back is idle until its lease ends.
func (c *Conductor) giveBack(ctx context.Context, slice landfall.RunSlice, later time.Duration) error {
	began := time.Now()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, longestTrouble) {
		err := c.store.ReturnSlice(ctx, slice, later)
		if err == nil || ctx.Err() != nil || time.Since(began) > c.lease {
			return err
		}
		c.log.Warn("a part of a run could not be given back yet", "run", slice.Run.ID, "error", err)
		pause(ctx, wait)
	}
}

// play creates the accounts of a slice, batch by batch, and gives how long what
// is left of it is to be left alone. Where some have to be tried again it goes
// through all of them first, or the others would wait for nothing.
func (c *Conductor) play(ctx, unhurried context.Context, slice landfall.RunSlice) (again time.Duration, err error) {
	later, wait, full := 0, time.Duration(0), false
	open := slice.Members
	for end := time.Now().Add(stint); len(open) > 0 && ctx.Err() == nil && (time.Now().Before(end) || later > 0 && !full); {
		size := batchOf(open, c.together(slice.Concurrency))
		var progress intake.Progress
		c.inTurn(unhurried, slice.Run.ActsFor.Organisation, func() { progress, err = c.desk.WorkOn(unhurried, slice, open[:size]) })
		if err != nil {
			return 0, err
		}
		c.count(progress)
		for _, fault := range progress.Faults {
			c.log.Error("an account of a run met a fault of ours", "run", slice.Run.ID, "error", fault)
		}
		if progress.Stop {
			return 0, nil
		}
		later, wait = later+progress.Later, max(wait, progress.Pause)
		open = append(progress.Untouched, open[size:]...)
		if full = len(progress.Untouched) > 0; full {
			pause(ctx, fullPause)
		}
	}
	if later == 0 {
		return 0, nil
	}
	return max(growing(slice.Tries), min(wait, longestPause)), nil
}

// growing is the pause before another try.
func growing(tries int) time.Duration {
	return min(firstPause<<min(tries, 10), longestPause)
}

// batchOf is how many of the members make a batch.
func batchOf(open []landfall.RunMember, most int) int {
	bytes, count := 0, 0
	for count < min(most, len(open)) && (count == 0 || bytes+open[count].Bytes <= heaviest) {
		bytes += open[count].Bytes
		count++
	}
	return count
}

// stop pauses a run that cannot go on until somebody helps.
func (c *Conductor) stop(ctx context.Context, slice landfall.RunSlice, err error) {
	var reason landfall.PauseReason
	switch {
	case errors.Is(err, landfall.ErrRevoked):
		reason = landfall.PauseKeyNotValid
	case errors.Is(err, intake.ErrRunNotGranted):
		reason = landfall.PauseNotGranted
	case errors.Is(err, intake.ErrRunTeamGone):
		reason = landfall.PauseTeamUnknown
	default:
		return
	}
	if err := c.desk.StopRun(ctx, slice.Run.ID, reason); err != nil {
		c.log.Warn("a run could not be paused yet", "run", slice.Run.ID, "reason", string(reason), "error", err)
	}
	c.log.Warn("a run is paused", "run", slice.Run.ID, "reason", string(reason))
	c.Wake()
}

// count adds up what this replica has done.
func (c *Conductor) count(p intake.Progress) {
	c.succeeded.Add(int64(p.Succeeded))
	c.failed.Add(int64(p.Failed))
	c.refused.Add(int64(p.Refused))
	c.retried.Add(int64(p.Later))
}
