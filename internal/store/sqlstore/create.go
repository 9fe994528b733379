package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// Short names for the calls of a batch.
type (
	createCall = pendingCall[*preparedCreation, landfall.CreateOutcome]
	openCreate = pendingCalls[*preparedCreation, landfall.CreateOutcome]
)

// Accounts with these errors are refused, because nothing could be posted to
// them.
var (
	errUnbalanced = errors.New("the balance is not the sum of the ledger")
	errNoPeriod   = errors.New("no statement period is open")
)

// Create writes a whole account and assigns its number.
func (s *Store) Create(ctx context.Context, creation landfall.Creation) (landfall.CreateOutcome, error) {
	account := &creation.Account
	if err := writable(account); err != nil {
		return landfall.CreateOutcome{}, err
	}
	ready, err := s.prepareCreation(&creation)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	joined := s.creations
	if creation.Claim.DryRun {
		joined = s.dryRuns
	}
	return runVerb(ctx, s, joined, creation.Claim.Key, creationWeight(account), ready)
}

// writable returns an error if nothing could be posted to the account.
func writable(account *landfall.Account) error {
	if err := balanced(account.Ledger, 0, 0, account.Balance); err != nil {
		return err
	}
	if !slices.ContainsFunc(account.Periods, landfall.Period.Open) {
		return errNoPeriod
	}
	return nil
}

// creationWeight estimates the size of an account in bytes. It only has to be
// good enough that a very large account gets a batch of its own.
func creationWeight(account *landfall.Account) int {
	const row = 200
	weight := row * (len(account.Data.Customers) + 4*len(account.Data.SupplyAddresses) + len(account.Data.Statements))
	for i := range account.Ledger {
		weight += row + len(account.Ledger[i].Transaction.Document)
	}
	for i := range account.Data.Notes {
		weight += row + len(account.Data.Notes[i].Body)
	}
	return weight
}

// errCollision means that a drawn number belongs to another account.
var errCollision = fmt.Errorf("the account number is taken: %w", engine.ErrAgain)

// create writes a batch. If one of the numbers is taken, the engine runs the
// batch again a few times. With a million accounts one number in thirty
// thousand is taken, so more than a few in a row mean a broken random source.
func (s *Store) create(t *tx, ctx context.Context, batch []*createCall) error {
	return t.create(ctx, claimedQueries, s.draw, batch)
}

// createQueries are the queries that turn processes into accounts: imports
// selects and updates those that are allowed to, reasons explains why others
// are not.
type createQueries struct {
	imports, reasons sqlset.Query
	rolledBack       bool // everything is rolled back, so events, sums and the audit are not written
}

// newCreateQueries builds the queries for a condition under which a process may
// become an account. In the condition, w is the requested row.
func newCreateQueries(condition string) createQueries {
	return createQueries{
		// RETURNING gives rows as the statement leaves them. So the process has
		// to remember whether it had failed before; the tallies are moved from
		// that status.
		imports: sqlset.NewQuery(`
			UPDATE process SET state = 'imported', number = coalesce(process.number, w.number),
				account_number = coalesce(process.number, w.number), account_created_at = {now},
				claim_token = NULL, claim_until = NULL, failure = NULL, failed_at = NULL,
				previously_failed = process.failed_at IS NOT NULL
			FROM wanted w JOIN supplier s ON s.code = w.supplier
			WHERE process.supplier_id = s.id AND process.external = w.external AND `+condition+` AND s.status = 'Ongoing'
			RETURNING process.account_number, process.id, process.account_created_at, process.supplier_id,
				process.previously_failed, process.figures, (SELECT t.target FROM supplier t WHERE t.id = process.supplier_id)`,
			"supplier text", "external text", "token text", "revision bigint", "number text"),
		reasons: sqlset.NewQuery(`
			SELECT w.supplier, w.external, coalesce(s.status, ''), `+condition+`
			FROM wanted w LEFT JOIN supplier s ON s.code = w.supplier
			LEFT JOIN process ON process.supplier_id = s.id AND process.external = w.external`,
			"supplier text", "external text", "token text", "revision bigint"),
	}
}

// claimedQueries imports processes whose claims are still valid. Only a claimed
// process has a token. Checking the state as well, or leaving out the CASE,
// would make the planner use the index of claims.
var claimedQueries = newCreateQueries(`CASE WHEN w.token = '' THEN ` + whereUnchanged + ` ELSE process.claim_token = w.token END`)

// whereUnchanged is the condition for writing the result of an optimistic
// claim: the process is free, and the revision that was read is still the
// staged one. A document that was purged or erased meanwhile has no hash.
const whereUnchanged = whereFree + ` AND process.revision = w.revision AND length(process.hash) > 0`

// create turns a batch of claims into accounts and sets the outcome of each
// call.
func (t *tx) create(ctx context.Context, how createQueries, draw func() (string, error), batch []*createCall) error {
	divided, err := divide(ctx, t, batch, func(p *preparedCreation) (int64, []digestedIdentifier) { return p.Claim.Process, p.unique },
		divisionRule{lock: !how.rolledBack, alone: how.rolledBack})
	if err != nil {
		return err
	}
	if len(divided.refused) > 0 {
		// The claim may be lost, which comes first.
		open := sqlset.NewPending(divided.refused)
		if err := t.refuseCreation(ctx, how, open); err != nil {
			return err
		}
		for key, one := range open.ByKey {
			one.Outcome = landfall.CreateOutcome{Verdict: landfall.CreateDuplicate, Conflicts: divided.conflicts[key]}
		}
	}
	if len(divided.now) > 0 {
		if err := t.createAll(ctx, how, draw, divided.now); err != nil {
			return err
		}
	}
	if len(divided.later) == 0 {
		return nil
	}
	return t.create(ctx, how, draw, divided.later)
}

