package sqlstore

import (
	"context"
	"slices"

	"landfall"
	"landfall/internal/store/sqlset"
)

// maxSharers is how many accounts of one supplier with the same identifier are
// compared. So many have it only by mistake, and comparing all would make every
// further account slower.
const maxSharers = 1000

// scopeText selects the suppliers whose accounts are compared with those of a
// supplier: all that have an organisation in common with it, and itself.
const scopeText = `SELECT s.id, s.id FROM supplier s WHERE s.code = $1
	UNION SELECT a.supplier_id, b.supplier_id FROM supplier s JOIN supplier_grant a ON a.supplier_id = s.id
		JOIN supplier_grant b ON b.organisation = a.organisation WHERE s.code = $1
	ORDER BY 2`

// supplierScope is a supplier and those it is compared with.
type supplierScope struct {
	own    int64
	others []int64 // the supplier itself included
}

// scopeOf reads the scope of a supplier. It has no suppliers when there is no
// such supplier.
func (v *view) scopeOf(ctx context.Context, code string) (scope supplierScope, err error) {
	scope.others, err = collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(&scope.own, id) }, scopeText, code)
	return scope, err
}

// conflictsOf returns the query for the other accounts that have an identifier.
// The condition limits which accounts count.
func conflictsOf(condition string) sqlset.ListQuery {
	return sqlset.NewListQuery(`
		SELECT f.n, s.code, p.external, p.account_number IS NOT NULL, i.process_id, i.ordinal, i.value
		FROM (SELECT w.n AS n, w.supplier AS supplier, w.digest AS digest, (SELECT held.id FROM (SELECT i.process_id, i.from_on, i.to_on FROM account_identifier i
				WHERE i.supplier_id = w.supplier AND i.digest = w.digest ORDER BY i.process_id LIMIT `+maxSharersText+`) i
			JOIN process held ON held.id = i.process_id
			WHERE coalesce(i.from_on, '`+firstDay+`') <= w.to_on AND coalesce(i.to_on, '`+lastDay+`') >= w.from_on
				AND (held.supplier_id <> w.own OR held.external <> w.external) AND `+condition+` LIMIT 1) AS other
			FROM {wanted}) f
		JOIN process p ON p.id = f.other JOIN supplier s ON s.id = p.supplier_id
		JOIN account_identifier i ON i.process_id = f.other AND i.supplier_id = f.supplier AND i.digest = f.digest ORDER BY f.n, i.ordinal`,
		"n bigint", "own bigint", "external text", "supplier bigint", "digest bigint", "from_on text", "to_on text")
}

// numberConflictsOf is conflictsOf for external account numbers.
func numberConflictsOf(condition string) sqlset.ListQuery {
	return sqlset.NewListQuery(`
		SELECT w.n, s.code, held.external, held.account_number IS NOT NULL
		FROM {wanted} JOIN process held ON held.supplier_id = w.supplier AND held.external = w.external AND `+condition+`
		JOIN supplier s ON s.id = held.supplier_id ORDER BY w.n`,
		"n bigint", "external text", "supplier bigint")
}

const (
	maxSharersText = "1000"
	existing       = `held.account_number IS NOT NULL`
	notSkipped     = `held.account_number IS NULL AND held.skip_reason IS NULL`
)

// The queries for accounts that exist, and for those that are staged.
var (
	createdConflicts       = conflictsOf(existing)
	stagedConflicts        = conflictsOf(notSkipped)
	createdNumberConflicts = numberConflictsOf(existing)
	stagedNumberConflicts  = numberConflictsOf(notSkipped)
)

