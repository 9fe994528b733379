package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// measureDryRun compares dry runs with creating the same accounts. They do the
// same work and roll it back, so they should not be slower.
func measureDryRun(ctx context.Context, p plan, _ *harness, s *service) (measured, error) {
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			// Stage new accounts for each round: an account that had a dry run
			// before causes other work.
			first := numbers.last.Load()
			if err := s.stage(ctx, numbers, creations/2); err != nil {
				return sample{}, err
			}
			return s.processing(first, creations/2, true).run(ctx, time.Minute)
		},
		func() (sample, error) { return s.create(ctx, numbers, creations/2) })
	return measured{ratio: ratio, ours: ours.of("accounts rolled back"), raw: raw.of("accounts created")}, err
}

// stage stages new accounts.
func (s *service) stage(ctx context.Context, numbers *counter, count int64) error {
	staging := s.load(stagePath, numbers.account)
	staging.most = count
	if _, err := staging.run(ctx, time.Minute); err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	return nil
}

// processing processes staged accounts after a first one, each once.
func (s *service) processing(first, count int64, dryRun bool) load {
	l := s.load(processPath, func(n int64, dst []byte) []byte { return processBody(first+n, dryRun, dst) })
	l.most = count
	if dryRun {
		l.want = "400" // rolled back
	}
	return l
}

// processBody appends the request that creates an account.
func processBody(number int64, dryRun bool, dst []byte) []byte {
	dst = append(dst, `{"import_supplier_code":"`+supplier+`","operations_team_name":"Bench Team","external_account_number":"EXT-`...)
	dst = strconv.AppendInt(dst, accountOffset+number, 10)
	return append(dst, `","dry_run":`+strconv.FormatBool(dryRun)+`}`...)
}