// createAll creates a batch without conflicts.
func (t *tx) createAll(ctx context.Context, how createQueries, draw func() (string, error), batch []*createCall) error {
	open := sqlset.NewPending(batch)
	rows := newAccountRows(t.sealer)
	rows.reserve(batch)
	// Between importing and refusing, a supplier may be opened. Then there is no
	// reason for the refusal, and only those calls are tried again.
	for range 3 {
		if err := t.importAll(ctx, how, draw, open, rows); err != nil {
			return err
		}
		if len(open.ByKey) > 0 {
			if err := t.refuseCreation(ctx, how, open); err != nil {
				return err
			}
		}
		if len(open.ByKey) == 0 {
			if err := t.skipQueuedBefore(ctx, &rows.mails); err != nil {
				return err
			}
			written := rows.all()
			if how.rolledBack {
				written = rows.withoutEvents()
			}
			return collision(t.write(ctx, written...))
		}
	}
	return landfall.ErrUnavailable
}

// importAll updates all processes with one statement. A number that is taken
// makes the whole batch draw again, which almost never happens.
func (t *tx) importAll(
	ctx context.Context, how createQueries, draw func() (string, error), open *openCreate, into *accountRows,
) error {
	numbers := make(map[string]*createCall, len(open.ByKey))
	var failed error
	wanted := open.Rows(5, func(args []any, one *createCall) []any {
		number, err := draw()
		if err != nil {
			failed = err
		}
		// The returned rows are matched by number. A duplicate would give one
		// caller the account of another. Only an account that was undone before
		// returns a number that was not drawn.
		if numbers[number] != nil {
			failed = errCollision
		}
		numbers[number] = one
		claim := &one.Wanted.Claim
		return append(args, one.Key.Supplier, one.Key.External, claim.Token, int64(claim.Revision), number)
	})
	if failed != nil {
		return failed
	}
	text, args := how.imports.For(t.engine, wanted)
	rows, err := t.returning(ctx, text, args...)
	if err != nil {
		return collision(err)
	}
	defer rows.Close()
	var again []importedRow
	for rows.Next() {
		var row importedRow
		if err := rows.Scan(&row.number, &row.process, &row.at, &row.supplier, &row.failed, figuresInto{&row.sent}, textInto{&row.target}); err != nil {
			return t.fail(err)
		}
		if one := numbers[row.number]; one != nil {
			row.created(open, one, into)
		} else {
			again = append(again, row)
		}
	}
	if err := collision(t.fail(rows.Err())); err != nil || len(again) == 0 {
		return err
	}
	// The transaction has one connection, which accepts the next query only
	// after these rows are closed.
	_ = rows.Close()
	for _, row := range again {
		var key landfall.Key
		if err := t.one(ctx, `SELECT s.code, p.external FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE p.id = $1`,
			[]any{row.process}, []any{&key.Supplier, &key.External}); err != nil {
			return err
		}
		row.created(open, open.ByKey[key], into)
	}
	return nil
}

// importedRow is a process that became an account.
type importedRow struct {
	number                string
	target                string // that it is delivered to; "" for none
	process, at, supplier int64
	failed                bool // before
	sent                  landfall.Figures
}

// created sets the outcome of a creation and adds the rows of its account.
func (r *importedRow) created(open *openCreate, one *createCall, into *accountRows) {
	open.Set(one, landfall.CreateOutcome{Verdict: landfall.Created, Number: r.number, At: moment(r.at)})
	into.fill(one.Wanted, r.process, r.at, r.number)
	if r.target != "" {
		into.deliverAccount(r.target, r.process, r.supplier, one.Key.External, r.at, one.Wanted)
	}
	into.audit.Add(one.Wanted.By, string(landfall.EventImportCompleted), one.Key, r.number)
	into.tallies.subtract(r.supplier, waitingStatus(r.failed), r.sent)
	into.tallies.add(r.supplier, landfall.StatusCreated, one.Wanted.has)
	into.tallies.deviate(r.supplier, one.Key.External, r.sent, one.Wanted.has)
}

// collision detects a number that belongs to another process, now or before an
// undo. Nothing else that must be unique changes when a process is imported.
func collision(err error) error {
	if engine.NotUnique(err) {
		return errors.Join(errCollision, err)
	}
	return err
}

// refuseCreation finds out why some processes were not imported. It runs
// afterwards, because asking first would cost every call a query that hardly
// any needs.
func (t *tx) refuseCreation(ctx context.Context, how createQueries, open *openCreate) error {
	text, args := how.reasons.For(t.engine, open.Rows(4, func(args []any, one *createCall) []any {
		claim := &one.Wanted.Claim
		return append(args, one.Key.Supplier, one.Key.External, claim.Token, int64(claim.Revision))
	}))
	rows, err := t.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var supplier, external sql.NullString
		var status landfall.SupplierStatus
		var held sql.NullBool
		if err := rows.Scan(&supplier, &external, &status, &held); err != nil {
			return t.fail(err)
		}
		one := open.ByKey[landfall.Key{Supplier: supplier.String, External: external.String}]
		switch {
		case one == nil: // padding
		case !held.Bool:
			open.Set(one, landfall.CreateOutcome{Verdict: landfall.CreateFenced})
		case status != landfall.Ongoing:
			open.Set(one, landfall.CreateOutcome{Verdict: landfall.CreateNoSupplier})
		}
	}
	return t.fail(rows.Err())
}
