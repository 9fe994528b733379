package book

import (
	"context"
	"iter"
	"runtime"
)

// InOrder runs jobs on all cores and yields their results in order. Only a few results wait at a
// time, however many jobs there are.
func InOrder[T any](ctx context.Context, jobs iter.Seq[func() T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		results := make(chan chan T, runtime.GOMAXPROCS(0))
		go func() {
			defer close(results)
			for job := range jobs {
				// Buffered, so that a job ends even if nobody takes its result.
				result := make(chan T, 1)
				select {
				case results <- result:
				case <-ctx.Done():
					return
				}
				go func() { result <- job() }()
			}
		}()
		for result := range results {
			if !yield(<-result) {
				return
			}
		}
	}
}

// Map reads a file on all cores and yields the results of its lines in order, a block at a time.
// Only a few blocks are in memory.
func Map[T any](ctx context.Context, file File, read func(context.Context, Line) T) iter.Seq2[[]T, error] {
	type outcome struct {
		lines []T
		err   error
	}
	return func(yield func([]T, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for done := range InOrder(ctx, func(yield func(func() outcome) bool) {
			for block, err := range file.Blocks() {
				if !yield(func() outcome {
					var lines []T
					for line := range block.Lines() {
						lines = append(lines, read(ctx, line))
					}
					return outcome{lines, err}
				}) {
					return
				}
			}
		}) {
			if !yield(done.lines, done.err) {
				return
			}
		}
	}
}
