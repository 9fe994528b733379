package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/store/pack"
	"landfall/internal/store/sqlset"
)

type (
	// stagedDocument is a staging whose document has been checked, packed and
	// sealed.
	stagedDocument struct {
		landfall.Staging
		kept    []byte
		hash    []byte // as it is stored
		figures string
		// identifiers has those of the staging, with their digests.
		identifiers []digestedIdentifier
	}
	stageCall = pendingCall[stagedDocument, landfall.StageOutcome]
	openStage = pendingCalls[stagedDocument, landfall.StageOutcome]
)

// Stage stores one document durably, or returns why not.
func (s *Store) Stage(ctx context.Context, staging landfall.Staging) (landfall.StageOutcome, error) {
	var wanted stagedDocument
	if err := s.newDocument(&staging, &wanted); err != nil {
		return landfall.StageOutcome{}, err
	}
	return runVerb(ctx, s, s.stagings, staging.Key, len(wanted.kept), wanted)
}

// newDocument checks, packs and seals a staging. It runs in the caller, before
// other calls wait for it.
func (s *Store) newDocument(staging *landfall.Staging, into *stagedDocument) error {
	if !storable(staging.Key.Supplier) || !storable(staging.Key.External) {
		return errUnstorable
	}
	// Neither database checks it. JSON contains no NUL and only UTF-8.
	if !staging.ValidJSON && !rules.ValidJSON(staging.Document) {
		return errMalformed
	}
	packed, err := pack.Pack(staging.Document)
	if err != nil {
		return err
	}
	into.Staging = *staging
	into.Figures.Accounts = 1
	into.identifiers = s.sealer.digestIdentifiers(staging.Identifiers)
	into.kept, into.hash, into.figures = s.sealer.sealDocument(staging.Key, packed), s.sealer.sealHash(staging.Key, &into.Hash), figuresText(into.Figures)
	return nil
}

var errMalformed = errors.New("the document is not JSON")

// upsertQuery stages those keys of a batch that may be staged: the supplier is
// Ongoing, the process is not claimed, and the content is new. It returns the
// rows it changed; reasons explains the others. The rows keep the order of the
// batch, so that two batches never deadlock.
var upsertQuery = sqlset.NewQuery(upsertText+upsertReturning, "supplier text", "external text", "hash bytea", "figures text", "delivery text")

// upsertSealedQuery is upsert for sealed hashes. It also recognises documents whose
// hashes were sealed with one of the other keys, or staged before there was one,
// by that many other forms of their hash.
func upsertSealedQuery(forms int) *sqlset.Query {
	if made, ok := sealedUpserts.Load(forms); ok {
		return made.(*sqlset.Query) //nolint:forcetypeassert // nothing else is put there
	}
	columns, same := []string{"supplier text", "external text", "hash bytea", "figures text", "delivery text"}, make([]string, forms)
	for i := range forms {
		name := "former" + strconv.Itoa(i)
		columns, same[i] = append(columns, name+" bytea"), "f."+name
	}
	made := sqlset.NewQuery(upsertText+` AND NOT EXISTS (SELECT 1 FROM wanted f WHERE f.external = process.external
		AND process.hash IN (`+strings.Join(same, ", ")+`))`+upsertReturning, columns...)
	sealedUpserts.Store(forms, &made)
	return &made
}

var sealedUpserts sync.Map // number of forms to *sqlset.Query

const (
	// The same statement moves the former figures into previous_figures,
	// because RETURNING returns only the new row and the sums need both.
	upsertText = `
	INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, figures, delivery)
	SELECT s.id, w.external, 'staged', 1, w.hash, clock.at, clock.at, w.figures, nullif(w.delivery, '')
	FROM wanted w JOIN supplier s ON s.code = w.supplier CROSS JOIN (SELECT {now} AS at) clock
	WHERE s.status = 'Ongoing' {in order}
	ON CONFLICT (supplier_id, external) DO UPDATE
	SET state = 'staged', revision = process.revision + 1, hash = excluded.hash,
		staged_at = excluded.staged_at, claim_token = NULL, claim_until = NULL,
		figures = excluded.figures, previous_figures = process.figures, delivery = excluded.delivery
	WHERE ` + whereFree + ` AND process.hash <> excluded.hash`
	upsertReturning = ` RETURNING (SELECT code FROM supplier WHERE id = supplier_id), external, id, revision, staged_at,
		supplier_id, failed_at IS NOT NULL, previous_figures,
		EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = process.supplier_id AND r.external = process.external)`
)

var stagingTable = newTable("staging", "process_id bigint", "revision bigint", "hash bytea", "staged_at bigint", "document bytea",
	"key_id text", "request_id text")