// candidateQuery selects the suppliers in which another account has an identifier or, if
// it has no digest, the number. Hardly any has, so this is all that most searches read.
// The account itself does not count: it is recognised by its process, which is looked up
// if the caller does not know it. It is for PostgreSQL: one exchange instead of two. With
// EXISTS, it might read the whole table instead of the index.
var candidateQuery = sqlset.NewQuery(`,
	owner AS (SELECT s.code, s.id FROM supplier s WHERE s.code IN (SELECT supplier FROM wanted)),
	scope AS MATERIALIZED (SELECT o.code, o.id AS own, o.id AS other FROM owner o
		UNION SELECT o.code, o.id, b.supplier_id FROM owner o JOIN supplier_grant a ON a.supplier_id = o.id
			JOIN supplier_grant b ON b.organisation = a.organisation)
	SELECT w.n, c.own, c.other FROM wanted w JOIN scope c ON c.code = w.supplier WHERE CASE
		WHEN w.digest IS NULL THEN c.other <> c.own AND (SELECT p.id FROM process p WHERE p.supplier_id = c.other AND p.external = w.external) IS NOT NULL
		ELSE (SELECT i.ordinal FROM account_identifier i WHERE i.supplier_id = c.other AND i.digest = w.digest AND i.process_id <>
			CASE WHEN w.process > 0 THEN w.process
			ELSE coalesce((SELECT p.id FROM process p WHERE p.supplier_id = c.own AND p.external = w.external), 0) END
			LIMIT 1) IS NOT NULL END
	ORDER BY w.n, c.other`,
	"n bigint", "supplier text", "external text", "process bigint", "digest bigint")

// knownScopeQuery is candidateQuery for suppliers that were read before, which costs
// SQLite less.
var knownScopeQuery = sqlset.NewQuery(`
	SELECT w.n, w.own, w.other FROM wanted w WHERE (SELECT i.ordinal FROM account_identifier i
		WHERE i.supplier_id = w.other AND i.digest = w.digest AND i.process_id <> w.process LIMIT 1) IS NOT NULL`,
	"n bigint", "own bigint", "other bigint", "process bigint", "digest bigint")

// maxIdentifierLocks is how many identifiers a transaction locks one by one. Servers
// have space for thousands of locks in all. A transaction with more of them locks all
// identifiers at once.
const maxIdentifierLocks = 256

// allIdentifiersLock is the number of the lock of all identifiers: "identify" in ASCII.
const allIdentifiersLock = "7594306396727371385"

// Two transactions that give a unique identifier to an account lock it, so the later
// one sees what the earlier one wrote. The lock is not a row: before an instruction is
// posted there is none. On SQLite there is one writer, and nothing to lock.
const (
	lockIdentifiers = `SELECT pg_advisory_xact_lock_shared(` + allIdentifiersLock + `) IS NULL,
		count(pg_advisory_xact_lock(w.digest) IS NULL) FROM unnest($1::bigint[]) AS w (digest)`
	lockAllIdentifiers = `SELECT pg_advisory_xact_lock(` + allIdentifiersLock + `) IS NULL`
)

// conflictSearch looks for other accounts with the identifiers of some accounts.
type conflictSearch struct {
	identifiers []*digestedIdentifier
	owners      []int // of the identifiers: index of the account
	keys        []landfall.Key
	processes   []int64 // 0: not known

	rows, numbers []any // for the queries
}

// add adds the identifiers of an account that are wanted.
func (c *conflictSearch) add(account int, key landfall.Key, process int64, identifiers []digestedIdentifier, wanted func(*landfall.Identifier) bool) {
	for i := range identifiers {
		if one := &identifiers[i]; wanted(&one.Identifier) {
			c.identifiers, c.owners, c.keys, c.processes = append(c.identifiers, one), append(c.owners, account), append(c.keys, key), append(c.processes, process)
		}
	}
}

