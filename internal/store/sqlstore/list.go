package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"landfall"
)

// Each list has its own index. The condition must be spelled as in the schema.
const (
	pending      = `p.account_number IS NULL AND p.skip_reason IS NULL`
	imported     = `p.account_number IS NOT NULL`
	whereSkipped = `p.skip_reason IS NOT NULL`
)

// lists maps each filter to its query. The order is that of the index, so that
// the cost of a batch depends only on its number of rows.
var lists = map[landfall.ProcessFilter]string{
	landfall.AllProcesses:      listOfAll,
	landfall.PendingProcesses:  listOf(pending),
	landfall.ImportedProcesses: listOf(imported),
	landfall.SkippedProcesses:  listOf(whereSkipped),
}

// listOfAll merges the imported and the pending processes. It reads the pending ones only
// up to the end of the page of imported ones: PostgreSQL's index of the pending ones keeps
// an entry of each process that was pending once until the table is vacuumed, and every
// page would go through all that follow.
var listOfAll = mergedList(listedUntil(endOfImported, pending, ``))

// listOfMixed is used instead after a page with a pending process. It does not look up the
// end of the page, which costs as much as reading the imported processes. Such a page
// reads the index only up to the next pending process, so all pages together read each
// entry once.
var listOfMixed = mergedList(listOf(pending))

// mergedList returns the query for a page of the imported processes and of the pending ones
// that a query selects.
func mergedList(page string) string {
	return `SELECT * FROM (` + page + `) AS pending UNION ALL
	SELECT * FROM (` + listOf(imported) + `) AS imported ORDER BY first_staged_at, external LIMIT $4`
}

// endOfImported is the end of the page of imported processes, if it is full.
var endOfImported = `coalesce((SELECT p.first_staged_at FROM ` + listedFrom(`$5`, imported) + ` LIMIT 1 OFFSET $4 - 1), $5)`

// figuredList selects the imported processes with the counts and balances of
// their accounts. The account rows store these, so it costs one lookup each, and one
// for the deliveries.
var figuredList = `SELECT p.*, a.currency, a.balance, a.ledger_length, a.note_count, a.statement_count, ` + worstDelivery + `
	FROM (` + listed(imported, `p.id, `) + `) AS p JOIN account a ON a.id = p.id ORDER BY p.first_staged_at, p.external`

// listOf returns the query for a page of the list with a condition.
func listOf(condition string) string { return listed(condition, ``) }

// listed orders by columns that never change, so that pages do not shift while
// accounts progress. It leaves out processes that were staged after the list
// began; otherwise a reader might never finish.
func listed(condition, also string) string { return listedUntil(`$5`, condition, also) }

// listedUntil is listed for processes that were first staged until an expression.
func listedUntil(end, condition, also string) string {
	return `SELECT ` + also + `p.external, p.first_staged_at, p.account_number, p.account_created_at, p.failed_at IS NOT NULL AS failed
		FROM ` + listedFrom(end, condition) + ` LIMIT $4`
}

// listedFrom is what listedUntil selects from, in the order of the list.
func listedFrom(end, condition string) string {
	return `process p WHERE p.supplier_id = $1 AND (p.first_staged_at, p.external) > ($2, $3) AND p.first_staged_at <= ` + end + ` AND ` + condition + `
		ORDER BY p.first_staged_at, p.external`
}

// listBatch is how many rows are read at a time. No transaction stays open
// while a slow reader consumes them.
const listBatch = 1000

