package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Result is the result of a verification.
type Result struct {
	Chain       landfall.AuditChain
	Unchained   int // entries that were not chained yet
	Checkpoints int // checkpoints that agree with the chain
	// Last is the last of them. Only the database vouches for later entries; a
	// truncated checkpoint file shows in this way.
	Last Checkpoint
	// Backdated is how many entries are much older than the one before them.
	Backdated int
	// Problem is the first problem; "": none.
	Problem  string
	Position int64 // of the problem
	Entry    int64 // the entry concerned; 0: none
}

// Evidence is what was stored outside the database.
type Evidence struct {
	Checkpoints []Checkpoint
	Public      ed25519.PublicKey // nil: signatures are not checked
	// Pause is called after each page with the time that took, for a verification
	// that is in no hurry; nil: no pauses.
	Pause func(ctx context.Context, took time.Duration) error
}

// maxStepBack is how much older than the entry before it an entry may be.
// Transactions get their ids and their times in different order.
const maxStepBack = limits.AuditClockStep

// pageSize is how many entries are read in one transaction.
const pageSize = 500

// Verify checks the chain and reports the first position where it was changed. It
// writes nothing and may run beside a server.
func Verify(ctx context.Context, store landfall.Transactor, evidence Evidence) (Result, error) {
	w := &verification{store: store, checkpoints: map[int64]Checkpoint{}, pause: evidence.Pause}
	if err := store.View(ctx, func(view landfall.View) (err error) {
		w.Chain, err = view.AuditChain(ctx)
		return err
	}); err != nil {
		return Result{}, err
	}
	if w.checkCheckpoints(evidence); w.Problem == "" {
		if err := w.checkEntries(ctx); err != nil {
			return Result{}, err
		}
	}
	return w.Result, nil
}

// verification is a verification in progress.
type verification struct {
	Result
	store       landfall.Transactor
	checkpoints map[int64]Checkpoint
	pause       func(context.Context, time.Duration) error
	hash        landfall.AuditHash
	position    int64 // position of the last checked entry
	last        time.Time
	backdated   landfall.AuditLink // the first one
	step        time.Duration      // how much older it is
}

// report keeps the first problem; later ones follow from it.
func (w *verification) report(place, entry int64, what string, args ...any) {
	if w.Problem == "" {
		w.Position, w.Entry, w.Problem = place, entry, fmt.Sprintf(what, args...)
	}
}

// checkCheckpoints checks the checkpoints and indexes them by position. One without
// a valid signature proves nothing and is reported.
func (w *verification) checkCheckpoints(evidence Evidence) {
	for _, one := range evidence.Checkpoints {
		switch before, twice := w.checkpoints[one.Position]; {
		case evidence.Public != nil && !one.SignedBy(evidence.Public):
			w.report(one.Position, 0, "the checkpoint of %s for position %d is not signed with this key", one.At, one.Position)
		case one.Chain != w.Chain.Name:
			w.report(one.Position, 0, "the checkpoint of %s belongs to another chain: it names %s, and this chain is %s", one.At, one.Chain, w.Chain.Name)
		case twice && before.Hash != one.Hash:
			w.report(one.Position, 0, "the checkpoints of %s and %s contradict each other about position %d", before.At, one.At, one.Position)
		}
		w.checkpoints[one.Position] = one
	}
}

