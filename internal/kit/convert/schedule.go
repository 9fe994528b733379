package convert

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// readAtOnce is how many tables are read at once: while one is ending, the next keeps all cores
// busy.
const readAtOnce = 2

// convert reads the tables in parallel. The rows of a table are joined as soon as everything that
// belongs to them was read. aside is the folder for what is kept beside the book.
func (x *conversion) convert(ctx context.Context, aside string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := make([]chan struct{}, len(x.tables))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var tables sync.WaitGroup
	reading := make(chan struct{}, readAtOnce)
	for _, t := range x.readOrder() {
		// Waiting here keeps the order.
		reading <- struct{}{}
		tables.Go(func() {
			defer close(done[t.number])
			if err := x.scan(ctx, t); err != nil {
				stop(err) // the first error counts
			}
			// Released before waiting for other tables, which may still need to be read.
			<-reading
			for _, holder := range t.holders {
				<-done[holder.table.number]
			}
			if err := x.joinTable(ctx, t); err != nil {
				stop(err)
			}
		})
	}
	// The last joins leave a core free.
	if err := x.writeUnused(ctx, aside); err != nil {
		stop(err)
	}
	tables.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return x.writeFiles(ctx)
}

// readOrder returns the tables in the order of reading: inner tables before outer ones, tables
// without joins last. A join uses one core, so long ones start early.
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

// totalBytes is the size of a table and of all tables below it.
func (t *sourceTable) totalBytes() int64 {
	all := t.bytes
	for _, inside := range t.below {
		all += inside.bytes
	}
	return all
}

// joinTable joins the rows of a table with those of others.
func (x *conversion) joinTable(ctx context.Context, t *sourceTable) error {
	if len(t.groups) == 0 {
		return nil
	}
	// A join uses a core, like a block.
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
