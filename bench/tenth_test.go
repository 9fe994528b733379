package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// startCounting starts a program that counts for ever.
func startCounting(t *testing.T) *paced {
	command := exec.CommandContext(t.Context(), "sh", "-c", "while :; do echo; done")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var lines atomic.Int64
	go func() {
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines.Add(1)
		}
	}()
	return &paced{
		service: &service{command: command}, every: time.Millisecond,
		far: func(ctx context.Context) (int64, error) { return lines.Load(), ctx.Err() },
	}
}

// stands waits until a program is suspended.
func (s *paced) stands(t *testing.T) bool {
	for range 3000 {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(s.command.Process.Pid) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), ") T ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestOneStandsStillWhileTheOtherIsTimed(t *testing.T) {
	old, young := startCounting(t), startCounting(t)
	defer old.stop()
	defer young.stop()
	for one, other := range map[*paced]*paced{old: young, young: old} {
		far := one.far
		one.far = func(ctx context.Context) (int64, error) {
			// It is not suspended before its first turn, because it has nothing
			// to do.
			if other.goal > 0 && !other.stands(t) {
				return 0, errors.New("both go on")
			}
			return far(ctx)
		}
	}
	const total = 100_000
	ratio, last, first, err := tenths(t.Context(), old, young, total, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if ratio <= 0 || last.rate <= 0 || first.rate <= 0 {
		t.Errorf("found a ratio of %g, %g at the end and %g at the beginning", ratio, last.rate, first.rate)
	}
	if old.goal != 99*total/100 || young.goal != 11*total/100 {
		t.Errorf("the old one went to %d and the young one to %d", old.goal, young.goal)
	}
	if err := old.finish(t.Context(), total); err != nil {
		t.Fatal(err)
	}
	if done, _ := old.far(t.Context()); done < total {
		t.Errorf("it finished with %d of %d", done, total)
	}
}
