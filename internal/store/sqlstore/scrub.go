package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"landfall"
)

// scrubText is a state or the result of a pass as it is stored.
type scrubText struct {
	Stage    string             `json:"stage"`
	After    string             `json:"after"`
	Findings int                `json:"findings"`
	Examples []landfall.Finding `json:"examples"`
}

// StartScrub continues the pass that is due, or begins one, and postpones it by a
// lease. Other servers then see it as not due.
func (s *Store) StartScrub(ctx context.Context, lease time.Duration) (state landfall.ScrubState, started bool, err error) {
	due := false
	err = s.stream(ctx, func(v *view) error {
		return v.one(ctx, `SELECT due_at <= {now} FROM scrub WHERE id = 1`, nil, []any{&due})
	})
	if err != nil || !due {
		return state, false, err
	}
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		count, err := t.exec(ctx, `UPDATE scrub SET due_at = {now} + $1 WHERE id = 1 AND due_at <= {now}`, lease.Microseconds())
		if started = count > 0; err != nil || !started {
			return err
		}
		var text []byte
		if err := t.one(ctx, `SELECT state FROM scrub WHERE id = 1`, nil, []any{&text}); err != nil {
			return err
		}
		var kept scrubText
		err = json.Unmarshal(text, &kept) //nolint:musttag // only this file reads it
		state = landfall.ScrubState{Position: landfall.InspectionPosition{Stage: kept.Stage, After: kept.After}, Findings: kept.Findings, Examples: kept.Examples}
		return err
	})
	return state, started, err
}

// SaveScrub stores how far a pass is. A pass that is done becomes the last one,
// and the next one starts after a while.
func (s *Store) SaveScrub(ctx context.Context, state landfall.ScrubState, next time.Duration, done bool) error {
	text, err := json.Marshal(scrubText{state.Position.Stage, state.Position.After, state.Findings, state.Examples}) //nolint:musttag // likewise
	if err != nil {
		return err
	}
	set := `state = CAST($2 AS {json})`
	if done {
		set = `state = CAST('{}' AS {json}), result = CAST($2 AS {json}), ended_at = {now}`
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE scrub SET due_at = {now} + $1, `+set+` WHERE id = 1`, next.Microseconds(), string(text))
		return err
	})
}

// ScrubStatus returns what was found in the background.
func (v *view) ScrubStatus(ctx context.Context) (found landfall.ScrubStatus, err error) {
	var state, result []byte
	if err := v.one(ctx, `SELECT state, result, ended_at FROM scrub WHERE id = 1`, nil, []any{&state, &result, instantInto{&found.EndedAt}}); err != nil {
		return found, err
	}
	for _, text := range [][]byte{result, state} {
		var kept scrubText
		if err := json.Unmarshal(text, &kept); err != nil { //nolint:musttag // likewise
			return found, err
		}
		if kept.Findings > found.Findings {
			found.Findings, found.Examples = kept.Findings, kept.Examples
		}
	}
	return found, nil
}
