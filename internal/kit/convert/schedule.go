package convert

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// readAtOnce is how many tables are read at once: while one comes to its end
// the next has blocks for the cores that are free.
const readAtOnce = 2

// convert reads the tables, a block for each core. As soon as everything that
// belongs to the rows of one has been read they meet, on a core of their own.
func (x *conversion) convert(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make([]chan struct{}, len(x.tables))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var tables sync.WaitGroup
	reading := make(chan struct{}, readAtOnce)
	for _, t := range x.readOrder() {
		// Waiting here, and not beside the others, keeps the order of urgency.
		reading <- struct{}{}
		tables.Go(func() {
			defer close(done[t.number])
			if err := x.scan(ctx, t); err != nil {
				stop(err) // the first one counts
			}
			// The place among the readers is given up before waiting for others, or
			// tables that only wait would keep the next ones from being read.
			<-reading
			for _, holder := range t.holders {
				<-done[holder.table.number]
			}
			if err := x.joinTable(ctx, t); err != nil {
				stop(err)
			}
		})
	}
	tables.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return x.writeFiles(ctx)
}

// readOrder gives the tables in the order of reading: what belongs to others
// before these, and last those that meet nobody. A meeting takes one core, so
// the long ones begin early, while there are tables to read on the others.
func (x *conversion) readOrder() (list []*sourceTable) {
	var visit func(tables []*sourceTable)
	visit = func(tables []*sourceTable) {
		for _, t := range slices.SortedStableFunc(slices.Values(tables), func(a, b *sourceTable) int { return cmp.Compare(b.totalBytes(), a.totalBytes()) }) {
			if slices.Contains(list, t) {
				continue
			}
			var inner []*sourceTable
			for _, holder := range t.holders {
				inner = append(inner, holder.table)
			}
			visit(inner)
			list = append(list, t)
		}
	}
	visit(slices.DeleteFunc(slices.Clone(x.tables), func(t *sourceTable) bool { return len(t.groups) == 0 }))
	visit(x.tables)
	return list
}

// totalBytes is how much there is of a table and of all that belongs to it.
func (t *sourceTable) totalBytes() int64 {
	all := t.bytes
	for _, inside := range t.below {
		all += inside.bytes
	}
	return all
}

// joinTable brings the rows of a table together with those of others.
func (x *conversion) joinTable(ctx context.Context, t *sourceTable) error {
	if len(t.groups) == 0 {
		return nil
	}
	// A meeting takes a core as a block does, so that no more is at work than the
	// machine has room for.
	x.cores <- struct{}{}
	defer func() { <-x.cores }()
	for stage := range t.groups {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := x.joinGroup(ctx, t, stage); err != nil {
			return err
		}
	}
	return nil
}
