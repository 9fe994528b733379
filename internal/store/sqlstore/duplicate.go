package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"iter"
	"math"
	"slices"

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

// full reports whether the page ends here.
func (w *duplicateWalk) full() bool {
	return len(w.pairs) >= w.query.Limit || w.seen >= duplicateScan
}

// Duplicates streams the pairs of accounts that share an identifier. Each page is a
// short transaction of its own.
func (s *Store) Duplicates(ctx context.Context, query landfall.DuplicateQuery) iter.Seq2[landfall.Duplicate, error] {
	return func(yield func(landfall.Duplicate, error) bool) {
		left := query.Limit
		at := query.After
		if at == nil {
			at = &landfall.DuplicateCursor{Digest: math.MinInt64, Process: math.MinInt64}
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
		}
	}
}

// duplicates returns a page of pairs: first those with a common supply point,
// payment instruction or reference, then those with the same number under different
// suppliers. The page may be empty although there are more: next is nil at the end.
func (v *view) duplicates(ctx context.Context, query landfall.DuplicateQuery) (pairs []landfall.Duplicate, next *landfall.DuplicateCursor, err error) {
	scope, err := v.scopeOf(ctx, query.Supplier)
	if err != nil || len(scope.others) == 0 {
		return nil, nil, err
	}
	w := &duplicateWalk{view: v, query: query, scope: scope, at: *query.After}
	isNumber := func(kind landfall.IdentifierKind) bool { return kind == landfall.IdentifierExternalNumber }
	for {
		step, wanted := w.identifiers, slices.ContainsFunc(query.Kinds, func(kind landfall.IdentifierKind) bool { return !isNumber(kind) })
		if w.at.Numbers {
			step, wanted = w.numbers, slices.ContainsFunc(query.Kinds, isNumber)
		}
		more := false
		if wanted {
			if more, err = step(ctx); err != nil {
				return nil, nil, err
			}
		}
		if !more {
			if w.at.Numbers {
				return w.pairs, nil, nil
			}
			w.at = landfall.DuplicateCursor{Numbers: true}
		}
		if w.full() {
			return w.pairs, &w.at, nil
		}
	}
}

// sharer is an account with an identifier that others may have too.
type sharer struct{ digest, process int64 }

// sharedQuery selects the candidates of which a supplier has another account.
var sharedQuery = sqlset.NewListQuery(`SELECT w.n, w.supplier FROM {wanted} WHERE EXISTS (SELECT 1 FROM account_identifier b
	WHERE b.supplier_id = w.supplier AND b.digest = w.digest AND b.process_id > w.after) ORDER BY w.n`,
	"n bigint", "supplier bigint", "digest bigint", "after bigint")

// identifiers looks at the next identifiers. It returns whether there are more.
func (w *duplicateWalk) identifiers(ctx context.Context) (more bool, err error) {
	candidates, err := collect(ctx, w.txSession, func(scan scanner, one *sharer) error { return scan(&one.digest, &one.process) },
		`SELECT DISTINCT i.digest, i.process_id FROM account_identifier i
			WHERE i.supplier_id = $1 AND (i.digest, i.process_id) >= ($2, $3) ORDER BY i.digest, i.process_id LIMIT $4`,
		w.scope.own, w.at.Digest, w.at.Process, int64(duplicateBatch))
	if err != nil || len(candidates) == 0 {
		return false, err
	}
	var rows []any
	for n, one := range candidates {
		for _, supplier := range w.scope.others {
			rows = append(rows, int64(n), supplier, one.digest, w.after(one, supplier))
		}
	}
	text, args, err := sharedQuery.For(w.engine, rows)
	if err != nil {
		return false, err
	}
	type found struct{ n, supplier int64 }
	matches, err := collect(ctx, w.txSession, func(scan scanner, one *found) error { return scan(&one.n, &one.supplier) }, text, args...)
	if err != nil {
		return false, err
	}
	for len(matches) > 0 {
		n := matches[0].n
		var suppliers []int64
		for len(matches) > 0 && matches[0].n == n {
			suppliers, matches = append(suppliers, matches[0].supplier), matches[1:]
		}
		if err := w.partners(ctx, candidates[n], suppliers); err != nil || w.full() {
			return true, err
		}
	}
	// The last sharer is read again with the next ones, and has no other pairs.
	last := candidates[len(candidates)-1]
	w.at = landfall.DuplicateCursor{Digest: last.digest, Process: last.process, Other: math.MaxInt64}
	w.seen += len(candidates)
	return len(candidates) == duplicateBatch, nil
}