// List streams a supplier's processes in the order of first staging.
func (s *Store) List(ctx context.Context, query landfall.ProcessQuery) iter.Seq2[landfall.ProcessEntry, error] {
	from := landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(math.MinInt64)}
	if query.After != nil {
		from = *query.After
	}
	// Processes that are staged after the list began are not part of it;
	// otherwise a slowly read list might never end.
	until := int64(math.MaxInt64)
	text := lists[query.Filter]
	return inBatches(query.Limit, func(limit int) ([]landfall.ProcessEntry, error) {
		var rows []landfall.ProcessEntry
		err := s.stream(ctx, func(v *view) error {
			supplier, now, err := v.supplierNow(ctx, query.Supplier)
			if err != nil {
				return ignoreNotFound(err)
			}
			until = min(until, now)
			if query.Figures && query.Filter == landfall.ImportedProcesses {
				rows, err = v.listWithFigures(ctx, supplier, from, limit, until)
			} else {
				rows, err = v.list(ctx, text, supplier, from, limit, until)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			if query.Filter == landfall.AllProcesses {
				text = listOfAll
				if slices.ContainsFunc(rows, func(e landfall.ProcessEntry) bool { return e.AccountNumber == "" }) {
					text = listOfMixed
				}
			}
			last := rows[len(rows)-1]
			from = landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External}
		}
		return rows, nil
	})
}

// inBatches streams the rows that next returns, a batch at a time. Each batch
// is a short transaction of its own, and next continues after the previous
// batch. From the second batch on, the following batch is read while the
// current one is consumed, so that neither the database nor the consumer waits
// for the other.
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
			// A consumer that took a whole batch wants more. A page that shows
			// a few rows of the first batch does not, and would wait for rows
			// that it never reads.
			if more && ahead {
				following = runAsync(read)
			}
			taken := batch.yieldTo(yield)
			if more && (taken || ahead) {
				batch = following() // even if it is not wanted: the read must not outlive the list
			}
			if !more || !taken {
				return
			}
		}
	}
}

// readBatch is the result of one short transaction of a list.
type readBatch[T any] struct {
	wanted int
	rows   []T
	err    error
}

// yieldTo yields the rows and reports whether all were taken.
func (b readBatch[T]) yieldTo(yield func(T, error) bool) bool {
	for _, row := range b.rows {
		if !yield(row, nil) {
			return false
		}
	}
	return true
}

// runAsync starts work in a goroutine; result waits for it and returns its
// value. A panic in the goroutine continues in the caller of result, where it
// can be recovered.
func runAsync[T any](work func() T) (result func() T) {
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

// list reads one page. It reads only the small process rows, not the documents.
func (v *view) list(
	ctx context.Context, text string, supplier int64, from landfall.ProcessCursor, limit int, until int64,
) ([]landfall.ProcessEntry, error) {
	var number sql.NullString
	return collect(ctx, v.txSession, func(scan scanner, entry *landfall.ProcessEntry) error {
		err := scan(&entry.External, instantInto{&entry.FirstStagedAt}, &number, instantInto{&entry.AccountCreatedAt}, &entry.Failed)
		entry.AccountNumber = number.String
		return err
	}, text, supplier, from.FirstStagedAt.UnixMicro(), from.External, int64(limit), until)
}

// listWithFigures reads one page of imported processes with the counts and
// balances of their accounts.
func (v *view) listWithFigures(
	ctx context.Context, supplier int64, from landfall.ProcessCursor, limit int, until int64,
) ([]landfall.ProcessEntry, error) {
	return collect(ctx, v.txSession, func(scan scanner, entry *landfall.ProcessEntry) error {
		var id int64
		figures := &landfall.AccountFigures{}
		err := scan(&id, &entry.External, instantInto{&entry.FirstStagedAt}, &entry.AccountNumber, instantInto{&entry.AccountCreatedAt}, &entry.Failed,
			&figures.Currency, &figures.Balance, &figures.LedgerEntries, &figures.Notes, &figures.Statements, &entry.Delivery)
		figures.CreatedAt, entry.Figures = entry.AccountCreatedAt, figures
		return err
	}, figuredList, supplier, from.FirstStagedAt.UnixMicro(), from.External, int64(limit), until)
}

// supplierNow returns a supplier's id and the database's time.
func (v *view) supplierNow(ctx context.Context, code string) (id, now int64, err error) {
	err = v.one(ctx, `SELECT id, {now} FROM supplier WHERE code = $1`, []any{code}, []any{&id, &now})
	return id, now, err
}

// ignoreNotFound ignores ErrNotFound, so that a supplier that does not exist has
// an empty list.
func ignoreNotFound(err error) error {
	if errors.Is(err, landfall.ErrNotFound) {
		return nil
	}
	return err
}