// stageReasonsQuery reads the state of the keys that upsert did not change.
var stageReasonsQuery = sqlset.NewQuery(`
	SELECT w.supplier, w.external, coalesce(s.status, ''), `+currentState+`, p.revision, p.hash, p.account_number, p.claim_until - {now}, r.at IS NOT NULL, p.id, coalesce(p.delivery, ''),
		EXISTS (SELECT 1 FROM posting_refusal d WHERE d.supplier_id = s.id AND d.external = w.external AND d.kind = '`+string(landfall.PostingAccount)+`')
	FROM wanted w LEFT JOIN supplier s ON s.code = w.supplier
	LEFT JOIN process p ON p.supplier_id = s.id AND p.external = w.external
	LEFT JOIN refusal r ON r.supplier_id = s.id AND r.external = w.external`,
	"supplier text", "external text")

// stage stages different keys, in order, and sets their outcomes.
func (t *tx) stage(ctx context.Context, batch []*stageCall) error {
	divided, err := divide(ctx, t, batch, func(d stagedDocument) (int64, []digestedIdentifier) { return 0, d.identifiers }, divisionRule{staged: true})
	if err != nil {
		return err
	}
	if err := t.refuseDuplicates(ctx, divided.refused, divided.conflicts); err != nil {
		return err
	}
	if len(divided.now) > 0 {
		if err := t.stageAll(ctx, divided.now); err != nil {
			return err
		}
	}
	if len(divided.later) == 0 {
		return nil
	}
	return t.stage(ctx, divided.later)
}

// refuseDuplicates sets the outcomes of documents with identifiers that other
// accounts have. Any other reason to refuse one comes first.
func (t *tx) refuseDuplicates(ctx context.Context, refused []*stageCall, conflicts map[landfall.Key][]landfall.Conflict) error {
	if len(refused) == 0 {
		return nil
	}
	open := sqlset.NewPending(refused)
	var unchanged stageResult
	if err := t.setReasons(ctx, open, &unchanged); err != nil {
		return err
	}
	for _, one := range refused {
		if open.ByKey[one.Key] != nil || one.Outcome.Verdict == landfall.StagedAgain {
			one.Outcome = landfall.StageOutcome{Verdict: landfall.RefusedDuplicate, Conflicts: conflicts[one.Key]}
		}
	}
	return nil
}

// stageAll stages a batch without conflicts.
func (t *tx) stageAll(ctx context.Context, batch []*stageCall) error {
	open := sqlset.NewPending(batch)
	done := stageResult{newProcesses: sqlset.Rows{Table: newProcessTable}, documents: sqlset.Rows{Table: stagingTable},
		identifiers: sqlset.Rows{Table: identifierTable}, redelivered: sqlset.Rows{Table: redeliveredTable}, sealer: t.sealer}
	done.documents.Grow(len(batch))
	if err := t.stageNew(ctx, open, &done); err != nil {
		return err
	}
	// Between the two statements a lease may end or a supplier be opened. Then
	// the state read does not explain the refusal, and only those keys are
	// tried again.
	for tries := 0; len(open.ByKey) > 0; tries++ {
		if tries == 3 {
			return landfall.ErrUnavailable
		}
		if err := t.upsert(ctx, open, &done); err != nil {
			return err
		}
		if len(open.ByKey) > 0 {
			if err := t.setReasons(ctx, open, &done); err != nil {
				return err
			}
		}
	}
	err := done.write(ctx, t)
	if done.at > 0 {
		err = t.retryIfNotNew(err)
	}
	return err
}

// openStaged collects what has to be written for the accounts that were
// staged.
type stageResult struct {
	newProcesses  sqlset.Rows // to be copied
	at            int64       // their time, 0 if there are none
	documents     sqlset.Rows
	identifiers   sqlset.Rows
	restaged      []int64 // processes that may have identifiers already
	sealer        *sealer
	tallies       tallies
	audit         landfall.AuditBatch
	redelivered   sqlset.Rows    // unchanged accounts that another delivery contains as well
	refusedBefore []landfall.Key // accounts with a stored refusal
}

// add records one staged account.
func (s *stageResult) add(one *stageCall, process, supplier, revision, at int64) {
	if revision > 1 {
		s.restaged = append(s.restaged, process)
	}
	addIdentifiers(&s.identifiers, process, supplier, one.Wanted.identifiers)
	s.audit.Add(one.Wanted.By, "account.stage", one.Key, "revision "+strconv.FormatInt(revision, 10))
	s.documents.Add(process, revision, one.Wanted.hash, at, one.Wanted.kept, textArg(one.Wanted.By.KeyID), textArg(one.Wanted.By.RequestID))
}

// write writes everything that was collected.
func (s *stageResult) write(ctx context.Context, t *tx) error {
	if err := t.replaceIdentifiers(ctx, s.restaged, &s.identifiers); err != nil {
		return err
	}
	if len(s.documents.Values) > 0 {
		sums, _ := s.tallies.rows()
		acts := auditRows(&s.audit)
		if s.at > 0 {
			acts = withTime(acts, s.at)
		}
		if err := t.write(ctx, &s.newProcesses, &s.documents, &s.identifiers, sums, acts); err != nil {
			return err
		}
	}
	if err := t.write(ctx, &s.redelivered); err != nil {
		return err
	}
	return t.deleteRefusals(ctx, s.refusedBefore)
}

