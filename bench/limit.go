package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// callersUnderLimit is the supplier's concurrency limit, and the number of single
// callers that it is compared with.
const callersUnderLimit = 8

// untilAlone is how long runs and bulk requests yield to single calls after the last
// one, and a little more. Without this pause, the single calls of the other arm and of
// staging would slow them down.
const untilAlone = 2500 * time.Millisecond

// inLimited is how many accounts one arm creates.
const inLimited = 2_000

// measureLimited compares creating accounts under a supplier's concurrency limit
// with as many single callers under the same limit.
func measureLimited(
	create func(*service, context.Context, *counter, int64) (sample, error),
) func(context.Context, plan, *harness, *service) (measured, error) {
	return func(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
		if _, err := m.tell(ctx, "supplier", "set", supplier, "--concurrency-limit", strconv.Itoa(callersUnderLimit), "--database", s.database); err != nil {
			return measured{}, err
		}
		numbers := &counter{}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) {
				time.Sleep(untilAlone)
				return create(s, ctx, numbers, inLimited)
			},
			func() (sample, error) {
				first := numbers.last.Load()
				if err := s.stage(ctx, numbers, inLimited); err != nil {
					return sample{}, err
				}
				callers := s.processing(first, inLimited, false)
				callers.connections = callersUnderLimit
				return callers.run(ctx, time.Minute)
			})
		return measured{ratio: ratio, ours: ours.of("accounts under the limit"), raw: raw.of("accounts by 8 callers")}, err
	}
}

// createInBulk stages accounts and returns the rate at which one bulk request
// creates them.
func (s *service) createInBulk(ctx context.Context, numbers *counter, count int64) (sample, error) {
	first := numbers.last.Load()
	if err := s.stage(ctx, numbers, count); err != nil {
		return sample{}, err
	}
	var lines []byte
	for n := first + 1; n <= first+count; n++ {
		lines = append(processBody(n, false, lines), '\n')
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+s.address+"/v1/data-import/bulk/account-import-process/process/", bytes.NewReader(lines))
	if err != nil {
		return sample{}, err
	}
	request.Header.Set("Authorization", "Token "+s.token)
	request.Header.Set("Content-Type", "application/x-ndjson")
	time.Sleep(untilAlone)
	began := time.Now()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return sample{}, err
	}
	if created := bytes.Count(text, []byte(`"status":201`)); int64(created) != count {
		return sample{}, fmt.Errorf("the bulk request created %d of %d accounts", created, count)
	}
	return sample{rate: float64(count) / time.Since(began).Seconds()}, nil
}
