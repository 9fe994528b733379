package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// Sums are appended and compacted later. If every writer updated the same row,
// all of them would wait for each other.
var (
	tallyTable     = newTable("tally", "supplier_id bigint", "standing text", "figures text")
	deviationTable = newTable("deviation", "supplier_id bigint", "external text", "figures text")
)

// tallies collects how one transaction changes the totals of suppliers. In the
// end, a whole batch of one supplier becomes a row or two.
type tallies struct {
	changes    []tallyChange
	deviations sqlset.Rows
}

// tallyChange is one addition to a supplier's sums for a status.
type tallyChange struct {
	supplier int64
	status   landfall.AccountStatus
	figures  landfall.Figures
}

func (t *tallies) add(supplier int64, status landfall.AccountStatus, figures landfall.Figures) {
	for i := range t.changes {
		known := &t.changes[i]
		if known.supplier == supplier && known.status == status && known.figures.Currency == figures.Currency &&
			known.figures.Add(figures) {
			return
		}
	}
	t.changes = append(t.changes, tallyChange{supplier, status, figures})
}

func (t *tallies) subtract(supplier int64, status landfall.AccountStatus, figures landfall.Figures) {
	t.add(supplier, status, figures.Negated())
}

// move moves figures from one status to another.
func (t *tallies) move(supplier int64, from, to landfall.AccountStatus, figures landfall.Figures) {
	if from != to {
		t.subtract(supplier, from, figures)
		t.add(supplier, to, figures)
	}
}

// deviate records in which figures an account differs from what was sent for
// it.
func (t *tallies) deviate(supplier int64, external string, sent, has landfall.Figures) {
	for _, figures := range sent.Differences(has) {
		t.add(supplier, deviationStatus(figures), figures)
		t.deviations.Table = deviationTable
		t.deviations.Add(supplier, external, figuresText(figures))
	}
}

// deviationStatus returns the status under which a deviation counts. Notes that
// were not sent, and nothing else, are the service's own.
func deviationStatus(figures landfall.Figures) landfall.AccountStatus {
	own := figures.Notes < 0
	if figures.Notes = 0; own && figures.Empty() {
		return landfall.StatusOwnNotes
	}
	return landfall.StatusDeviating
}

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

func (t *tx) tally(ctx context.Context, changes *tallies) error {
	sums, deviations := changes.rows()
	return t.write(ctx, sums, deviations)
}

// waitingStatus returns the status of a staged process.
func waitingStatus(failed bool) landfall.AccountStatus {
	if failed {
		return landfall.StatusFailed
	}
	return landfall.StatusPending
}

// Tallies returns the totals of a supplier's accounts.
func (v *view) Tallies(ctx context.Context, code string) (landfall.Tallies, error) {
	var found landfall.Tallies
	var supplier int64
	if err := v.one(ctx, `SELECT id, recounts, {now} FROM supplier WHERE code = $1`, []any{code},
		[]any{&supplier, &found.Recounts, instantInto{&found.At}}); err != nil {
		return found, err
	}
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

// refusedAlone counts the accounts that have a refusal but were never staged. A
// staged account may be refused at any moment, so this cannot be kept as a sum.
// OFFSET 0 makes PostgreSQL look up each account separately. Otherwise it would
// read all accounts to join a few refusals.
func (v *view) refusedAlone(ctx context.Context, supplier int64) (count int64, err error) {
	err = v.one(ctx, `SELECT count(*) FROM refusal r WHERE r.supplier_id = $1 AND NOT EXISTS
		(SELECT 1 FROM process p WHERE p.supplier_id = r.supplier_id AND p.external = r.external LIMIT 1 OFFSET 0)`,
		[]any{supplier}, []any{&count})
	return count, err
}

// readTally reads one sum of a supplier.
func readTally(scan scanner, row *tallyChange) error {
	return scan(&row.status, figuresInto{&row.figures})
}

// DeviatingAccounts returns how many accounts differ from what was sent for
// them.
func (v *view) DeviatingAccounts(ctx context.Context, supplier string) (count int64, err error) {
	err = v.one(ctx, `SELECT count(*) FROM (
			SELECT DISTINCT d.external FROM deviation d JOIN supplier s ON s.id = d.supplier_id WHERE s.code = $1 LIMIT 10000
		) AS known`, []any{supplier}, []any{&count})
	return count, err
}
