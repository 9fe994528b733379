package console

import (
	"context"
	"maps"
	"math"
	"sync"
	"time"

	"landfall"
)

// forecasting is the count of what the undo of a run would come to. A run may
// have created a million accounts, and each is looked at: so it is counted
// behind the page, which shows how far it is and then what it came to.
type forecasting struct {
	landfall.UndoForecast
	Looked, Of   int
	Began, Ended time.Time // Ended is zero while it goes on
	Trouble      string
	over         chan struct{}
}

// forecasts are those of this replica, by run.
type forecasts struct {
	mu    sync.Mutex
	byRun map[string]*forecasting
	turns chan struct{} // as many as may count at once
}

const (
	// forecastsAtOnce leaves the database to those who move accounts.
	forecastsAtOnce = 2
	// mostForecasts bounds what is remembered of those that ended.
	mostForecasts = 100
	// forecastPatience is how long a page waits for a count before it shows how
	// far it is: a run of a few thousand has been counted by then.
	forecastPatience = 50 * time.Millisecond
	// forecastLife is how long the figures of a count stand on the page of
	// somebody who has seen them and is typing.
	forecastLife = time.Minute
)

func newForecasts() *forecasts {
	return &forecasts{byRun: map[string]*forecasting{}, turns: make(chan struct{}, forecastsAtOnce)}
}

// begin gives the count of a run that is under way, or one that ended so short
// a time ago that it still counts, or else a new one, which the caller has to
// begin.
func (f *forecasts) begin(run landfall.Run, now time.Time, life func(*forecasting) time.Duration) (one *forecasting, begun bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.byRun[run.ID]
	if known != nil && (known.Ended.IsZero() || now.Sub(known.Ended) < life(known)) {
		return known, false
	}
	for id, old := range f.byRun {
		if len(f.byRun) >= mostForecasts && !old.Ended.IsZero() {
			delete(f.byRun, id)
		}
	}
	one = &forecasting{Of: run.Tally.Selected, Began: now, over: make(chan struct{})}
	f.byRun[run.ID] = one
	return one, true
}

// count looks at every account of a run, when its turn has come.
func (f *forecasts) count(ctx context.Context, v *visit, run landfall.Run, one *forecasting) {
	defer close(one.over)
	var found landfall.UndoForecast
	var err error
	select {
	case f.turns <- struct{}{}:
		found, err = v.operator().ForecastUndo(ctx, run, func(looked, of int) {
			f.mu.Lock()
			defer f.mu.Unlock()
			one.Looked, one.Of = looked, of
		})
		<-f.turns
	case <-ctx.Done():
		err = ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one.UndoForecast, one.Ended = found, v.console.Clock()
	if err != nil {
		one.Trouble = landfall.Told("counting what an undo comes to", err).Detail
	}
}

// forecast gives how the count of a run stands, after a moment in which small
// ones end. Who reads the page anew has it counted anew, unless counting takes
// long; who watches it or was refused on it goes on with the figures he saw.
func (v *visit) forecast(run landfall.Run) forecasting {
	all, patience := v.console.forecasts, forecastPatience
	life := func(known *forecasting) time.Duration {
		switch {
		case v.page.bare: // the page itself is read again by who wants it counted again
			return math.MaxInt64
		case known.Trouble != "":
			return 0
		case v.form != nil:
			return forecastLife
		}
		return min(known.Ended.Sub(known.Began), forecastLife)
	}
	if v.form != nil {
		patience = pageTime / 2 // what was typed stands on this page only
	}
	one, begun := all.begin(run, v.console.Clock(), life)
	if begun {
		ctx, cancel := v.behind()
		go func() {
			defer cancel()
			all.count(ctx, v, run, one)
		}()
	}
	select {
	case <-one.over:
	case <-time.After(patience):
	case <-v.ctx().Done():
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	copied := *one
	copied.Kept = maps.Clone(one.Kept)
	return copied
}

// behind is a context for what goes on behind a page, until the service ends.
func (v *visit) behind() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(v.ctx()))
	go func() {
		select {
		case <-v.console.Ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
