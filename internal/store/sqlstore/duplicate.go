package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"iter"
	"math"
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/store/sqlset"
)

const (
	// duplicateScan is how many identifiers of the supplier a page looks at, at
	// most. It limits the time of a page when hardly any accounts share one.
	duplicateScan = 20_000
	// duplicateBatch is how many of them are looked at together.
	duplicateBatch = 2000
)

// duplicateWalk walks the identifiers of a supplier and collects pairs.
type duplicateWalk struct {
	*view
	query landfall.DuplicateQuery
	scope supplierScope
	at    landfall.DuplicateCursor
	pairs []landfall.Duplicate
	seen  int // how many rows were looked at
}

// limit returns n, or the limit of the query if that is lower.
func (w *duplicateWalk) limit(n int) int {
	if w.query.Scan > 0 {
		return min(n, w.query.Scan)
	}
	return n
}

// full reports whether the page ends here.
func (w *duplicateWalk) full() bool {
	return len(w.pairs) >= w.query.Limit || w.seen >= w.limit(duplicateScan)
}

// Duplicates streams the pairs of accounts that share an identifier. Each page is a
// short transaction of its own.
func (s *Store) Duplicates(ctx context.Context, query landfall.DuplicateQuery) iter.Seq2[landfall.Duplicate, error] {
	return func(yield func(landfall.Duplicate, error) bool) {
		left := query.Limit
		at := query.After
		if at == nil {
			at = &landfall.DuplicateCursor{}
		}
		for at != nil {
			page := query
			if page.After, page.Limit = at, listBatch; query.Limit > 0 {
				page.Limit = min(left, listBatch)
			}
			var pairs []landfall.Duplicate
			err := s.stream(ctx, func(v *view) (err error) {
				pairs, at, err = v.duplicates(ctx, page)
				return err
			})
			if err != nil {
				yield(landfall.Duplicate{}, err)
				return
			}
			for _, pair := range pairs {
				if !yield(pair, nil) {
					return
				}
			}
			if left -= len(pairs); query.Limit > 0 && left == 0 {
				return
			}
			if query.Scan > 0 && at != nil {
				yield(landfall.Duplicate{Cursor: *at, Unfinished: true}, nil)
				return
			}
		}
	}
}

// duplicates returns a page of pairs, in the order of the first account's number. Of two
// accounts of the supplier, the first is the one that was staged first. The page may be
// empty although there are more: next is nil at the end.
func (v *view) duplicates(ctx context.Context, query landfall.DuplicateQuery) (pairs []landfall.Duplicate, next *landfall.DuplicateCursor, err error) {
	scope, err := v.scopeOf(ctx, query.Supplier)
	if err != nil || len(scope.others) == 0 {
		return nil, nil, err
	}
	w := &duplicateWalk{view: v, query: query, scope: scope, at: *query.After}
	for {
		if more, err := w.accounts(ctx); err != nil || !more {
			return w.pairs, nil, err
		}
		if w.full() {
			return w.pairs, &w.at, nil
		}
	}
}

// sharer is an identifier of an account that others may have too.
type sharer struct {
	account *numbered
	ordinal int64 // lastOrdinal: its number
	digest  int64
}

// numbered is an account of the supplier.
type numbered struct {
	process int64
	landfall.ProcessEntry
	skipped bool
}

// lastOrdinal is after all identifiers of an account, and stands for its number.
const lastOrdinal = math.MaxInt64 - 1

// ownQuery selects the identifiers of accounts.
var ownQuery = sqlset.NewListQuery(`SELECT w.n, i.ordinal, i.digest FROM {wanted} JOIN account_identifier i ON i.process_id = w.process AND i.ordinal >= w.start
	ORDER BY w.n, i.ordinal LIMIT `+strconv.Itoa(duplicateBatch), "n bigint", "process bigint", "start bigint")

// accounts looks at the next accounts. It returns whether there are more.
func (w *duplicateWalk) accounts(ctx context.Context) (more bool, err error) {
	batch := max(w.limit(duplicateBatch), 2) // the last account of the page before comes again
	accounts, err := collect(ctx, w.txSession, func(scan scanner, one *numbered) error {
		var number sql.NullString
		err := scan(&one.process, &one.External, &one.skipped, &number, instantInto{&one.AccountCreatedAt}, instantInto{&one.FirstStagedAt})
		one.AccountNumber = number.String
		return err
	}, `SELECT p.id, p.external, p.skip_reason IS NOT NULL, p.account_number, p.account_created_at, p.first_staged_at FROM process p
		WHERE p.supplier_id = $1 AND p.external >= $2 ORDER BY p.external LIMIT $3`, w.scope.own, w.at.Name, int64(batch))
	if err != nil || len(accounts) == 0 {
		return false, err
	}
	sharers, end, err := w.sharers(ctx, accounts)
	if err != nil {
		return false, err
	}
	held, err := w.held(ctx, sharers)
	if err != nil {
		return false, err
	}
	named, err := w.named(ctx, sharers)
	if err != nil {
		return false, err
	}
	for n, one := range sharers {
		if len(held[n]) > 0 {
			err = w.partners(ctx, one, held[n])
		}
		w.addNumbers(one, named[n])
		if err != nil || w.full() {
			return true, err
		}
	}
	w.at = end
	w.seen += len(accounts) + len(sharers)
	return len(accounts) == batch || end.Ordinal <= lastOrdinal, nil
}

