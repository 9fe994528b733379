package book

import (
	"context"
	"iter"
	"runtime"
)

// Map reads a file on all cores and gives what was made of its lines, a block
// at a time and in order. A few blocks wait for their turn at most, however
// long the file is.
func Map[T any](ctx context.Context, file File, read func(context.Context, Line) T) iter.Seq2[[]T, error] {
	type outcome struct {
		lines []T
		err   error
	}
	return func(yield func([]T, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		turns := make(chan chan outcome, runtime.GOMAXPROCS(0))
		go func() {
			defer close(turns)
			for block, err := range file.Blocks() {
				turn := make(chan outcome, 1)
				select {
				case turns <- turn:
				case <-ctx.Done():
					return
				}
				if err != nil {
					turn <- outcome{err: err}
					return
				}
				go func() {
					var lines []T
					for line := range block.Lines() {
						lines = append(lines, read(ctx, line))
					}
					turn <- outcome{lines: lines}
				}()
			}
		}()
		for turn := range turns {
			done := <-turn
			if !yield(done.lines, done.err) {
				return
			}
		}
	}
}
