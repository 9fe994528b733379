package landfall

import "slices"

// Watermark is how far the log of events is complete. Ids are assigned before
// commits, and commits overtake each other: events with smaller ids than the newest
// one may not be visible yet. A reader that read up to the newest event would miss
// those.
type Watermark struct {
	// Complete is the id up to which every event is visible.
	Complete int64
	// Last was the newest event of an earlier poll, and Writing are the transactions
	// that were writing events then and still are. When they have ended, the log is
	// complete up to Last.
	Last    int64
	Writing []string
	// Newest was the newest event of the last poll. Once Complete reaches it,
	// everything that had been committed by then is visible.
	Newest int64
}

// Next returns the watermark after another poll, which read the newest event and
// then who was writing events. A transaction with a smaller id that was not visible
// was writing when the newest event was read, so it is among the writers or has
// ended since.
func (w Watermark) Next(last int64, writing []string) Watermark {
	if last < w.Complete {
		w = Watermark{} // the database was restored to an earlier state
	}
	still := slices.DeleteFunc(slices.Clone(w.Writing), func(one string) bool { return !slices.Contains(writing, one) })
	switch {
	case len(writing) == 0:
		return Watermark{Complete: last, Last: last, Newest: last}
	case len(still) == 0:
		// The writers of the earlier poll have ended; now wait for those of this poll.
		return Watermark{Complete: w.Last, Last: last, Writing: writing, Newest: last}
	}
	return Watermark{Complete: w.Complete, Last: w.Last, Writing: still, Newest: last}
}