// begin finds the suppliers in which other accounts may have the identifiers. If lock is
// set, it locks all identifiers until the transaction ends.
func (c *conflictSearch) begin(ctx context.Context, v *view, lock bool) (err error) {
	if len(c.identifiers) == 0 {
		return nil
	}
	if lock && v.engine.Arrays() {
		if err := c.lock(ctx, v); err != nil {
			return err
		}
	}
	query := &candidateQuery
	var wanted []any
	if v.engine.Arrays() {
		wanted = c.wanted()
	} else {
		query = &knownScopeQuery
		wanted, err = c.wantedInScope(ctx, v)
	}
	if err != nil || len(wanted) == 0 {
		return err
	}
	for rows := range slices.Chunk(wanted, sqlset.BatchSize(v.engine, len(wanted))*query.Width()) {
		if err := c.addCandidates(ctx, v, query, rows); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the rows of candidateQuery.
func (c *conflictSearch) wanted() []any {
	wanted := make([]any, 0, len(c.identifiers)*candidateQuery.Width())
	for i, key := range c.keys {
		if c.identifiers[i].Kind == landfall.IdentifierExternalNumber {
			wanted = append(wanted, int64(i), key.Supplier, key.External, c.processes[i], nil)
			continue
		}
		for _, digest := range c.identifiers[i].digests {
			wanted = append(wanted, int64(i), key.Supplier, key.External, c.processes[i], digest)
		}
	}
	return wanted
}

// wantedInScope returns the rows of knownScopeQuery. Numbers need no such query.
func (c *conflictSearch) wantedInScope(ctx context.Context, v *view) (wanted []any, err error) {
	scopes := map[string]supplierScope{}
	for i, key := range c.keys {
		scope, known := scopes[key.Supplier]
		if !known {
			if scope, err = v.scopeOf(ctx, key.Supplier); err != nil {
				return nil, err
			}
			scopes[key.Supplier] = scope
		}
		for _, other := range scope.others {
			if c.identifiers[i].Kind == landfall.IdentifierExternalNumber {
				if other != scope.own {
					c.numbers = append(c.numbers, int64(i), key.External, other)
				}
				continue
			}
			for _, digest := range c.identifiers[i].digests {
				wanted = append(wanted, int64(i), scope.own, other, c.processes[i], digest)
			}
		}
	}
	return wanted, nil
}

// addCandidates adds the candidates for some rows.
func (c *conflictSearch) addCandidates(ctx context.Context, v *view, query *sqlset.Query, wanted []any) error {
	type possible struct{ n, own, other int64 }
	text, args := query.For(v.engine, wanted)
	candidates, err := collect(ctx, v.txSession, func(scan scanner, one *possible) error { return scan(&one.n, &one.own, &one.other) }, text, args...)
	for _, at := range slices.Compact(candidates) { // there is one for each digest
		one, external := c.identifiers[at.n], c.keys[at.n].External
		if one.Kind == landfall.IdentifierExternalNumber {
			c.numbers = append(c.numbers, at.n, external, at.other)
			continue
		}
		for _, digest := range one.digests {
			c.rows = append(c.rows, at.n, at.own, external, at.other, digest, dayOr(one.FromOn, firstDay), dayOr(one.ToOn, lastDay))
		}
	}
	return err
}

// lock locks the identifiers. All transactions lock them in the same order.
func (c *conflictSearch) lock(ctx context.Context, v *view) error {
	var digests []int64
	for _, one := range c.identifiers {
		digests = append(digests, one.digests...)
	}
	slices.Sort(digests)
	if digests = slices.Compact(digests); len(digests) > maxIdentifierLocks {
		return translate(v.engine.ExecEarly(ctx, lockAllIdentifiers))
	}
	_, list := sqlset.Among(v.engine, digests)
	return translate(v.engine.ExecEarly(ctx, lockIdentifiers, list))
}

// find adds what the queries find to the conflicts of the accounts, one for each
// identifier.
func (c *conflictSearch) find(ctx context.Context, v *view, identifiers, numbers *sqlset.ListQuery, add func(account int, conflict landfall.Conflict)) error {
	found := map[int64]bool{}
	for _, part := range []struct {
		query *sqlset.ListQuery
		rows  []any
	}{{identifiers, c.rows}, {numbers, c.numbers}} {
		if len(part.rows) == 0 {
			continue
		}
		text, args, err := part.query.For(v.engine, part.rows)
		if err != nil {
			return err
		}
		_, err = collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
			var n, process, ordinal int64
			var text string
			var conflict landfall.Conflict
			into := []any{&n, &conflict.Other.Supplier, &conflict.Other.External, &conflict.Created}
			if part.query == identifiers {
				into = append(into, &process, &ordinal, v.sealer.scan("account_identifier", &process, &ordinal).text("value", &text))
			}
			if err := scan(into...); err != nil || found[n] {
				return err
			}
			// Two identifiers may have the same digest.
			if part.query == identifiers && text != c.identifiers[n].text {
				return nil
			}
			found[n] = true
			conflict.Identifier = c.identifiers[n].Identifier
			add(c.owners[n], conflict)
			return nil
		}, text, args...)
		if err != nil {
			return err
		}
	}
	// What was found is not looked for again.
	c.drop(found)
	return nil
}

// drop removes identifiers from the search.
func (c *conflictSearch) drop(found map[int64]bool) {
	if len(found) == 0 {
		return
	}
	open := func(n int64) bool { return !found[n] }
	c.rows, c.numbers = keepRows(c.rows, searchWidth, open), keepRows(c.numbers, 3, open)
}

// searchWidth is the number of values of a row of conflictsOf.
const searchWidth = 7

