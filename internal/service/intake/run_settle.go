package intake

import (
	"context"
	"errors"
	"time"

	"landfall"
)

const (
	// settlePause is the first pause before a settlement is sent again, and
	// longestSettlePause the longest.
	settlePause        = 100 * time.Millisecond
	longestSettlePause = 5 * time.Second
)

// settle writes what became of the stint, and counts it.
func (s *stint) settle(ctx context.Context) error {
	return s.settleTries(ctx, s.tries, s.settlement())
}

// settleTries writes a settlement. When the database refuses it although it is
// there, one of the accounts is to blame, and halves of it are tried until that
// one stands alone.
func (s *stint) settleTries(ctx context.Context, tries []*try, settlement landfall.Settlement) error {
	settled, err := s.send(ctx, settlement)
	switch {
	case err == nil:
		return s.count(ctx, settlement, settled)
	case errors.Is(err, landfall.ErrFenced), errors.Is(err, landfall.ErrRevoked), waitable(err):
		return err
	case len(settlement.Created) == 0:
		return err
	}
	if len(settlement.Created) == 1 {
		for _, t := range tries {
			if t.ordinal == settlement.Created[0].Ordinal {
				t.reason = err
				settlement.Created = nil
				s.fail(&settlement, t)
			}
		}
		return s.settleTries(ctx, tries, settlement)
	}
	half := len(settlement.Created) / 2
	first := settlement
	first.Created = settlement.Created[:half]
	if err := s.settleTries(ctx, tries, first); err != nil {
		return err
	}
	return s.settleTries(ctx, tries, landfall.Settlement{Created: settlement.Created[half:]})
}

// waitable is trouble that goes by itself.
func waitable(err error) bool {
	return errors.Is(err, landfall.ErrUnavailable) || errors.Is(err, landfall.ErrUnknownOutcome) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// send writes a settlement, again and again while the database is away, as long
// as the leases may live. Sending again is safe: what was written is left alone.
func (s *stint) send(ctx context.Context, settlement landfall.Settlement) (landfall.SettleResult, error) {
	end := time.Now().Add(min(s.slice.Lease, s.desk.lease))
	for pause := settlePause; ; pause = min(2*pause, longestSettlePause) {
		settled, err := s.desk.store.SettleSlice(ctx, s.slice, settlement)
		if err == nil || !waitable(err) || time.Now().Add(pause).After(end) {
			return settled, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return landfall.SettleResult{}, ctx.Err()
		}
	}
}

// count adds up what a settlement came to. Accounts that could not be created
// after all stay open, and what was claimed for them is let go.
func (s *stint) count(ctx context.Context, settlement landfall.Settlement, settled landfall.SettleResult) error {
	var closed []landfall.Claim
	for i, outcome := range settled.Created {
		switch outcome.Verdict {
		case landfall.Created, landfall.CreateRolledBack:
			s.Succeeded++
		case landfall.CreateNoSupplier:
			s.Stop = true
			closed = append(closed, settlement.Created[i].Creation.Claim)
		default:
			s.later(0) // the claim was lost
		}
	}
	for _, failed := range settlement.Failed {
		if failed.Final {
			s.Failed++
		} else {
			s.later(0)
		}
	}
	s.Later += len(settlement.Released)
	s.Refused += len(settlement.Refused)
	s.Stop = s.Stop || settled.Stop
	if len(closed) == 0 {
		return nil
	}
	_, err := s.send(ctx, landfall.Settlement{Released: closed})
	return err
}
