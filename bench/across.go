package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// acrossRules are the rules that compare an account with all others.
var acrossRules = []string{
	"supply_point_on_another_account", "payment_instruction_on_another_account",
	"reference_on_another_account", "external_account_number_under_another_supplier",
}

// measureAcross compares creating accounts while the rules across accounts are
// errors with creating them while the rules are off.
func measureAcross(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	numbers := &counter{}
	create := func(severity string) (sample, error) {
		words := []string{"supplier", "set", supplier, "--database", s.database}
		for _, rule := range acrossRules {
			words = append(words, "--rule", rule+"="+severity)
		}
		if _, err := m.tell(ctx, words...); err != nil {
			return sample{}, err
		}
		first := numbers.last.Load()
		staging := s.load(stagePath, numbers.distinctAccount)
		staging.most = creations
		if _, err := staging.run(ctx, time.Minute); err != nil {
			return sample{}, fmt.Errorf("staging: %w", err)
		}
		return s.processing(first, creations, false).run(ctx, time.Minute)
	}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) { return create("error") },
		func() (sample, error) { return create("off") })
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("accounts without the rules")}, err
}

// distinctAccount is account with supply points that no other account has.
func (c *counter) distinctAccount(_ int64, dst []byte) []byte {
	n := c.last.Add(1)
	account := appendAccount(n, nil)
	account = bytes.Replace(account, []byte("1200023305967"), fmt.Appendf(nil, "%013d", n), 1)
	account = bytes.Replace(account, []byte("7501234509"), fmt.Appendf(nil, "%010d", n), 1)
	return append(dst, account...)
}
