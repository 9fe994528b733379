package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/store/sqlset"
)

// runs reads the current state of runs. The sums are those of the slices, and
// the time of a running run includes the time until now. A long run has
// thousands of slices, so they are read once for all three sums, which are
// therefore returned as one text.
const runs = `SELECT r.number, s.code, r.team, r.dry_run, r.selection, r.sample, r.most, r.at_once, r.not_before, r.not_after,
		r.state, r.cancelling, r.reason, r.chosen, r.selected,
		(SELECT (r.purged_succeeded + coalesce(sum(l.succeeded), 0)) || ' ' || (r.purged_failed + coalesce(sum(l.failed), 0)) || ' ' ||
			(r.purged_refused + coalesce(sum(l.refused), 0)) FROM run_slice l WHERE l.run_id = r.id),
		r.worked + coalesce(clock.at - r.running_since, 0), r.created_at, r.started_at, r.ended_at, r.purged_at, clock.at,
		r.created_key_id, r.created_request_id, c.organisation, r.key_id, r.request_id, k.organisation, r.delivery, r.codes, r.listed, r.undone
	FROM run r JOIN supplier s ON s.id = r.supplier_id CROSS JOIN (SELECT {now} AS at) clock
	LEFT JOIN api_key c ON c.id = r.created_key_id LEFT JOIN api_key k ON k.id = r.key_id `

func (v *view) runs(ctx context.Context, which string, args ...any) ([]landfall.Run, error) {
	return collect(ctx, v.txSession, func(scan scanner, run *landfall.Run) error {
		p, t := &run.Plan, &run.Tally
		var worked int64
		var codes string
		err := scan(&run.ID, &p.Supplier, &p.Team, &p.DryRun, &p.Select, &p.Sample, &p.Limit, &p.Concurrency,
			instantInto{&p.NotBefore}, instantInto{&p.NotAfter}, &run.State, &run.Cancel, &run.Reason, &run.Chosen, &t.Selected,
			tallyInto{t}, &worked, instantInto{&run.CreatedAt}, instantInto{&run.StartedAt},
			instantInto{&run.EndedAt}, instantInto{&run.PurgedAt}, instantInto{&run.ReadAt},
			textInto{&run.CreatedBy.KeyID}, textInto{&run.CreatedBy.RequestID}, textInto{&run.CreatedBy.Organisation},
			textInto{&run.ActsFor.KeyID}, textInto{&run.ActsFor.RequestID}, textInto{&run.ActsFor.Organisation},
			&p.Delivery, &codes, &p.AccountCount, &run.Undone)
		run.RunningTime = time.Duration(worked) * time.Microsecond
		if err == nil {
			err = json.Unmarshal([]byte(codes), &p.Codes)
		}
		return err
	}, runs+which, args...)
}

// tallyInto reads the three sums of a run.
type tallyInto struct{ tally *landfall.RunTally }

// Scan implements sql.Scanner.
func (i tallyInto) Scan(value any) error {
	var kept string
	if err := (textInto{&kept}).Scan(value); err != nil || kept == "" {
		return err
	}
	_, err := fmt.Sscan(kept, &i.tally.Succeeded, &i.tally.Failed, &i.tally.Refused)
	return err
}