// redeliveredTable moves unchanged accounts to the delivery that contains them now. An account
// that was created meanwhile keeps its delivery, by which its postings are told apart.
var redeliveredTable = sqlset.NewChange(`UPDATE process SET delivery = w.delivery FROM {rows}
	WHERE process.id = w.process AND process.state <> 'imported'`,
	"process bigint", "delivery text")

// upsert writes what may be written and removes it from open.
func (t *tx) upsert(ctx context.Context, open *openStage, done *stageResult) error {
	statement, width := &upsertQuery, 5
	if t.sealer != nil {
		statement, width = upsertSealedQuery(t.sealer.Keys()), 5+t.sealer.Keys()
	}
	wanted := len(open.ByKey)
	text, args := statement.For(t.engine, open.Rows(width, func(rows []any, one *stageCall) []any {
		rows = append(rows, one.Key.Supplier, one.Key.External, one.Wanted.hash, one.Wanted.figures, one.Wanted.By.Delivery)
		if t.sealer != nil {
			for _, form := range t.sealer.hashForms(one.Key, &one.Wanted.Hash) {
				rows = append(rows, form)
			}
		}
		return rows
	}))
	rows, err := t.returning(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	first := 0
	var key landfall.Key
	var process, revision, at, supplier int64
	var failed, refused bool
	for rows.Next() {
		var former landfall.Figures
		if err := rows.Scan(&key.Supplier, &key.External, &process, &revision, &at, &supplier, &failed,
			figuresInto{&former}, &refused); err != nil {
			return t.fail(err)
		}
		outcome := landfall.StageOutcome{Verdict: landfall.StagedAgain, Revision: int(revision)}
		if revision == 1 {
			outcome.Verdict = landfall.StagedFirst
			first++
		}
		one := open.ByKey[key]
		open.Set(one, outcome)
		done.tallies.subtract(supplier, waitingStatus(failed), former)
		done.tallies.add(supplier, waitingStatus(failed), one.Wanted.Figures)
		if refused {
			done.refusedBefore = append(done.refusedBefore, one.Key)
		}
		done.add(one, process, supplier, revision, at)
	}
	if err := t.fail(rows.Err()); err != nil {
		return err
	}
	t.checkNext(first, wanted)
	return t.fail(rows.Close())
}

// setReasons sets the outcomes of keys that were not written and removes them
// from open.
func (t *tx) setReasons(ctx context.Context, open *openStage, done *stageResult) error {
	text, args := stageReasonsQuery.For(t.engine, open.Rows(2, func(rows []any, one *stageCall) []any {
		return append(rows, one.Key.Supplier, one.Key.External)
	}))
	rows, err := t.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var supplier, external, state, number sql.NullString
		var status landfall.SupplierStatus
		var revision, left, process sql.NullInt64
		var refused, differed bool
		var hash []byte
		var delivery string
		if err := rows.Scan(&supplier, &external, &status, &state, &revision, &hash, &number, &left, &refused, &process, &delivery, &differed); err != nil {
			return t.fail(err)
		}
		one := open.ByKey[landfall.Key{Supplier: supplier.String, External: external.String}]
		if one == nil {
			continue // padding
		}
		// The most permanent reason comes first: an existing account is
		// reported even if its supplier is closed, and for a closed supplier
		// nothing else is reported.
		outcome := landfall.StageOutcome{Revision: int(revision.Int64)}
		switch {
		case state.String == string(landfall.Imported):
			outcome.Verdict, outcome.AccountNumber, outcome.Differed = landfall.RefusedImported, number.String, differed
			outcome.SameDocument = len(hash) > 0 && t.sealer.openHash(one.Key, hash) == one.Wanted.Hash
		case status != landfall.Ongoing:
			outcome = landfall.StageOutcome{Verdict: landfall.RefusedSupplier}
		case state.String == string(landfall.Skipped):
			outcome.Verdict = landfall.RefusedSkipped
		case state.String == string(landfall.Claimed):
			outcome.Verdict, outcome.LeaseLeft = landfall.RefusedClaimed, remaining(left)
		case state.Valid && len(hash) > 0 && t.sealer.openHash(one.Key, hash) == one.Wanted.Hash:
			// There is no new revision. But sending the current document again
			// supersedes a refusal made in between.
			outcome.Verdict = landfall.StagedAgain
			if by := one.Wanted.By.Delivery; by != "" && by != delivery {
				done.redelivered.Add(process.Int64, by)
			}
			if refused {
				done.refusedBefore = append(done.refusedBefore, one.Key)
			}
		default:
			continue // it could be written now: try again
		}
		open.Set(one, outcome)
	}
	if err := t.fail(rows.Err()); err != nil {
		return err
	}
	return t.fail(rows.Close())
}
