package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/store/sqlset"
)

// countTexts contains the queries that count what accounts really consist of,
// from their rows alone: the ledger and the child tables, never the stored
// counters. Each returns numbers by supplier and currency.
type countTexts struct {
	children [landfall.AtBalance]string
	entries  string
	waiting  string
}

// newCountTexts builds the queries for the processes p that the condition some
// selects.
func newCountTexts(some string) *countTexts {
	from := ` FROM process p JOIN account a ON a.id = p.id`
	texts := &countTexts{
		// The sum of many accounts may overflow a database integer, so money is
		// summed in two parts.
		entries: `SELECT p.supplier_id, a.currency, l.kind, l.type, count(*),
				CAST(sum(l.signed / 1000000) AS BIGINT), CAST(sum(l.signed % 1000000) AS BIGINT)` + from + `
			JOIN ledger_entry l ON l.account_id = a.id WHERE ` + some + ` GROUP BY p.supplier_id, a.currency, l.kind, l.type`,
		waiting: `SELECT p.supplier_id, p.revision, p.failed_at IS NOT NULL, p.skip_reason IS NOT NULL, p.figures
			FROM process p WHERE p.account_number IS NULL AND ` + some,
	}
	for at, table := range [landfall.AtBalance]string{
		landfall.AtCustomers: "customer", landfall.AtSupplyPoints: "supply_point", landfall.AtNotes: "note",
		landfall.AtStatements: "historical_statement", landfall.AtInstructions: "instruction",
	} {
		join := ""
		if table != "" {
			join = ` JOIN ` + table + ` c ON c.account_id = a.id`
		}
		texts.children[at] = `SELECT p.supplier_id, a.currency, '', '', count(*), 0, 0` + from + join +
			` WHERE ` + some + ` GROUP BY p.supplier_id, a.currency`
	}
	return texts
}

// moneySplit is the factor by which sums of money are split in two.
const moneySplit = 1_000_000

var (
	// ofSupplier counts the processes of one supplier after one id, up to
	// another.
	ofSupplier = newCountTexts(`p.id > $1 AND p.id <= $2 AND p.supplier_id = $3`)
	// listedCounts counts the processes in a list, in the form that each
	// database takes a list.
	listedCounts = map[string]*countTexts{
		sqlset.AmongArray: newCountTexts(`p.id` + sqlset.AmongArray), sqlset.AmongList: newCountTexts(`p.id` + sqlset.AmongList),
	}
)

// recountBatch is how many processes one statement counts, so that no statement
// takes long.
const recountBatch = 20_000

// Recount counts everything of a supplier from its rows.
func (v *view) Recount(ctx context.Context, code string) (landfall.Tallies, error) {
	var last int64
	supplier, now, err := v.supplierNow(ctx, code)
	if err != nil {
		return landfall.Tallies{}, err
	}
	err = v.one(ctx, `SELECT coalesce(max(id), 0) FROM process`, nil, []any{&last})
	found := recount{supplier: &landfall.Tallies{At: moment(now)}}
	// Use ranges of ids instead of pages: each statement knows where it begins
	// without the one before it, and ids of other suppliers cost next to
	// nothing.
	for after := int64(0); err == nil && after < last; after += recountBatch {
		if err = ofSupplier.created(ctx, v, found, after, after+recountBatch, supplier); err == nil {
			err = ofSupplier.stillWaiting(ctx, v, found, after, after+recountBatch, supplier)
		}
		if err == nil {
			err = v.countDelivered(ctx, found, after, after+recountBatch, supplier)
		}
	}
	if err != nil {
		return landfall.Tallies{}, err
	}
	deviations, err := v.query(ctx, `SELECT figures FROM deviation WHERE supplier_id = $1`, supplier)
	if err != nil {
		return landfall.Tallies{}, err
	}
	defer deviations.Close()
	for deviations.Next() {
		var figures landfall.Figures
		if err := deviations.Scan(figuresInto{&figures}); err != nil {
			return landfall.Tallies{}, v.fail(err)
		}
		found.of(supplier, deviationStatus(figures), figures.Currency).Add(figures)
	}
	if err := v.fail(deviations.Err()); err != nil {
		return landfall.Tallies{}, err
	}
	_ = deviations.Close()
	found[supplier].Refused, err = v.refusedAlone(ctx, supplier)
	return *found[supplier], err
}