// Run returns the run with an id.
func (v *view) Run(ctx context.Context, id string) (landfall.Run, error) {
	found, err := v.runs(ctx, `WHERE r.number = $1`, id)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Runs returns the runs of a supplier, newest first.
func (v *view) Runs(ctx context.Context, query landfall.RunQuery) ([]landfall.Run, error) {
	if query.After == "" {
		return v.runs(ctx, `WHERE s.code = $1 ORDER BY r.id DESC LIMIT $2`, query.Supplier, int64(query.Limit))
	}
	return v.runs(ctx, `WHERE s.code = $1 AND r.id < (SELECT id FROM run WHERE number = $2) ORDER BY r.id DESC LIMIT $3`,
		query.Supplier, query.After, int64(query.Limit))
}

// LastRuns returns the newest run of every supplier.
func (v *view) LastRuns(ctx context.Context) ([]landfall.Run, error) {
	return v.runs(ctx, `WHERE r.id IN (SELECT max(n.id) FROM run n GROUP BY n.supplier_id) ORDER BY r.id`)
}

// writePersonalData is the condition of the index of live runs.
const whereLive = `r.state IN ('WAITING', 'RUNNING', 'PAUSED')`

// LiveRuns returns all runs that have not ended.
func (v *view) LiveRuns(ctx context.Context) ([]landfall.Run, error) {
	return v.runs(ctx, `WHERE `+whereLive+` ORDER BY r.id`)
}

// Run locks the run with an id and returns it.
func (t *tx) Run(ctx context.Context, id string) (landfall.Run, error) {
	if err := t.lock(ctx, `SELECT 1 FROM run held WHERE held.number = $1 {for_update}`, id); err != nil {
		return landfall.Run{}, err
	}
	return t.view.Run(ctx, id)
}

// CreateRun stores a new run. A unique index allows a supplier only one live
// run, so a concurrent second call waits for the first and then finds its run.
func (t *tx) CreateRun(ctx context.Context, run landfall.Run) (landfall.Run, error) {
	number, err := landfall.NewRunID(rand.Reader)
	if err != nil {
		return landfall.Run{}, err
	}
	p := run.Plan
	supplier, _, err := t.supplierNow(ctx, p.Supplier)
	if err != nil {
		return landfall.Run{}, err
	}
	codes, err := codesText(p.Codes)
	if err != nil {
		return landfall.Run{}, err
	}
	// The live run may end between the two statements. Then another try
	// succeeds.
	for range 3 {
		count, err := t.exec(ctx, `INSERT INTO run (number, supplier_id, team, dry_run, selection, sample, most, at_once,
				not_before, not_after, state, cancelling, reason, created_at, worked, cursor_at, cursor_external, seen, selected,
				chosen, created_key_id, created_request_id, key_id, request_id, delivery, codes, listed)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'WAITING', $11, '', {now}, 0, $12, '', 0, 0, $11, $13, $14, $13, $14, $15, $16, $17)
			ON CONFLICT (supplier_id) WHERE state IN ('WAITING', 'RUNNING', 'PAUSED') DO NOTHING`,
			number, supplier, p.Team, p.DryRun, string(p.Select), int64(p.Sample), int64(p.Limit), int64(p.Concurrency),
			instantArg(p.NotBefore), instantArg(p.NotAfter), false, minInstant, textArg(run.CreatedBy.KeyID), textArg(run.CreatedBy.RequestID),
			p.Delivery, codes, int64(len(p.Accounts)))
		if err != nil {
			return landfall.Run{}, err
		}
		if count > 0 {
			if err := t.listAccounts(ctx, number, p.Accounts); err != nil {
				return landfall.Run{}, err
			}
			return t.view.Run(ctx, number)
		}
		found, err := t.runs(ctx, `WHERE r.supplier_id = $1 AND `+whereLive, supplier)
		if err != nil || len(found) > 0 {
			run, err = firstOf(found, err, landfall.ErrNotFound)
			return run, errors.Join(err, landfall.ErrExists)
		}
	}
	return landfall.Run{}, landfall.ErrUnavailable
}

var listedTable = newTable("run_listed", "run_id bigint", "external text").SkipExisting("run_id, external")

// listAccounts stores the accounts that a run may choose from.
func (t *tx) listAccounts(ctx context.Context, number string, externals []string) error {
	if len(externals) == 0 {
		return nil
	}
	run, err := t.runKey(ctx, number)
	if err != nil {
		return err
	}
	rows := sqlset.Rows{Table: listedTable}
	rows.Grow(len(externals))
	for _, external := range externals {
		rows.Add(run, external)
	}
	return t.write(ctx, &rows)
}

// codesText encodes the codes of a selection.
func codesText(codes []string) (string, error) {
	if len(codes) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(codes)
	return string(text), err
}

// minInstant is earlier than every stored instant.
const minInstant = -1 << 62

// SaveRun stores what the run's own methods changed. A run starts at the time
// when choosing its accounts began.
func (t *tx) SaveRun(ctx context.Context, run landfall.Run) error {
	// A run that was cancelled early has not used its list.
	if run.State.Ended() && run.Plan.AccountCount > 0 {
		if _, err := t.exec(ctx, `DELETE FROM run_listed WHERE run_id = (SELECT id FROM run WHERE number = $1)`, run.ID); err != nil {
			return err
		}
	}
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE run SET state = $2, cancelling = $3, reason = $4,
			not_after = $5, key_id = $6, request_id = $7,
			started_at = CASE WHEN $2 = 'RUNNING' THEN coalesce(started_at, cutoff) ELSE started_at END,
			ended_at = CASE WHEN $2 IN ('FINISHED', 'CANCELLED') THEN coalesce(ended_at, {now}) END,
			worked = worked + coalesce({now} - running_since, 0),
			running_since = CASE WHEN $2 = 'RUNNING' THEN {now} END
		WHERE number = $1`,
		run.ID, string(run.State), run.Cancel, string(run.Reason), instantArg(run.Plan.NotAfter),
		textArg(run.ActsFor.KeyID), textArg(run.ActsFor.RequestID)))
}

// RunIdle reports whether no slice of a run is in progress. It waits for
// writers that are settling a slice: what they write still belongs to the run
// in its former state.
func (t *tx) RunIdle(ctx context.Context, id string) (bool, error) {
	held, err := collect(ctx, t.txSession, func(scan scanner, alive *bool) error { return scan(alive) },
		`SELECT held.until > {now} FROM run_slice held WHERE held.run_id = (SELECT id FROM run WHERE number = $1)
			AND held.token IS NOT NULL AND held.done = FALSE ORDER BY held.slice {for_update}`, id)
	for _, alive := range held {
		if alive {
			return false, err
		}
	}
	return true, err
}

// RunIsDone reports whether every account of a run has an outcome.
func (v *view) RunIsDone(ctx context.Context, id string) (bool, error) {
	var open bool
	err := v.one(ctx, `SELECT EXISTS (SELECT 1 FROM run_slice l WHERE l.run_id = r.id AND l.done = FALSE)
		FROM run r WHERE r.number = $1 AND r.chosen = TRUE`, []any{id}, []any{&open})
	if errors.Is(err, landfall.ErrNotFound) {
		return false, nil
	}
	return err == nil && !open, err
}

// runKey returns a run's primary key.
func (v *view) runKey(ctx context.Context, id string) (key int64, err error) {
	err = v.one(ctx, `SELECT id FROM run WHERE number = $1`, []any{id}, []any{&key})
	return key, err
}
