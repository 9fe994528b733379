package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// Sums are appended and folded later: a row that every writer adds to would make all
// of them wait for each other.
var (
	tallyTable     = newTable("tally", "supplier_id bigint", "standing text", "figures text")
	deviationTable = newTable("deviation", "supplier_id bigint", "external text", "figures text")
)

// tallies gathers how one transaction changes what suppliers' accounts come to.
// A whole batch of one supplier is a row or two in the end.
type tallies struct {
	changes    []tallyChange
	deviations sqlset.Rows
}

// tallyChange is one addition to the sums of a supplier's standing.
type tallyChange struct {
	supplier int64
	status   landfall.AccountStatus
	figures  landfall.Figures
}

// add counts figures under a standing.
func (t *tallies) add(supplier int64, standing landfall.AccountStatus, figures landfall.Figures) {
	for i := range t.changes {
		known := &t.changes[i]
		if known.supplier == supplier && known.status == standing && known.figures.Currency == figures.Currency &&
			known.figures.Add(figures) {
			return
		}
	}
	t.changes = append(t.changes, tallyChange{supplier, standing, figures})
}

// subtract counts figures out of a standing.
func (t *tallies) subtract(supplier int64, standing landfall.AccountStatus, figures landfall.Figures) {
	t.add(supplier, standing, figures.Negated())
}

// move counts figures under another standing than before.
func (t *tallies) move(supplier int64, from, to landfall.AccountStatus, figures landfall.Figures) {
	if from != to {
		t.subtract(supplier, from, figures)
		t.add(supplier, to, figures)
	}
}

// deviate keeps in which figures an account is not what was sent for it.
func (t *tallies) deviate(supplier int64, external string, sent, has landfall.Figures) {
	for _, figures := range sent.Differences(has) {
		t.add(supplier, landfall.StatusDeviating, figures)
		t.deviations.Table = deviationTable
		t.deviations.Add(supplier, external, figuresText(figures))
	}
}

// rows gives the rows that say all this.
func (t *tallies) rows() (sums, deviations *sqlset.Rows) {
	sums = &sqlset.Rows{Table: tallyTable}
	for i := range t.changes {
		if change := &t.changes[i]; !change.figures.Empty() {
			sums.Add(change.supplier, string(change.status), figuresText(change.figures))
		}
	}
	if t.deviations.Table == nil {
		t.deviations.Table = deviationTable
	}
	return sums, &t.deviations
}

// tally writes down what changed.
func (t *tx) tally(ctx context.Context, changes *tallies) error {
	sums, deviations := changes.rows()
	return t.write(ctx, sums, deviations)
}

// waitingStatus is the standing of a process that is staged.
func waitingStatus(failed bool) landfall.AccountStatus {
	if failed {
		return landfall.StatusFailed
	}
	return landfall.StatusPending
}

// Tallies adds up what a supplier's accounts come to.
func (v *view) Tallies(ctx context.Context, code string) (landfall.Tallies, error) {
	var found landfall.Tallies
	supplier, now, err := v.supplierNow(ctx, code)
	if err != nil {
		return found, err
	}
	found.At = moment(now)
	rows, err := collect(ctx, v.txSession, readTally, `SELECT standing, figures FROM tally WHERE supplier_id = $1`, supplier)
	if err != nil {
		return found, err
	}
	for _, row := range rows {
		found.Of(row.status, row.figures.Currency).Add(row.figures)
	}
	found.Refused, err = v.refusedAlone(ctx, supplier)
	return found, err
}

// refusedAlone counts the accounts known by a refusal alone. A refusal may come
// to stand beside a staged account at any moment, so they are counted as they
// are. Each is looked up by itself, which the offset that skips nothing sees to:
// PostgreSQL would read all accounts to join a few refusals.
func (v *view) refusedAlone(ctx context.Context, supplier int64) (count int64, err error) {
	err = v.one(ctx, `SELECT count(*) FROM refusal r WHERE r.supplier_id = $1 AND NOT EXISTS
		(SELECT 1 FROM process p WHERE p.supplier_id = r.supplier_id AND p.external = r.external LIMIT 1 OFFSET 0)`,
		[]any{supplier}, []any{&count})
	return count, err
}

// readTally reads a sum of one supplier.
func readTally(scan scanner, row *tallyChange) error {
	return scan(&row.status, figuresInto{&row.figures})
}
