package upkeep

import (
	"context"
	"log/slog"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// ScrubStore is a store that checks its data step by step. All servers share one
// schedule and one position.
type ScrubStore interface {
	landfall.Transactor
	// InspectStep checks a few hundred rows, or a part of a file.
	InspectStep(ctx context.Context, from landfall.InspectionPosition) (landfall.InspectionStep, error)
	// StartScrub continues a pass that is due, or begins one. It reports false when
	// none is due: another server has it, or the last one is recent.
	StartScrub(ctx context.Context, lease time.Duration) (landfall.ScrubState, bool, error)
	// SaveScrub stores how far a pass is, and renews the lease. A pass that is done
	// is followed by the next one after that time.
	SaveScrub(ctx context.Context, state landfall.ScrubState, lease time.Duration, done bool) error
}

const (
	// scrubPause is the shortest pause between two steps, which limits the pace
	// however fast the database is.
	scrubPause = limits.ScrubPause
	// scrubTries is how often a step that fails is tried, until the pass goes on
	// behind it.
	scrubTries = 5
	// maxExamples is how many findings are stored. All are logged.
	maxExamples = 20
)

// ExtraCheck checks what the store cannot check by itself. It calls pause with the
// time that each part took, and note with what is wrong.
type ExtraCheck func(ctx context.Context, pause func(ctx context.Context, took time.Duration) error, note func(landfall.Finding)) error

// scrubber reads everything that can be checked, slowly and again and again, so
// that damage is noticed before someone needs the data.
type scrubber struct {
	store ScrubStore
	log   *slog.Logger
	check ExtraCheck
	state landfall.ScrubState
	saved time.Time
}

func (s *scrubber) step(ctx context.Context) time.Duration {
	if err := s.pass(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("checking the stored data was interrupted", "stage", s.state.Position.Stage, "error", err)
	}
	return limits.PurgePoll
}

// ScrubIfDue checks everything if that is due, with the usual pauses.
func ScrubIfDue(ctx context.Context, store ScrubStore, log *slog.Logger, check ExtraCheck) error {
	return (&scrubber{store: store, log: log, check: check}).pass(ctx)
}

// pass checks everything once, from where the last server stopped.
func (s *scrubber) pass(ctx context.Context) error {
	state, mine, err := s.store.StartScrub(ctx, limits.PurgeLease)
	if err != nil || !mine {
		return err
	}
	s.state, s.saved = state, time.Now()
	for failed, done := 0, false; !done; {
		began := time.Now()
		step, err := s.store.InspectStep(ctx, s.state.Position)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.note(step.Findings)
		switch failed++; {
		case err == nil:
			s.state.Position, done, failed = step.Next, step.Done, 0
		case failed == scrubTries:
			s.log.Error("a part of the stored data could not be checked", "stage", s.state.Position.Stage, "after", s.state.Position.After, "error", err)
			s.state.Position, done, failed = step.Next, step.Done, 0
		}
		if err := s.rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	if err := s.check(ctx, s.rest, func(one landfall.Finding) { s.note([]landfall.Finding{one}) }); err != nil {
		return err
	}
	return s.store.SaveScrub(ctx, s.state, limits.Scrub, true)
}

// note counts, logs and remembers what was found.
func (s *scrubber) note(findings []landfall.Finding) {
	for _, one := range findings {
		s.log.Error("stored data is damaged", "import_supplier", one.Key.Supplier, "external_account_number", one.Key.External, "finding", one.What)
		if s.state.Findings++; len(s.state.Examples) < maxExamples {
			s.state.Examples = append(s.state.Examples, one)
		}
	}
}

// rest pauses after a step, and stores the position from time to time.
func (s *scrubber) rest(ctx context.Context, took time.Duration) error {
	if time.Since(s.saved) > limits.ScrubSave {
		if err := s.store.SaveScrub(ctx, s.state, limits.PurgeLease, false); err != nil {
			return err
		}
		s.saved = time.Now()
	}
	return wait(ctx, min(limits.UpkeepMaxRest, max(scrubPause, pauseBusy*took)))
}