// keepRows keeps the rows of some identifiers. The first value of a row is the number
// of its identifier.
func keepRows(rows []any, width int, keep func(n int64) bool) []any {
	kept := rows[:0]
	for row := range slices.Chunk(rows, width) {
		if n, _ := row[0].(int64); keep(n) {
			kept = append(kept, row...)
		}
	}
	return kept
}

// isUnique selects the identifiers that refuse an account.
func isUnique(one *landfall.Identifier) bool { return one.Unique }

// anyIdentifier selects all identifiers.
func anyIdentifier(*landfall.Identifier) bool { return true }

// Conflicts returns which identifiers other accounts have too.
func (v *view) Conflicts(ctx context.Context, queries []landfall.ConflictQuery) ([][]landfall.Conflict, error) {
	var search conflictSearch
	for i, query := range queries {
		search.add(i, query.Key, 0, v.sealer.digestIdentifiers(query.Identifiers), anyIdentifier)
	}
	found := make([][]landfall.Conflict, len(queries))
	if err := search.begin(ctx, v, false); err != nil {
		return nil, err
	}
	into := func(account int, conflict landfall.Conflict) { found[account] = append(found[account], conflict) }
	if err := search.find(ctx, v, &createdConflicts, &createdNumberConflicts, into); err != nil {
		return nil, err
	}
	return found, search.find(ctx, v, &stagedConflicts, &stagedNumberConflicts, into)
}

// batchIdentifiers are the identifiers of the accounts of a batch, by their first digest.
type batchIdentifiers map[int64][]*digestedIdentifier

// add adds the identifiers of an account, unless one of them is unique and an
// earlier account has it. Then it returns false: the account has to wait until the
// earlier one is written.
func (b batchIdentifiers) add(identifiers []digestedIdentifier) bool {
	for i := range identifiers {
		one := &identifiers[i]
		if !one.Unique {
			continue
		}
		for _, other := range b[one.digests[0]] {
			if one.Overlaps(&other.Identifier) {
				return false
			}
		}
	}
	for i := range identifiers {
		one := &identifiers[i]
		if same := b[one.digests[0]]; len(same) < maxSharers {
			b[one.digests[0]] = append(same, one)
		}
	}
	return true
}

// dividedBatch is a batch of calls by what their unique identifiers allow.
type dividedBatch[W, O any] struct {
	refused   []*pendingCall[W, O] // another account has one
	conflicts map[landfall.Key][]landfall.Conflict
	now       []*pendingCall[W, O] // can be written
	later     []*pendingCall[W, O] // have to wait for an earlier call of the batch
}

// divide divides a batch. Without unique identifiers it costs nothing.
func divide[W, O any](ctx context.Context, t *tx, batch []*pendingCall[W, O], identifiers func(W) (process int64, list []digestedIdentifier), how divisionRule) (
	d dividedBatch[W, O], err error,
) {
	var search conflictSearch
	for i, one := range batch {
		process, list := identifiers(one.Wanted)
		search.add(i, one.Key, process, list, isUnique)
	}
	if len(search.identifiers) == 0 {
		d.now = batch
		return d, nil
	}
	d.conflicts = map[landfall.Key][]landfall.Conflict{}
	into := func(account int, conflict landfall.Conflict) {
		key := batch[account].Key
		d.conflicts[key] = append(d.conflicts[key], conflict)
	}
	if err := search.begin(ctx, &t.view, how.lock); err != nil {
		return d, err
	}
	if err := search.find(ctx, &t.view, &createdConflicts, &createdNumberConflicts, into); err != nil {
		return d, err
	}
	if how.staged {
		if err := search.find(ctx, &t.view, &stagedConflicts, &stagedNumberConflicts, into); err != nil {
			return d, err
		}
	}
	earlier := batchIdentifiers{}
	for _, one := range batch {
		_, list := identifiers(one.Wanted)
		switch {
		case len(d.conflicts[one.Key]) > 0:
			d.refused = append(d.refused, one)
		case how.alone || earlier.add(list):
			d.now = append(d.now, one)
		default:
			d.later = append(d.later, one)
		}
	}
	return d, nil
}

// divisionRule says what counts as a conflict.
type divisionRule struct {
	lock   bool // lock the identifiers, against concurrent creations
	staged bool // accounts that are only staged count too
	alone  bool // the calls of the batch do not count: all are rolled back
}
