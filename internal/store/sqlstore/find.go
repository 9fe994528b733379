package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"strings"

	"landfall"
)

// prefixEnd is appended to a prefix to get the upper bound of all strings with
// that prefix.
const prefixEnd = "\U0010FFFF"

const (
	// An account is shown with one name, that of its first customer. A process
	// that is only staged has no name.
	foundColumns = `SELECT s.code, p.external, ` + currentState + `, p.failed_at IS NOT NULL, p.account_number,
		p.id, a.billing_name, c.given_name, c.family_name `
	foundNames = ` LEFT JOIN account a ON a.id = p.id LEFT JOIN customer c ON c.account_id = a.id AND c.ordinal = 1 `
	foundFrom  = foundColumns + `FROM process p JOIN supplier s ON s.id = p.supplier_id` + foundNames
)

// The queries that search for accounts, each with an index. An account that
// does not exist yet has a NULL number; excluding NULL explicitly lets both
// databases use the index.
const (
	findNumbers = foundFrom + `WHERE p.number IS NOT NULL AND p.number >= $1 AND p.number < $2 AND p.state = 'imported'
		ORDER BY p.number LIMIT $3`
	// The few suppliers come first, and only the one matching account of each
	// is read. CROSS JOIN keeps SQLite from swapping the two tables.
	findExternal = foundColumns + `FROM supplier s CROSS JOIN process p` + foundNames +
		`WHERE p.supplier_id = s.id AND p.external = $1 ORDER BY s.code LIMIT $2`
	suppliersWith = `SELECT s.id FROM supplier s WHERE EXISTS
		(SELECT 1 FROM process p WHERE p.supplier_id = s.id AND p.external >= $1 AND p.external < $2) ORDER BY s.code LIMIT $3`
	findExternals = foundFrom + `WHERE p.supplier_id = $1 AND p.external >= $2 AND p.external < $3 ORDER BY p.external LIMIT $4`
	findTerms     = foundColumns + `FROM (SELECT t.account_id, t.term FROM search_term t WHERE t.term >= $1 AND t.term < $2
			ORDER BY t.term, t.account_id LIMIT $3) AS found
		JOIN process p ON p.id = found.account_id JOIN supplier s ON s.id = p.supplier_id` + foundNames + `
		WHERE a.id IS NOT NULL ORDER BY found.term, found.account_id`
)

// searchState is a search in progress.
type searchState struct {
	*view
	query landfall.SearchQuery
	found landfall.SearchResult
	seen  map[landfall.Key]bool
}

// Search looks for accounts by one criterion after another until it has one
// more than the limit.
func (s *Store) Search(ctx context.Context, query landfall.SearchQuery) (landfall.SearchResult, error) {
	var found landfall.SearchResult
	err := s.stream(ctx, func(v *view) error {
		f := &searchState{view: v, query: query, seen: map[landfall.Key]bool{}}
		f.found.ExactOnly = s.terms.ExactOnly()
		if err := v.one(ctx, unindexedText, nil, []any{&f.found.Unindexed}); err != nil {
			return err
		}
		if err := f.byNumbers(ctx); err != nil {
			return err
		}
		for _, term := range query.Terms {
			for _, kept := range s.terms.Encode(term) {
				until := kept + prefixEnd
				if f.found.ExactOnly {
					until = kept + "\x01" // no stored term continues a hash
				}
				if err := f.take(ctx, term.Kind, findTerms, kept, until); err != nil {
					return err
				}
			}
		}
		if len(f.found.Accounts) > query.Limit {
			f.found.More = true
			f.found.Accounts = f.found.Accounts[:query.Limit]
		}
		found = f.found
		return nil
	})
	if err != nil {
		return landfall.SearchResult{}, err
	}
	return found, nil
}

// unindexedText selects how many events the search index has not processed.
const unindexedText = `SELECT (SELECT coalesce(max(id), 0) FROM event) - event_after FROM search_index`

// byNumbers adds the accounts that match by account number or external number.
// For external numbers, exact matches come first.
func (f *searchState) byNumbers(ctx context.Context) error {
	for _, number := range f.query.Numbers {
		if err := f.take(ctx, landfall.ByAccountNumber, findNumbers, number, number+prefixEnd); err != nil {
			return err
		}
	}
	for _, external := range f.query.Externals {
		if err := f.take(ctx, landfall.ByExternalNumber, findExternal, external); err != nil {
			return err
		}
	}
	for _, external := range f.query.Externals {
		suppliers, err := collect(ctx, f.txSession, func(scan scanner, id *int64) error { return scan(id) },
			suppliersWith, external, external+prefixEnd, f.wanted())
		if err != nil {
			return err
		}
		for _, supplier := range suppliers {
			if err := f.take(ctx, landfall.ByExternalNumber, findExternals, supplier, external, external+prefixEnd); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted returns how many rows to read. Accounts found earlier may come again,
// and a name is indexed under each of its words.
func (f *searchState) wanted() int64 { return int64(4*(f.query.Limit+1) + len(f.found.Accounts)) }

// take runs a query and adds the accounts that were not found before.
func (f *searchState) take(ctx context.Context, by landfall.TermKind, text string, args ...any) error {
	if len(f.found.Accounts) > f.query.Limit {
		return nil
	}
	wanted := f.wanted()
	rows, err := collect(ctx, f.txSession, func(scan scanner, one *landfall.SearchHit) error {
		var number, bills, given, family sql.NullString
		var id int64
		person := f.sealer.scan("customer", &id, int64(1))
		err := scan(&one.Key.Supplier, &one.Key.External, &one.State, &one.Failed, &number, &id,
			f.sealer.scan("account", &id).nullText("billing_name", &bills), person.nullText("given_name", &given), person.nullText("family_name", &family))
		one.AccountNumber, one.By = number.String, by
		one.Name = cmp.Or(bills.String, strings.TrimSpace(given.String+" "+family.String))
		return err
	}, text, append(args, wanted)...)
	f.found.More = f.found.More || int64(len(rows)) == wanted
	for _, one := range rows {
		if !f.seen[one.Key] {
			f.seen[one.Key] = true
			f.found.Accounts = append(f.found.Accounts, one)
		}
	}
	return err
}
