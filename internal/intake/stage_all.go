package intake

import (
	"context"
	"fmt"
	"sync"

	"landfall"
)

// Handed is an account that is handed in with others, and what becomes of it.
type Handed struct {
	Who  landfall.Principal
	Body []byte

	Receipt  Receipt
	Err      error
	Supplier string // whom it is about, once that is known
}

// StageAll stages accounts of different numbers, each as Stage would: it fills
// in what became of them. The bodies must stay untouched afterwards.
func (d *Desk) StageAll(ctx context.Context, handed []Handed) {
	reads := make([]understood, len(handed))
	stagings := make([]landfall.Staging, 0, len(handed))
	places := make([]int, 0, len(handed)) // of the stagings
	leave := landfall.Turn(ctx)
	for i := range handed {
		one := &handed[i]
		noted, about := Noted(ctx)
		var staging landfall.Staging
		if reads[i], staging, one.Err = d.prepare(noted, one.Who, one.Body); one.Err == nil {
			stagings, places = append(stagings, staging), append(places, i)
		}
		one.Supplier = about.Supplier
	}
	leave()
	// Refusals are kept on record, which many are together.
	var refused sync.WaitGroup
	for i := range handed {
		if one := &handed[i]; one.Err != nil {
			refused.Go(one.safely(func() { one.Err = d.refuse(ctx, one.Who, reads[i].account, one.Err) }))
		}
	}
	for at, result := range d.store.StageAll(ctx, stagings) {
		i := places[at]
		one := &handed[i]
		conclude := func() { one.Receipt, one.Err = d.conclude(ctx, one.Who, reads[i], result) }
		if result.Err == nil && refusedStaging(stagings[at].Key, result.StageOutcome) != nil {
			refused.Go(one.safely(conclude))
		} else {
			conclude()
		}
	}
	refused.Wait()
	for i := range reads {
		if account := reads[i].account; account != nil {
			account.Release()
		}
	}
}

// safely keeps a fault of ours to the account it concerns: nobody above would
// catch it on another goroutine.
func (h *Handed) safely(do func()) func() {
	return func() {
		defer func() {
			if fault := recover(); fault != nil {
				h.Err = trouble(fmt.Errorf("panic: %T", fault))
			}
		}()
		do()
	}
}
