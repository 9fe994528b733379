package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"landfall"
)

// Verdict is what became of a verification.
type Verdict struct {
	Chain       landfall.AuditChain
	Unsealed    int // entries that were not chained yet
	Checkpoints int // that agree with the chain
	// Last is the furthest of them. What is behind it nobody but the database
	// vouches for: a file of checkpoints that was cut off shows there.
	Last Checkpoint
	// Wrong is the first thing that does not hold; "": nothing.
	Wrong string
	Place int64 // where that is
	Entry int64 // the entry concerned; 0: none
}

// Evidence is what was kept outside the database.
type Evidence struct {
	Checkpoints []Checkpoint
	Public      ed25519.PublicKey // nil: signatures are not looked at
}

// pageSize is how many entries are read in one transaction.
const pageSize = 500

// Verify walks along the chain and names the first place at which it is not
// what it was. It changes nothing and may run beside a server.
func Verify(ctx context.Context, store landfall.Transactor, evidence Evidence) (Verdict, error) {
	w := &walk{store: store, witnessed: map[int64]Checkpoint{}}
	if err := store.View(ctx, func(view landfall.View) (err error) {
		w.Chain, err = view.AuditChain(ctx)
		return err
	}); err != nil {
		return Verdict{}, err
	}
	if w.believe(evidence); w.Wrong == "" {
		if err := w.along(ctx); err != nil {
			return Verdict{}, err
		}
	}
	return w.Verdict, nil
}

// walk is a verification under way.
type walk struct {
	Verdict
	store     landfall.Transactor
	witnessed map[int64]Checkpoint
	hash      landfall.AuditHash
	at        int64 // place
}

// wrong keeps the first place that does not hold; everything behind it follows from
// that one.
func (w *walk) wrong(place, entry int64, what string, args ...any) {
	if w.Wrong == "" {
		w.Place, w.Entry, w.Wrong = place, entry, fmt.Sprintf(what, args...)
	}
}

// believe sorts the checkpoints. One without a good signature proves nothing,
// and that it is there is worth knowing.
func (w *walk) believe(evidence Evidence) {
	for _, one := range evidence.Checkpoints {
		switch before, twice := w.witnessed[one.Place]; {
		case evidence.Public != nil && !one.SignedBy(evidence.Public):
			w.wrong(one.Place, 0, "the checkpoint of %s for place %d is not signed with this key", one.At, one.Place)
		case one.Chain != w.Chain.Name:
			w.wrong(one.Place, 0, "the checkpoint of %s is of another chain, %s; this one is %s", one.At, one.Chain, w.Chain.Name)
		case twice && before.Hash != one.Hash:
			w.wrong(one.Place, 0, "the checkpoints of %s and %s contradict each other about place %d", before.At, one.At, one.Place)
		}
		w.witnessed[one.Place] = one
	}
}

// along goes through the chain in pages, each in a snapshot of its own, so that a
// long audit holds up no cleaning of the database.
func (w *walk) along(ctx context.Context) error {
	for after := int64(math.MinInt64); w.Wrong == ""; {
		var page []landfall.AuditLink
		if err := w.store.View(ctx, func(view landfall.View) (err error) {
			page, err = view.AuditTrail(ctx, landfall.AuditQuery{After: after, Limit: pageSize})
			return err
		}); err != nil {
			return err
		}
		for _, link := range page {
			if after = link.ID; link.ID > w.Chain.Through {
				w.Unsealed++ // or chained while we walk: whoever verifies next will see
				continue
			}
			if err := w.step(ctx, link); err != nil || w.Wrong != "" {
				return err
			}
		}
		if len(page) < pageSize {
			return w.end(ctx)
		}
	}
	return nil
}

// step looks at the next entry that is there.
func (w *walk) step(ctx context.Context, link landfall.AuditLink) error {
	if link.Position != w.at+1 {
		return w.misplaced(ctx, link)
	}
	w.at = link.Position
	w.hash = link.HashAfter(w.hash)
	if w.hash != link.Hash {
		w.wrong(w.at, link.ID, "entry %d at place %d was altered", link.ID, w.at)
		return nil
	}
	if one, has := w.witnessed[w.at]; has {
		if one.Hash != w.hash.String() {
			w.wrong(w.at, link.ID, "place %d does not have the hash that the checkpoint of %s says: "+
				"the chain was written anew from there or from an earlier place", w.at, one.At)
			return nil
		}
		w.Checkpoints++
		w.Last = one
	}
	return nil
}

// misplaced says what an entry means that is not at the next place.
func (w *walk) misplaced(ctx context.Context, link landfall.AuditLink) error {
	next := w.at + 1
	id, there, err := w.holder(ctx, next)
	switch {
	case err != nil:
		return err
	case id == 0 && link.Position == 0 && next <= w.Chain.Position:
		w.wrong(next, link.ID, "entry %d has lost its link at place %d, or was put in for the one that had it", link.ID, next)
	case id == 0 && link.Position == 0:
		w.wrong(next, link.ID, "entry %d was put in: it is older than the end of the chain and has no place in it", link.ID)
	case id == 0:
		w.wrong(next, link.ID, "the entry at place %d was removed together with its link", next)
	case !there:
		w.wrong(next, id, "entry %d at place %d was removed", id, next)
	case link.Position == 0:
		w.wrong(next, link.ID, "entry %d was put in: it has no place in the chain", link.ID)
	default:
		w.wrong(next, link.ID, "entries were swapped: entry %d stands at place %d, and entry %d at place %d", link.ID, link.Position, id, next)
	}
	return nil
}

// holder gives the entry that was given a place; 0: none.
func (w *walk) holder(ctx context.Context, place int64) (id int64, there bool, err error) {
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

// end compares what was found with the end of the chain and with the
// checkpoints behind it.
func (w *walk) end(ctx context.Context) error {
	switch {
	case w.at < w.Chain.Position:
		id, _, err := w.holder(ctx, w.at+1)
		if err != nil {
			return err
		}
		w.wrong(w.at+1, id, "the chain was cut off behind place %d: it had %d entries", w.at, w.Chain.Position)
	case w.at > w.Chain.Position || w.hash != w.Chain.Hash:
		w.wrong(w.Chain.Position, 0, "the end of the chain was altered: it says place %d, and the last one is %d", w.Chain.Position, w.at)
	}
	for _, place := range slices.Sorted(maps.Keys(w.witnessed)) {
		if place > w.at {
			w.wrong(w.at+1, 0, "the chain was cut off behind place %d, or an earlier state of the database was restored: "+
				"the checkpoint of %s says place %d", w.at, w.witnessed[place].At, place)
		}
	}
	return nil
}
