package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"math"
	"time"

	"landfall"
)

// The rows of each list have an index of their own, whose condition must be
// spelled as the schema spells it.
const (
	pending      = `p.account_number IS NULL AND p.skip_reason IS NULL`
	imported     = `p.account_number IS NOT NULL`
	whereSkipped = `p.skip_reason IS NOT NULL`
)

// lists holds one text per filter. The order is that of the index, so that a
// batch costs what it has rows, however many others there are.
var lists = map[landfall.ProcessFilter]string{
	landfall.AllProcesses: `SELECT * FROM (` + listOf(pending) + `) AS pending UNION ALL
		SELECT * FROM (` + listOf(imported) + `) AS imported ORDER BY first_staged_at, external LIMIT $4`,
	landfall.PendingProcesses:  listOf(pending),
	landfall.ImportedProcesses: listOf(imported),
	landfall.SkippedProcesses:  listOf(whereSkipped),
}

// figuredList is the list of the imported ones with what their accounts come
// to; the accounts keep count themselves, so it costs one look at each.
var figuredList = `SELECT p.*, a.currency, a.balance, a.ledger_length, a.note_count, a.statement_count
	FROM (` + listed(imported, `p.id, `) + `) AS p JOIN account a ON a.id = p.id ORDER BY p.first_staged_at, p.external`

// listOf is a page of the list under a condition.
func listOf(condition string) string { return listed(condition, ``) }

// listed orders by what never changes: pages do not shift while accounts get on. What
// was staged after the list began is left out, or a reader might never end.
func listed(condition, also string) string {
	return `SELECT ` + also + `p.external, p.first_staged_at, p.account_number, p.account_created_at FROM process p
		WHERE p.supplier_id = $1 AND (p.first_staged_at, p.external) > ($2, $3) AND p.first_staged_at <= $5 AND ` + condition + `
		ORDER BY p.first_staged_at, p.external LIMIT $4`
}

// listBatch is how many rows are read at a time. Nobody's transaction stays
// open while a reader takes his time over them.
const listBatch = 1000

// List streams a supplier's processes in the order of first staging.
func (s *Store) List(ctx context.Context, query landfall.ProcessQuery) iter.Seq2[landfall.ProcessEntry, error] {
	from := landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(math.MinInt64)}
	if query.After != nil {
		from = *query.After
	}
	// What is staged after the list began is not part of it, or a list read
	// slowly might never end.
	until := int64(math.MaxInt64)
	return inBatches(query.Limit, func(limit int) ([]landfall.ProcessEntry, error) {
		var rows []landfall.ProcessEntry
		err := s.stream(ctx, func(v *view) error {
			supplier, now, err := v.supplierNow(ctx, query.Supplier)
			if err != nil {
				return absentIsNone(err)
			}
			until = min(until, now)
			if query.Figures && query.Filter == landfall.ImportedProcesses {
				rows, err = v.figured(ctx, supplier, from, limit, until)
			} else {
				rows, err = v.list(ctx, query.Filter, supplier, from, limit, until)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			last := rows[len(rows)-1]
			from = landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External}
		}
		return rows, nil
	})
}

// inBatches streams what next reads, a batch at a time. Each batch is a short
// transaction of its own; next starts behind the batch before. From the second on
// the next one is read while one is being taken, so that neither the database nor
// whoever takes the rows waits for the other.
func inBatches[T any](limit int, next func(limit int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left := limit
		read := func() (batch readBatch[T]) {
			batch.wanted = listBatch
			if limit > 0 {
				batch.wanted = min(left, listBatch)
			}
			left -= batch.wanted
			batch.rows, batch.err = next(batch.wanted)
			return batch
		}
		for batch, ahead := read(), false; ; ahead = true {
			if batch.err != nil {
				var none T
				yield(none, batch.err)
				return
			}
			more := len(batch.rows) == batch.wanted && (limit == 0 || left > 0)
			following := read
			// Who has taken a whole batch wants more; a page that shows a few rows
			// of the first one does not, and would wait for what nobody reads.
			if more && ahead {
				following = meanwhile(read)
			}
			taken := batch.handOver(yield)
			if more && (taken || ahead) {
				batch = following() // also when nobody wants it: it must not outlive the list
			}
			if !more || !taken {
				return
			}
		}
	}
}

// readBatch is what one short transaction gave of a list.
type readBatch[T any] struct {
	wanted int
	rows   []T
	err    error
}

// handOver gives the rows away, and reports whether all were taken.
func (b readBatch[T]) handOver(yield func(T, error) bool) bool {
	for _, row := range b.rows {
		if !yield(row, nil) {
			return false
		}
	}
	return true
}

// meanwhile does some work on the side; what it gives waits for it. A panic
// there becomes one here, where somebody catches it.
func meanwhile[T any](work func() T) (result func() T) {
	var given T
	var fault any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { fault = recover() }()
		given = work()
	}()
	return func() T {
		<-done
		if fault != nil {
			panic(fault)
		}
		return given
	}
}

// list reads one page from the small rows alone; documents are elsewhere.
func (v *view) list(
	ctx context.Context, filter landfall.ProcessFilter, supplier int64, from landfall.ProcessCursor, limit int, until int64,
) ([]landfall.ProcessEntry, error) {
	var number sql.NullString
	return collect(ctx, v.txSession, func(scan scanner, entry *landfall.ProcessEntry) error {
		err := scan(&entry.External, instantInto{&entry.FirstStagedAt}, &number, instantInto{&entry.AccountCreatedAt})
		entry.AccountNumber = number.String
		return err
	}, lists[filter], supplier, from.FirstStagedAt.UnixMicro(), from.External, int64(limit), until)
}

// figured lists imported processes with what their accounts come to.
func (v *view) figured(
	ctx context.Context, supplier int64, from landfall.ProcessCursor, limit int, until int64,
) ([]landfall.ProcessEntry, error) {
	return collect(ctx, v.txSession, func(scan scanner, entry *landfall.ProcessEntry) error {
		var id int64
		figures := &landfall.AccountFigures{}
		err := scan(&id, &entry.External, instantInto{&entry.FirstStagedAt}, &entry.AccountNumber, instantInto{&entry.AccountCreatedAt},
			&figures.Currency, &figures.Balance, &figures.LedgerEntries, &figures.Notes, &figures.Statements)
		figures.CreatedAt, entry.Figures = entry.AccountCreatedAt, figures
		return err
	}, figuredList, supplier, from.FirstStagedAt.UnixMicro(), from.External, int64(limit), until)
}

// supplierNow gives a supplier's key in the tables, and the time.
func (v *view) supplierNow(ctx context.Context, code string) (id, now int64, err error) {
	err = v.one(ctx, `SELECT id, {now} FROM supplier WHERE code = $1`, []any{code}, []any{&id, &now})
	return id, now, err
}

// absentIsNone makes an empty list of what a supplier has who is not there.
func absentIsNone(err error) error {
	if errors.Is(err, landfall.ErrNotFound) {
		return nil
	}
	return err
}
