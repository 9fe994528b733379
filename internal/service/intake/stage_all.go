package intake

import (
	"context"
	"fmt"
	"sync"

	"landfall"
)

// StageItem is an account that is handed in with others, and what becomes of it.
type StageItem struct {
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
func (s *Service) StageAll(ctx context.Context, handed []StageItem) {
	sent := s.readAll(ctx, handed)
	// Refusals are kept on record, which many are together.
	var refused sync.WaitGroup
	for i := range handed {
		if one := &handed[i]; one.Err != nil {
			refused.Go(one.recovering(func() { one.Err = s.refuse(ctx, one.Who, sent.read[i].key, one.Err) }))
		}
	}
	for at, result := range s.store.StageAll(ctx, sent.stagings) {
		i := sent.indexes[at]
		one := &handed[i]
		conclude := func() { one.Receipt, one.Err = s.conclude(ctx, one.Who, &sent.read[i], result) }
		if result.Err == nil && refusedStaging(sent.read[i].key, result.StageOutcome) != nil {
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

// stageBatch is what was handed in together, as far as it could be read.
type stageBatch struct {
	read     []preparedStaging // of each that was handed in
	stagings []landfall.Staging
	indexes  []int        // of the stagings among those handed in
	again    []*StageItem // accounts that came before in the same call
}

// readAll reads what was handed in and makes of it what the store keeps.
func (s *Service) readAll(ctx context.Context, handed []StageItem) stageBatch {
	sent := stageBatch{
		read: make([]preparedStaging, len(handed)), stagings: make([]landfall.Staging, 0, len(handed)), indexes: make([]int, 0, len(handed)),
	}
	seen := make(map[landfall.Key]bool, len(handed))
	defer landfall.Turn(ctx)()
	noted, about := WithAbout(ctx)
	for i := range handed {
		one := &handed[i]
		*about = About{} // they are read one after the other
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

// recovering keeps a fault of ours to the account it concerns: nobody above would
// catch it on another goroutine.
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
