package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// runOutcomes collects the outcomes of a settlement.
type runOutcomes struct {
	lockedSlice
	outcomes, failures sqlset.Rows
	counts             map[string]int64
}

// newRunOutcomes returns an empty runOutcomes for a slice.
func newRunOutcomes(found lockedSlice) *runOutcomes {
	return &runOutcomes{
		lockedSlice: found, outcomes: sqlset.Rows{Table: outcomeTable}, failures: sqlset.Rows{Table: runFailureTable}, counts: map[string]int64{},
	}
}

// add records the outcome of a member.
func (t *runOutcomes) add(ordinal int, outcome string) {
	t.outcomes.Add(t.run, int64(ordinal), outcome)
	t.counts[outcome]++
}

// outcomeTable sets the outcomes of members, once: a settlement that is sent
// again finds them and adds nothing. Every row must change.
var outcomeTable = mustChangeAll(sqlset.NewChange(`UPDATE run_member SET outcome = w.outcome FROM {rows}
	WHERE run_member.run_id = w.run AND run_member.ordinal = w.ordinal AND run_member.outcome IS NULL`,
	"run bigint", "ordinal bigint", "outcome text"))

// runFailureTable stores failures with the run. The failures of the accounts
// themselves are removed once the accounts make progress.
var runFailureTable = newTable("run_failure", "run_id bigint", "external text", "at bigint", "failure json")

// saveOutcomes stores the outcomes, adds them to the sums of the slice, and
// renews its lease. A slice that is done has no holder.
func (t *tx) saveOutcomes(ctx context.Context, slice landfall.RunSlice, tally *runOutcomes) error {
	if err := t.write(ctx, &tally.failures, &tally.outcomes); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE run_slice SET succeeded = succeeded + $3, failed = failed + $4, refused = refused + $5,
			done = (succeeded + failed + refused + $6 = size),
			token = CASE WHEN succeeded + failed + refused + $6 < size THEN token END,
			until = CASE WHEN succeeded + failed + refused + $6 < size THEN {now} + $7 END
		WHERE run_id = $1 AND slice = $2`,
		tally.run, int64(slice.Number), tally.counts["succeeded"], tally.counts["failed"], tally.counts["refused"],
		tally.counts["succeeded"]+tally.counts["failed"]+tally.counts["refused"], slice.Lease.Microseconds())
	return err
}