// sharers returns what the accounts have, in order, and the position after it.
func (w *duplicateWalk) sharers(ctx context.Context, accounts []numbered) (sharers []sharer, end landfall.DuplicateCursor, err error) {
	var rows []any
	for n, one := range accounts {
		start := int64(math.MinInt64)
		if one.External == w.at.Name {
			start = w.at.Ordinal
		}
		if !one.skipped {
			rows = append(rows, int64(n), one.process, start)
		}
	}
	// The last account is read again with the next ones, and has no other pairs.
	end = landfall.DuplicateCursor{Name: accounts[len(accounts)-1].External, Ordinal: math.MaxInt64}
	if len(rows) == 0 {
		return nil, end, nil
	}
	text, args, err := ownQuery.For(w.engine, rows)
	if err != nil {
		return nil, end, err
	}
	type found struct{ n, ordinal, digest int64 }
	identifiers, err := collect(ctx, w.txSession, func(scan scanner, one *found) error { return scan(&one.n, &one.ordinal, &one.digest) }, text, args...)
	full := len(identifiers) == duplicateBatch // there may be more
	for n := range accounts {
		account := &accounts[n]
		for len(identifiers) > 0 && identifiers[0].n == int64(n) {
			sharers, identifiers = append(sharers, sharer{account, identifiers[0].ordinal, identifiers[0].digest}), identifiers[1:]
			if full && len(identifiers) == 0 {
				return sharers, landfall.DuplicateCursor{Name: account.External, Ordinal: sharers[len(sharers)-1].ordinal + 1}, err
			}
		}
		if !account.skipped && (account.External != w.at.Name || w.at.Ordinal <= lastOrdinal) {
			sharers = append(sharers, sharer{account: account, ordinal: lastOrdinal})
		}
	}
	return sharers, end, err
}

// sharedQuery selects the candidates of which a supplier has another account.
var sharedQuery = sqlset.NewListQuery(`SELECT w.n, w.supplier FROM {wanted} WHERE EXISTS (SELECT 1 FROM account_identifier b
	WHERE b.supplier_id = w.supplier AND b.digest = w.digest AND b.process_id > w.after) ORDER BY w.n`,
	"n bigint", "supplier bigint", "digest bigint", "after bigint")

// held returns the suppliers that have another account with each identifier.
func (w *duplicateWalk) held(ctx context.Context, sharers []sharer) (suppliers map[int][]int64, err error) {
	suppliers = map[int][]int64{}
	var rows []any
	for n, one := range sharers {
		for _, supplier := range w.scope.others {
			if one.ordinal != lastOrdinal {
				rows = append(rows, int64(n), supplier, one.digest, w.after(one, supplier))
			}
		}
	}
	if len(rows) == 0 {
		return suppliers, nil
	}
	text, args, err := sharedQuery.For(w.engine, rows)
	if err != nil {
		return nil, err
	}
	_, err = collect(ctx, w.txSession, func(scan scanner, _ *struct{}) error {
		var n int
		var supplier int64
		err := scan(&n, &supplier)
		suppliers[n] = append(suppliers[n], supplier)
		return err
	}, text, args...)
	return suppliers, err
}

// after returns the process after which the partners of a sharer begin. Each
// pair of accounts of the supplier is returned once, with the older one first.
func (w *duplicateWalk) after(one sharer, supplier int64) int64 {
	after := int64(math.MinInt64)
	if supplier == w.scope.own {
		after = one.account.process
	}
	if one.account.External == w.at.Name && one.ordinal == w.at.Ordinal {
		after = max(after, w.at.Other)
	}
	return after
}

// partner is a row of an account that may be the other one of a pair.
type partner struct {
	process    int64
	ordinal    int64
	identifier landfall.Identifier
	entry      landfall.ProcessEntry
	supplier   string
	skipped    bool
}

const partnerText = `SELECT b.process_id, b.ordinal, b.value, b.from_on, b.to_on,
		s.code, p.external, p.account_number, p.account_created_at, p.first_staged_at, p.skip_reason IS NOT NULL
	FROM (SELECT i.* FROM account_identifier i WHERE i.supplier_id = $1 AND i.digest = $2 AND `

// readPartners reads accounts that have an identifier.
func (w *duplicateWalk) readPartners(ctx context.Context, condition string, args ...any) ([]partner, error) {
	return collect(ctx, w.txSession, func(scan scanner, one *partner) error {
		var value string
		var number sql.NullString
		err := scan(&one.process, &one.ordinal, w.sealer.scan("account_identifier", &one.process, &one.ordinal).text("value", &value),
			dayInto{&one.identifier.FromOn}, dayInto{&one.identifier.ToOn}, &one.supplier, &one.entry.External, &number,
			instantInto{&one.entry.AccountCreatedAt}, instantInto{&one.entry.FirstStagedAt}, &one.skipped)
		one.entry.AccountNumber = number.String
		one.identifier.SetText(value)
		return err
	}, partnerText+condition+`) b JOIN process p ON p.id = b.process_id JOIN supplier s ON s.id = p.supplier_id
		ORDER BY b.process_id, b.ordinal`, args...)
}

