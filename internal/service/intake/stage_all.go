package intake

import (
	"context"
	"fmt"
	"sync"

	"landfall"
)

// StageItem is one account of StageAll, and its result.
type StageItem struct {
	Who  landfall.Principal
	Body []byte

	Receipt  Receipt
	Err      error
	Supplier string // of the account, once that is known
}

// StageAll stages accounts, each as Stage would, and fills in their results. They
// are staged together; an account that occurs again is staged by itself after the
// others, in order. They are of one caller. Reading and packing them waits for the
// turn. The bodies must not change afterwards.
func (s *Service) StageAll(ctx context.Context, handed []StageItem, turn landfall.Turn) {
	if len(handed) == 0 {
		return
	}
	sent := s.readAll(ctx, handed, turn)
	// Refusals are recorded concurrently, so that they share transactions.
	var refused sync.WaitGroup
	for i := range handed {
		if one := &handed[i]; one.Err != nil {
			refused.Go(one.recovering(func() { one.Err = s.refuse(ctx, one.Who, sent.read[i].key, one.Body, one.Err) }))
		}
	}
	for at, result := range s.store.For(handed[0].Who.Caller()).StageAll(ctx, sent.stagings, turn) {
		i := sent.indexes[at]
		one := &handed[i]
		conclude := func() { one.Receipt, one.Err = s.conclude(ctx, one.Who, &sent.read[i], result) }
		if result.Err == nil && (result.Verdict == landfall.RefusedDuplicate || refusedStaging(sent.read[i].key, result.StageOutcome) != nil) {
			refused.Go(one.recovering(conclude))
		} else {
			conclude()
		}
	}
	refused.Wait()
	for _, one := range sent.again {
		one.Receipt, one.Err = s.Stage(ctx, one.Who, one.Body)
	}
}

// stageBatch is the items of one call that could be read.
type stageBatch struct {
	read     []preparedStaging // one for each item
	stagings []landfall.Staging
	indexes  []int        // of the stagings among the items
	again    []*StageItem // accounts that occurred before in the same call
}

func (s *Service) readAll(ctx context.Context, handed []StageItem, turn landfall.Turn) stageBatch {
	sent := stageBatch{
		read: make([]preparedStaging, len(handed)), stagings: make([]landfall.Staging, 0, len(handed)), indexes: make([]int, 0, len(handed)),
	}
	seen := make(map[landfall.Key]bool, len(handed))
	defer turn.Wait(ctx)()
	noted, about := WithAbout(ctx)
	for i := range handed {
		one := &handed[i]
		*about = About{} // items are read one after the other
		read := &sent.read[i]
		err := s.prepare(noted, one.Who, one.Body, read)
		one.Supplier = about.Supplier
		if seen[read.key] {
			sent.again = append(sent.again, one)
			continue
		}
		if read.key != (landfall.Key{}) {
			seen[read.key] = true
		}
		if one.Err = err; err == nil {
			sent.stagings, sent.indexes = append(sent.stagings, read.staging), append(sent.indexes, i)
		}
	}
	return sent
}

// recovering turns a panic into an error of the item. A panic on another
// goroutine could not be recovered by the caller.
func (h *StageItem) recovering(do func()) func() {
	return func() {
		defer func() {
			if fault := recover(); fault != nil {
				h.Err = userError(fmt.Errorf("panic: %T", fault))
			}
		}()
		do()
	}
}
