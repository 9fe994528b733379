package landfall

import "slices"

// Watermark says how far the log of events is complete. Ids are given before
// commits, and commits overtake each other: behind the newest event there may be
// older ones that nobody can see yet. Whoever reads up to the newest would never
// read those.
type Watermark struct {
	// Complete is the id up to which every event there will ever be is there.
	Complete int64
	// Last was the newest event of a sounding, and Writing are those who were
	// then writing events and still are: when they have ended, the log is
	// complete up to Last.
	Last    int64
	Writing []string
	// Newest was the newest event of the last sounding: once Complete gets
	// there, everything is that had been committed by then.
	Newest int64
}

// Next is the watermark after another sounding: the newest event found, and
// then who was writing events. Whoever drew an id up to that of the newest event
// without being seen was writing when its event was found, and so is among the
// writers or has ended since.
func (w Watermark) Next(last int64, writing []string) Watermark {
	if last < w.Complete {
		w = Watermark{} // another history: the database was put back to an earlier state
	}
	still := slices.DeleteFunc(slices.Clone(w.Writing), func(one string) bool { return !slices.Contains(writing, one) })
	switch {
	case len(writing) == 0:
		return Watermark{Complete: last, Last: last, Newest: last}
	case len(still) == 0:
		// What the last sounding waited for has come; now this one waits.
		return Watermark{Complete: w.Last, Last: last, Writing: writing, Newest: last}
	}
	return Watermark{Complete: w.Complete, Last: w.Last, Writing: still, Newest: last}
}