// partners adds the pairs of a sharer until the page is full.
func (w *duplicateWalk) partners(ctx context.Context, one sharer, suppliers []int64) error {
	own, err := w.readPartners(ctx, `i.process_id = $3 ORDER BY i.process_id`, w.scope.own, one.digest, one.account.process)
	// An account may have an identifier in several periods; all are compared with the first.
	if err != nil || len(own) == 0 || own[0].ordinal != one.ordinal || !slices.Contains(w.query.Kinds, own[0].identifier.Kind) {
		return err
	}
	for !w.full() {
		limit := w.query.Limit - len(w.pairs)
		var others []partner
		for _, supplier := range suppliers {
			rows, err := w.readPartners(ctx, `i.process_id > $3 ORDER BY i.process_id LIMIT $4`, supplier, one.digest, w.after(one, supplier), int64(limit))
			if err != nil {
				return err
			}
			others = append(others, rows...)
		}
		if len(others) == 0 {
			return nil
		}
		// Each supplier's rows are in order and may go on, so no more than the limit
		// are known to be next.
		slices.SortStableFunc(others, func(a, b partner) int { return cmp.Compare(a.process, b.process) })
		w.seen += len(others)
		for i := range others[:min(limit, len(others))] {
			w.at = landfall.DuplicateCursor{Name: one.account.External, Ordinal: one.ordinal, Other: others[i].process}
			w.addPair(own, &others[i])
		}
	}
	return nil
}

// addPair adds a pair if the other account is not skipped and has the identifier
// at the same time. The digests are equal, the texts may differ.
func (w *duplicateWalk) addPair(own []partner, other *partner) {
	for i := range own {
		if first := &own[i]; !other.skipped && first.identifier.Text() == other.identifier.Text() && first.identifier.Overlaps(&other.identifier) {
			w.pairs = append(w.pairs, landfall.Duplicate{
				Identifier: first.identifier, First: first.entry, Second: other.entry, Supplier: other.supplier, Cursor: w.at,
			})
			return
		}
	}
}

// sharedNumberQuery selects the accounts of other suppliers with the same number.
var sharedNumberQuery = sqlset.NewListQuery(`SELECT w.n, p.id, s.code, p.account_number, p.account_created_at, p.first_staged_at
	FROM {wanted} JOIN process p ON p.supplier_id = w.supplier AND p.external = w.external AND p.skip_reason IS NULL
	JOIN supplier s ON s.id = p.supplier_id ORDER BY w.n, p.id`,
	"n bigint", "external text", "supplier bigint")

// namesake is an account of another supplier with the same number.
type namesake struct {
	process  int64
	supplier string
	entry    landfall.ProcessEntry
}

// named returns the accounts of other suppliers with the same numbers.
func (w *duplicateWalk) named(ctx context.Context, sharers []sharer) (others map[int][]namesake, err error) {
	others = map[int][]namesake{}
	var rows []any
	for n, one := range sharers {
		for _, supplier := range w.scope.others {
			if supplier != w.scope.own && one.ordinal == lastOrdinal && slices.Contains(w.query.Kinds, landfall.IdentifierExternalNumber) {
				rows = append(rows, int64(n), one.account.External, supplier)
			}
		}
	}
	if len(rows) == 0 {
		return others, nil
	}
	text, args, err := sharedNumberQuery.For(w.engine, rows)
	if err != nil {
		return nil, err
	}
	_, err = collect(ctx, w.txSession, func(scan scanner, _ *struct{}) error {
		var n int
		var number sql.NullString
		var one namesake
		err := scan(&n, &one.process, &one.supplier, &number, instantInto{&one.entry.AccountCreatedAt}, instantInto{&one.entry.FirstStagedAt})
		one.entry.AccountNumber = number.String
		others[n] = append(others[n], one)
		return err
	}, text, args...)
	return others, err
}

// addNumbers adds the pairs of an account with the same number until the page is full.
func (w *duplicateWalk) addNumbers(one sharer, others []namesake) {
	for _, other := range others {
		if w.full() {
			return
		}
		if other.process <= w.after(one, 0) {
			continue
		}
		w.at = landfall.DuplicateCursor{Name: one.account.External, Ordinal: lastOrdinal, Other: other.process}
		other.entry.External = one.account.External
		w.pairs = append(w.pairs, landfall.Duplicate{
			Identifier: landfall.Identifier{Kind: landfall.IdentifierExternalNumber, Value: one.account.External},
			First:      one.account.ProcessEntry, Second: other.entry, Supplier: other.supplier, Cursor: w.at,
		})
	}
}