// checkEntries goes through the chain in pages, each in its own snapshot, so that a
// long audit does not delay the database's vacuum.
func (w *verification) checkEntries(ctx context.Context) error {
	for after := int64(math.MinInt64); w.Problem == ""; {
		var page []landfall.AuditLink
		began := time.Now()
		if err := w.store.View(ctx, func(view landfall.View) (err error) {
			page, err = view.AuditTrail(ctx, landfall.AuditQuery{After: after, Limit: pageSize})
			return err
		}); err != nil {
			return err
		}
		for _, link := range page {
			if after = link.ID; link.ID > w.Chain.Through {
				w.Unchained++ // or chained meanwhile; the next verification checks it
				continue
			}
			if err := w.checkEntry(ctx, link); err != nil || w.Problem != "" {
				return err
			}
		}
		if len(page) < pageSize {
			return w.checkEnd(ctx)
		}
		if w.pause != nil {
			if err := w.pause(ctx, time.Since(began)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEntry checks the next entry.
func (w *verification) checkEntry(ctx context.Context, link landfall.AuditLink) error {
	if link.Position != w.position+1 {
		return w.explainPosition(ctx, link)
	}
	// The chain proves the order of entries, not their times. Someone who can
	// write to the database can add an entry with any time and have it chained.
	if step := w.last.Sub(link.At); w.position > 0 && step > maxStepBack {
		if w.Backdated++; w.Backdated == 1 {
			w.backdated, w.step = link, step
		}
	}
	w.position, w.last = link.Position, link.At
	w.hash = link.HashAfter(w.hash)
	if w.hash != link.Hash {
		w.report(w.position, link.ID, "entry %d at position %d was changed", link.ID, w.position)
		return nil
	}
	if one, has := w.checkpoints[w.position]; has {
		if one.Hash != w.hash.String() {
			w.report(w.position, link.ID, "position %d does not have the hash of the checkpoint of %s: "+
				"the chain was rewritten from there or from an earlier position", w.position, one.At)
			return nil
		}
		w.Checkpoints++
		w.Last = one
	}
	return nil
}

// explainPosition reports why an entry is not at the next position.
func (w *verification) explainPosition(ctx context.Context, link landfall.AuditLink) error {
	next := w.position + 1
	id, there, err := w.entryAt(ctx, next)
	switch {
	case err != nil:
		return err
	case id == 0 && link.Position == 0 && next <= w.Chain.Position:
		w.report(next, link.ID, "entry %d has no link at position %d, or replaced the entry that had it", link.ID, next)
	case id == 0 && link.Position == 0:
		w.report(next, link.ID, "entry %d was inserted: it is older than the end of the chain and is not in it", link.ID)
	case id == 0:
		w.report(next, link.ID, "the entry at position %d was removed together with its link", next)
	case !there:
		w.report(next, id, "entry %d at position %d was removed", id, next)
	case link.Position == 0:
		w.report(next, link.ID, "entry %d was inserted: it is not in the chain", link.ID)
	default:
		w.report(next, link.ID, "entries were swapped: entry %d is at position %d, and entry %d at position %d", link.ID, link.Position, id, next)
	}
	return nil
}

// entryAt returns the entry at a position; 0: none.
func (w *verification) entryAt(ctx context.Context, place int64) (id int64, there bool, err error) {
	err = w.store.View(ctx, func(view landfall.View) (err error) {
		id, there, err = view.AuditPosition(ctx, place)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	return id, there, nil
}

// checkEnd compares the last entry with the recorded end of the chain and with
// later checkpoints.
func (w *verification) checkEnd(ctx context.Context) error {
	switch {
	case w.position < w.Chain.Position:
		id, _, err := w.entryAt(ctx, w.position+1)
		if err != nil {
			return err
		}
		w.report(w.position+1, id, "the chain was truncated after position %d: it had %d entries", w.position, w.Chain.Position)
	case w.position > w.Chain.Position || w.hash != w.Chain.Hash:
		w.report(w.Chain.Position, 0, "the end of the chain was changed: it says position %d, and the last entry has %d", w.Chain.Position, w.position)
	}
	for _, place := range slices.Sorted(maps.Keys(w.checkpoints)) {
		if place > w.position {
			w.report(w.position+1, 0, "the chain was truncated after position %d, or an earlier state of the database was restored: "+
				"the checkpoint of %s says position %d", w.position, w.checkpoints[place].At, place)
		}
	}
	// Last, because the database's clock may have been set back.
	if one := w.backdated; w.Backdated > 0 {
		w.report(one.Position, one.ID, "entry %d at position %d is dated %s, %s before the previous entry: it was backdated, or the database's clock was set back",
			one.ID, one.Position, one.At.UTC().Format(time.RFC3339), w.step.Round(time.Second))
	}
	return nil
}
