package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// checkedBatches is how many large batches are checked after one that was not
// all new. A supplier sends all accounts once, and then some again after
// corrections. Only the method depends on it, never the result.
const checkedBatches = 16

// reserveIDsText reserves the ids of new processes. It assumes that all accounts
// are new and checks none: if one is not, the copy fails. A supplier with
// refusals gets no ids, because the refusals must be looked up.
const reserveIDsText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	SELECT nextval('process_id_seq'), (SELECT at FROM clock), s.id
	FROM supplier s CROSS JOIN generate_series(1, $2::bigint)
	WHERE s.code = $1 AND s.status = 'Ongoing' AND NOT EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = s.id)`

// newProcessTable contains the processes of new accounts, written by COPY.
var newProcessTable = sqlset.NewCopyTable("process", "id bigint", "supplier_id bigint", "external text", "state text", "revision bigint",
	"hash bytea", "first_staged_at bigint", "staged_at bigint", "figures text", "delivery text")

// stageNew adds the accounts of a large batch to be copied, if all are probably
// new. It is a fifth faster than upsert, to which it leaves everything else.
func (t *tx) stageNew(ctx context.Context, open *openStage, done *stageResult) error {
	supplier, one := soleSupplier(open.Batch)
	if !one || !t.engine.Arrays() || len(open.Batch) < sqlset.MinCopy || t.checked.Load() > 0 {
		return nil
	}
	accounts, err := collect(ctx, t.txSession, func(scan scanner, n *newAccount) error { return scan(&n.process, &n.at, &n.supplier) },
		reserveIDsText, supplier, int64(len(open.Batch)))
	if err != nil {
		return err
	}
	done.newProcesses.Grow(len(accounts))
	for i := range accounts {
		accounts[i].stageCall = open.Batch[i]
		done.addNew(open, accounts[i])
	}
	return nil
}

// checkNext updates how many large batches are checked, by how many of a
// checked batch were new.
func (t *tx) checkNext(fresh, all int) {
	switch checked := t.checked.Load(); {
	case all < sqlset.MinCopy:
	case fresh < all:
		t.checked.Store(checkedBatches)
	case checked > 0:
		t.checked.Store(checked - 1)
	}
}

// retryIfNotNew makes a batch run again if an account that was assumed new was
// not.
func (t *tx) retryIfNotNew(err error) error {
	if engine.NotUnique(err) {
		t.checked.Store(checkedBatches)
		return engine.ErrAgain
	}
	return err
}

// newAccount is an account that was never staged before.
type newAccount struct {
	*stageCall
	process, supplier, at int64
}

// addNew records a new account.
func (s *stageResult) addNew(open *openStage, n newAccount) {
	open.Set(n.stageCall, landfall.StageOutcome{Verdict: landfall.StagedFirst, Revision: 1})
	s.at = n.at
	s.newProcesses.Add(n.process, n.supplier, n.Key.External, string(landfall.Staged), int64(1), n.Wanted.hash, n.at, n.at, n.Wanted.figures,
		textArg(n.Wanted.By.Delivery))
	s.tallies.add(n.supplier, landfall.StatusPending, n.Wanted.Figures)
	s.add(n.stageCall, n.process, n.supplier, 1, n.at)
}

// soleSupplier returns the supplier of a batch if all its accounts have the
// same one.
func soleSupplier(batch []*stageCall) (string, bool) {
	first := batch[0].Key.Supplier
	for _, one := range batch[1:] {
		if one.Key.Supplier != first {
			return "", false
		}
	}
	return first, true
}