// after returns the process after which the partners of a sharer begin. Each
// pair of accounts of the supplier is returned once, with the older one first.
func (w *duplicateWalk) after(one sharer, supplier int64) int64 {
	after := int64(math.MinInt64)
	if supplier == w.scope.own {
		after = one.process
	}
	if one.digest == w.at.Digest && one.process == w.at.Process {
		after = max(after, w.at.Other)
	}
	return after
}

// partner is a row of an account that may be the other one of a pair.
type partner struct {
	process    int64
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
		var ordinal int64
		var number sql.NullString
		err := scan(&one.process, &ordinal, w.sealer.scan("account_identifier", &one.process, &ordinal).text("value", &value),
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
	own, err := w.readPartners(ctx, `i.process_id = $3 ORDER BY i.process_id`, w.scope.own, one.digest, one.process)
	if err != nil || len(own) == 0 || own[0].skipped || !slices.Contains(w.query.Kinds, own[0].identifier.Kind) {
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
			w.at = landfall.DuplicateCursor{Digest: one.digest, Process: one.process, Other: others[i].process}
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

// numbers looks at the next external account numbers. It returns whether there are
// more.
func (w *duplicateWalk) numbers(ctx context.Context) (more bool, err error) {
	type numbered struct {
		landfall.ProcessEntry
		skipped bool
	}
	read := func(number *sql.NullString, entry *landfall.ProcessEntry) []any {
		return []any{number, instantInto{&entry.AccountCreatedAt}, instantInto{&entry.FirstStagedAt}}
	}
	candidates, err := collect(ctx, w.txSession, func(scan scanner, one *numbered) error {
		var number sql.NullString
		err := scan(append([]any{&one.External, &one.skipped}, read(&number, &one.ProcessEntry)...)...)
		one.AccountNumber = number.String
		return err
	}, `SELECT p.external, p.skip_reason IS NOT NULL, p.account_number, p.account_created_at, p.first_staged_at FROM process p
		WHERE p.supplier_id = $1 AND p.external >= $2 ORDER BY p.external LIMIT $3`, w.scope.own, w.at.Name, int64(duplicateBatch))
	if err != nil || len(candidates) == 0 {
		return false, err
	}
	var rows []any
	for n, one := range candidates {
		for _, supplier := range w.scope.others {
			if supplier != w.scope.own && !one.skipped {
				rows = append(rows, int64(n), one.External, supplier)
			}
		}
	}
	last := candidates[len(candidates)-1]
	end := landfall.DuplicateCursor{Numbers: true, Name: last.External, Other: math.MaxInt64}
	w.seen += len(candidates)
	if len(rows) == 0 {
		w.at = end
		return len(candidates) == duplicateBatch, nil
	}
	text, args, err := sharedNumberQuery.For(w.engine, rows)
	if err != nil {
		return false, err
	}
	_, err = collect(ctx, w.txSession, func(scan scanner, _ *struct{}) error {
		var n, id int64
		var number sql.NullString
		pair := landfall.Duplicate{}
		if err := scan(append([]any{&n, &id, &pair.Supplier}, read(&number, &pair.Second)...)...); err != nil {
			return err
		}
		one := &candidates[n]
		if len(w.pairs) == w.query.Limit || one.External == w.at.Name && id <= w.at.Other {
			return nil
		}
		w.at = landfall.DuplicateCursor{Numbers: true, Name: one.External, Other: id}
		pair.First, pair.Second.External, pair.Second.AccountNumber = one.ProcessEntry, one.External, number.String
		pair.Cursor = w.at
		pair.Identifier = landfall.Identifier{Kind: landfall.IdentifierExternalNumber, Value: one.External}
		w.pairs = append(w.pairs, pair)
		return nil
	}, text, args...)
	if err != nil || len(w.pairs) == w.query.Limit {
		return true, err
	}
	w.at = end
	return len(candidates) == duplicateBatch, nil
}
