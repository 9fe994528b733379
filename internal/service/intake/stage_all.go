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

// StageAll stages accounts, each as Stage would: it fills in what became of
// them. They are staged together; only an account that comes again waits until
// those are, and is then staged by itself, in the order it came. The bodies must
// stay untouched afterwards.
func (d *Desk) StageAll(ctx context.Context, handed []Handed) {
	sent := d.readAll(ctx, handed)
	// Refusals are kept on record, which many are together.
	var refused sync.WaitGroup
	for i := range handed {
		if one := &handed[i]; one.Err != nil {
			refused.Go(one.safely(func() { one.Err = d.refuse(ctx, one.Who, sent.read[i].key, one.Err) }))
		}
	}
	for at, result := range d.store.StageAll(ctx, sent.stagings) {
		i := sent.places[at]
		one := &handed[i]
		conclude := func() { one.Receipt, one.Err = d.conclude(ctx, one.Who, &sent.read[i], result) }
		if result.Err == nil && refusedStaging(sent.read[i].key, result.StageOutcome) != nil {
			refused.Go(one.safely(conclude))
		} else {
			conclude()
		}
	}
	refused.Wait()
	for _, one := range sent.again {
		one.Receipt, one.Err = d.Stage(ctx, one.Who, one.Body)
	}
}

// pile is what was handed in together, as far as it could be read.
type pile struct {
	read     []readied // of each that was handed in
	stagings []landfall.Staging
	places   []int     // of the stagings among those handed in
	again    []*Handed // accounts that came before in the same call
}

// readAll reads what was handed in and makes of it what the store keeps.
func (d *Desk) readAll(ctx context.Context, handed []Handed) pile {
	sent := pile{
		read: make([]readied, len(handed)), stagings: make([]landfall.Staging, 0, len(handed)), places: make([]int, 0, len(handed)),
	}
	seen := make(map[landfall.Key]bool, len(handed))
	defer landfall.Turn(ctx)()
	noted, about := Noted(ctx)
	for i := range handed {
		one := &handed[i]
		*about = About{} // they are read one after the other
		read := &sent.read[i]
		err := d.prepare(noted, one.Who, one.Body, read)
		one.Supplier = about.Supplier
		if seen[read.key] {
			sent.again = append(sent.again, one)
			continue
		}
		if read.key != (landfall.Key{}) {
			seen[read.key] = true
		}
		if one.Err = err; err == nil {
			sent.stagings, sent.places = append(sent.stagings, read.staging), append(sent.places, i)
		}
	}
	return sent
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