// countDelivered counts what targets have received.
func (v *view) countDelivered(ctx context.Context, into recount, args ...any) error {
	rows, err := v.query(ctx, `SELECT d.supplier_id, d.figures FROM target_delivery d
		WHERE d.account_id > $1 AND d.account_id <= $2 AND d.supplier_id = $3 AND d.state = 'delivered'`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var supplier int64
		var figures landfall.Figures
		if err := rows.Scan(&supplier, figuresInto{&figures}); err != nil {
			return v.fail(err)
		}
		into.of(supplier, landfall.StatusDelivered, figures.Currency).Add(figures)
	}
	return v.fail(rows.Err())
}

// recount contains the totals of each supplier, counted from all rows.
type recount map[int64]*landfall.Tallies

// of returns the sums for a supplier's status and currency.
func (r recount) of(supplier int64, status landfall.AccountStatus, currency string) *landfall.Sums {
	if r[supplier] == nil {
		r[supplier] = &landfall.Tallies{}
	}
	return r[supplier].Of(status, currency)
}

// entriesCounted is one row of a count.
type entriesCounted struct {
	supplier  int64
	currency  string
	kind      landfall.EntryKind
	typ       landfall.TransactionType
	count     int64
	high, low int64
}

// readCount also reads counts of child rows, which have neither a type nor an
// amount.
func readCount(scan scanner, c *entriesCounted) error {
	return scan(&c.supplier, &c.currency, &c.kind, &c.typ, &c.count, &c.high, &c.low)
}

// created counts accounts.
func (c *countTexts) created(ctx context.Context, v *view, into recount, args ...any) error {
	for at, text := range c.children {
		counts, err := collect(ctx, v.txSession, readCount, text, args...)
		if err != nil {
			return err
		}
		for _, one := range counts {
			sums := into.of(one.supplier, landfall.StatusCreated, one.currency)
			sums[at] = sums[at].Plus(money.TotalOf(one.count))
		}
	}
	entries, err := collect(ctx, v.txSession, readCount, c.entries, args...)
	for _, one := range entries {
		one.enter(into.of(one.supplier, landfall.StatusCreated, one.currency))
	}
	return err
}

// enter counts entries of one kind and type in the same way as Figures.Enter.
func (c *entriesCounted) enter(sums *landfall.Sums) {
	signed := money.TotalOf(c.high).Times(moneySplit).Plus(money.TotalOf(c.low))
	sums[landfall.AtBalance] = sums[landfall.AtBalance].Plus(signed)
	if c.kind != landfall.TransactionEntry {
		return
	}
	for i, typ := range landfall.TransactionTypes {
		if typ == c.typ {
			sign := landfall.Transaction{Type: typ, Amount: 1}.Signed()
			count := landfall.AtTransactions + 2*i
			sums[count] = sums[count].Plus(money.TotalOf(c.count))
			sums[count+1] = sums[count+1].Plus(signed.Times(int64(sign)))
		}
	}
}

// stillWaiting counts processes without an account.
func (c *countTexts) stillWaiting(ctx context.Context, v *view, into recount, args ...any) error {
	rows, err := v.query(ctx, c.waiting, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var supplier, revision int64
		var failed, skipped bool
		var figures landfall.Figures
		if err := rows.Scan(&supplier, &revision, &failed, &skipped, figuresInto{&figures}); err != nil {
			return v.fail(err)
		}
		status := waitingStatus(failed)
		switch {
		case skipped && revision == 0:
			status, figures.Accounts = landfall.StatusUnstaged, 1
		case skipped:
			status = landfall.StatusSkipped
		}
		into.of(supplier, status, figures.Currency).Add(figures)
	}
	return v.fail(rows.Err())
}
