package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// besideRun is the number of accounts in the run beside single calls: more than
// it can create meanwhile.
const besideRun = 60_000

// measureBesideRun returns by which factor the median of single calls grows
// while a run creates accounts of the same organisation.
func measureBesideRun(ctx context.Context, p plan, _ *harness, s *service) (measured, error) {
	numbers := &counter{}
	if _, err := s.stream(ctx, numbers, time.Hour, besideRun); err != nil {
		return measured{}, err
	}
	single := s.load(stagePath, numbers.account)
	single.connections = 1
	idle, err := single.run(ctx, p.length)
	if err != nil {
		return measured{}, err
	}
	run, err := s.startRun(ctx)
	if err != nil {
		return measured{}, err
	}
	if run, err = s.inFullSwing(ctx, run.ID); err != nil {
		return measured{}, err
	}
	busy, err := single.run(ctx, p.length)
	if err != nil {
		return measured{}, err
	}
	// If the run had ended meanwhile, the ratio would be wrong.
	after, err := s.ask(ctx, http.MethodGet, runsPath+run.ID+"/", "")
	if err == nil && after.State != "RUNNING" {
		err = errors.New("the run was over before the single calls were")
	}
	return measured{
		ratio: busy.p50.Seconds() / idle.p50.Seconds(), atMost: true,
		ours: fmt.Sprintf("%.2f ms during %.0f accounts/s", 1000*busy.p50.Seconds(), float64(after.Succeeded-run.Succeeded)/p.length.Seconds()),
		raw:  fmt.Sprintf("%.2f ms alone", 1000*idle.p50.Seconds()),
	}, err
}

// inFullSwing waits until a run has created its first thousand accounts.
func (s *service) inFullSwing(ctx context.Context, run string) (moved, error) {
	for {
		found, err := s.ask(ctx, http.MethodGet, runsPath+run+"/", "")
		if err != nil || found.Succeeded >= 1000 {
			return found, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
