package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/lib/money"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// prefixEnd is appended to a prefix to get the upper bound of all strings with
// that prefix.
const prefixEnd = "\U0010FFFF"

const (
	// maxMatches is how many accounts that match one word are looked at. A word that
	// matches more is checked on the accounts that match the other words.
	maxMatches = 2000
	// maxChecked is how many accounts are looked at if every word matches more.
	maxChecked = 10_000
	// maxRange is how many terms with a prefix are read to find those of some suppliers.
	maxRange = 20_000
	// shownDocument is how large a packed document may be to be read for a list.
	shownDocument = 64 << 10
)

// The queries that search for accounts by number, each with an index. An account that
// does not exist yet has a NULL number; excluding NULL explicitly lets both
// databases use the index.
const (
	findNumbers = `SELECT p.id FROM process p WHERE p.number IS NOT NULL AND p.number >= $1 AND p.number < $2 AND p.state = 'imported'{of}
		ORDER BY p.number LIMIT $3`
	findTails = `SELECT p.id FROM process p WHERE p.number IS NOT NULL AND substr(p.number, length(p.number) - 3) = $1
		AND substr(p.number, length(p.number) - length($2) + 1) = $2 AND p.state = 'imported'{of} ORDER BY p.number LIMIT $3`
	// The few suppliers come first, and only the one matching account of each
	// is read. CROSS JOIN keeps SQLite from swapping the two tables.
	findExternal = `SELECT p.id FROM supplier s CROSS JOIN process p
		WHERE p.supplier_id = s.id AND p.external = $1{of} ORDER BY s.code LIMIT $2`
	suppliersWith = `SELECT s.id FROM supplier s WHERE (EXISTS
		(SELECT 1 FROM process p WHERE p.supplier_id = s.id AND p.external >= $1 AND p.external < $2) OR EXISTS
		(SELECT 1 FROM refusal p WHERE p.supplier_id = s.id AND p.external >= $1 AND p.external < $2)){of} ORDER BY s.code LIMIT $3`
	findExternals = `SELECT p.id FROM process p WHERE p.supplier_id = $1 AND p.external >= $2 AND p.external < $3 ORDER BY p.external LIMIT $4`
	// An account that was staged before is found by its process.
	findRefused = `SELECT -r.id FROM refusal r WHERE r.supplier_id = $1 AND r.external >= $2 AND r.external < $3
		AND NOT EXISTS (SELECT 1 FROM process p WHERE p.supplier_id = r.supplier_id AND p.external = r.external) ORDER BY r.external LIMIT $4`
)

// The queries that search for terms.
const (
	findTerms = `SELECT t.account_id, t.term FROM search_term t WHERE t.term >= $1 AND t.term < $2 AND t.term LIKE $3 ORDER BY t.term LIMIT $4`
	// findTermsOf reads the terms of some suppliers among those of all.
	findTermsOf = `SELECT t.account_id, t.term FROM (SELECT t.term, t.supplier_id, t.account_id FROM search_term t
		WHERE t.term >= $1 AND t.term < $2 AND t.term LIKE $3 ORDER BY t.term LIMIT $5) AS t WHERE {of} LIMIT $4`
	// unindexedText asks whether something was staged or refused that is not indexed yet.
	unindexedText = `SELECT EXISTS (SELECT 1 FROM audit a WHERE a.id > (SELECT audit_after FROM search_index) AND a.action IN (` + stagingActions + `))
		OR EXISTS (SELECT 1 FROM refusal r WHERE r.indexed = FALSE)`
	stagingActions = `'accounts.change', 'account.stage'`
)

// foundText reads what a list shows of accounts. $1 is the list.
func foundText(these string) string {
	return `SELECT p.id, s.code, p.external, ` + currentState + `, p.failed_at IS NOT NULL, EXISTS (SELECT 1 FROM refusal r
		WHERE r.supplier_id = p.supplier_id AND r.external = p.external), p.account_number, a.balance, a.currency, p.hash,
		CASE WHEN length(g.document) <= ` + strconv.Itoa(shownDocument) + ` THEN g.document END
	FROM process p JOIN supplier s ON s.id = p.supplier_id LEFT JOIN account a ON a.id = p.id
	LEFT JOIN staging g ON g.process_id = p.id AND g.revision = p.revision WHERE p.id` + these
}

// searchState is a search in progress.
type searchState struct {
	*view
	query     landfall.SearchQuery
	exact     bool // terms are found by their whole text only
	terms     landfall.TermEncoder
	suppliers string // a list of ids, "" for all
	words     []*wordMatches
	order     []int64 // accounts, and refusals as negative numbers
	hits      map[int64]landfall.SearchHit
	more      bool
}

// Search looks for accounts by number, then by the words as they were typed, and then
// with typing mistakes, until it has one more than the limit.
func (s *Store) Search(ctx context.Context, query landfall.SearchQuery) (found landfall.SearchResult, err error) {
	err = s.stream(ctx, func(v *view) error {
		f := &searchState{view: v, query: query, terms: s.terms, exact: s.terms.ExactOnly(), hits: map[int64]landfall.SearchHit{}}
		found = landfall.SearchResult{ExactOnly: f.exact}
		if err := v.one(ctx, unindexedText, nil, []any{&found.Unindexed}); err != nil {
			return err
		}
		exist, err := f.readSuppliers(ctx)
		if err != nil || !exist {
			return err
		}
		for _, step := range []func(context.Context) error{f.byNumbers, f.byWords, f.bySimilarWords} {
			if len(f.order) <= query.Limit {
				if err := step(ctx); err != nil {
					return err
				}
			}
		}
		found.More = f.more || len(f.order) > query.Limit
		found.Accounts, err = f.read(ctx, f.order[:min(len(f.order), query.Limit)])
		return err
	})
	if err != nil {
		return landfall.SearchResult{}, err
	}
	return found, nil
}

// readSuppliers reads the ids of the suppliers that the search is limited to. It reports
// whether there are any.
func (f *searchState) readSuppliers(ctx context.Context) (bool, error) {
	if f.query.Suppliers == nil {
		return true, nil
	}
	ids, err := collect(ctx, f.txSession, func(scan scanner, id *string) error { return scan(id) },
		`SELECT CAST(s.id AS TEXT) FROM supplier s WHERE s.code `+textsIn(f.engine, "$1")+` ORDER BY s.code`, textList(f.engine, f.query.Suppliers))
	f.suppliers = strings.Join(ids, ", ")
	return len(ids) > 0, err
}

// of limits a query to the suppliers that are searched. The ids are numbers of the
// database itself.
func (f *searchState) of(text, column string) string {
	if f.suppliers == "" {
		return strings.ReplaceAll(text, "{of}", "")
	}
	return strings.ReplaceAll(text, "{of}", ` AND `+column+` IN (`+f.suppliers+`)`)
}

// add adds an account that was not found before.
func (f *searchState) add(id int64, by landfall.TermKind, similar bool) {
	if _, found := f.hits[id]; !found {
		f.hits[id] = landfall.SearchHit{By: by, Similar: similar}
		f.order = append(f.order, id)
	}
}

// take runs a query for accounts by number.
func (f *searchState) take(ctx context.Context, by landfall.TermKind, text string, args ...any) error {
	if len(f.order) > f.query.Limit {
		return nil
	}
	ids, err := collect(ctx, f.txSession, func(scan scanner, id *int64) error { return scan(id) },
		text, append(args, int64(f.query.Limit+1+len(f.order)))...)
	for _, id := range ids {
		f.add(id, by, false)
	}
	return err
}

// byNumbers adds the accounts that match by account number or external number.
// For external numbers, exact matches come first.
func (f *searchState) byNumbers(ctx context.Context) error {
	for _, number := range f.query.Numbers {
		if err := f.take(ctx, landfall.ByAccountNumber, f.of(findNumbers, "p.supplier_id"), number, number+prefixEnd); err != nil {
			return err
		}
	}
	for _, external := range f.query.Externals {
		if err := f.take(ctx, landfall.ByExternalNumber, f.of(findExternal, "s.id"), external); err != nil {
			return err
		}
	}
	for _, external := range f.query.Externals {
		suppliers, err := collect(ctx, f.txSession, func(scan scanner, id *int64) error { return scan(id) },
			f.of(suppliersWith, "s.id"), external, external+prefixEnd, int64(f.query.Limit+1))
		if err != nil {
			return err
		}
		for _, supplier := range suppliers {
			for _, text := range []string{findExternals, findRefused} {
				if err := f.take(ctx, landfall.ByExternalNumber, text, supplier, external, external+prefixEnd); err != nil {
					return err
				}
			}
		}
	}
	for _, tail := range f.query.NumberTails {
		if err := f.take(ctx, landfall.ByAccountNumber, f.of(findTails, "p.supplier_id"), tail[len(tail)-landfall.NumberTail:], tail); err != nil {
			return err
		}
	}
	return nil
}

// wordMatches are the accounts that match a word, as far as they were read.
type wordMatches struct {
	ids  []int64
	by   map[int64]landfall.TermKind
	more bool // there are more than were read
}

func (m *wordMatches) add(row termMatch, kind landfall.TermKind) {
	if _, known := m.by[row.account]; !known {
		m.by[row.account] = kind
		m.ids = append(m.ids, row.account)
	}
}

type termMatch struct {
	account int64
	term    string
}

func scanTermMatch(scan scanner, row *termMatch) error { return scan(&row.account, &row.term) }

// byWords adds the accounts that match every word as it was typed.
func (f *searchState) byWords(ctx context.Context) error {
	for _, word := range f.query.Words {
		matches := &wordMatches{by: map[int64]landfall.TermKind{}}
		f.words = append(f.words, matches)
		if err := f.whole(ctx, wholeTerms(word.Matches), matches, maxMatches); err != nil {
			return err
		}
		if err := f.begun(ctx, word, matches, maxMatches); err != nil {
			return err
		}
	}
	return f.intersect(ctx, false)
}

// bySimilarWords adds the accounts that match every word with at most one typing
// mistake in each.
func (f *searchState) bySimilarWords(ctx context.Context) error {
	// Who types a number that exists means that one, and not its neighbours.
	for _, hit := range f.hits {
		if hit.By == landfall.ByAccountNumber || hit.By == landfall.ByExternalNumber {
			return nil
		}
	}
	for i, matches := range f.words {
		if err := f.whole(ctx, f.query.Words[i].Similar, matches, maxMatches); err != nil {
			return err
		}
	}
	return f.intersect(ctx, true)
}

// wholeTerms returns the terms that matches may be the whole text of.
func wholeTerms(matches []landfall.TermMatch) (terms []landfall.SearchTerm) {
	for _, match := range matches {
		if !match.Inexact {
			terms = append(terms, match.SearchTerm)
		}
	}
	return terms
}

// whole reads the accounts with one of the given terms.
func (f *searchState) whole(ctx context.Context, terms []landfall.SearchTerm, into *wordMatches, limit int) error {
	kinds := map[string]landfall.TermKind{}
	var forms []string
	for _, term := range terms {
		for _, form := range f.terms.Encode(term) {
			if storable(form) && kinds[form] == "" {
				kinds[form] = term.Kind
				forms = append(forms, form)
			}
		}
	}
	if len(forms) == 0 {
		return nil
	}
	rows, err := collect(ctx, f.txSession, scanTermMatch,
		f.of(`SELECT t.account_id, t.term FROM search_term t WHERE t.term `+textsIn(f.engine, "$1")+`{of} LIMIT $2`, "t.supplier_id"),
		textList(f.engine, forms), int64(limit+1))
	for _, row := range rows {
		into.add(row, kinds[row.term])
	}
	into.more = into.more || len(rows) > limit
	return err
}

// begun reads the accounts with a term that begins as a word does. Digests have no
// beginnings.
func (f *searchState) begun(ctx context.Context, word landfall.SearchWord, into *wordMatches, limit int) error {
	if f.exact {
		return nil
	}
	for _, match := range word.Matches {
		if len(into.ids) > limit {
			break
		}
		first := string(match.Kind) + match.Text
		if !storable(first) {
			continue
		}
		text, args := findTerms, []any{first, first + prefixEnd, "%" + match.Ending, int64(limit + 1)}
		if f.suppliers != "" {
			text, args = strings.ReplaceAll(findTermsOf, "{of}", `t.supplier_id IN (`+f.suppliers+`)`), append(args, int64(maxRange))
		}
		rows, err := collect(ctx, f.txSession, scanTermMatch, text, args...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			into.add(row, match.Kind)
		}
		into.more = into.more || len(rows) > limit
	}
	return nil
}

// intersect adds the accounts that match all words.
func (f *searchState) intersect(ctx context.Context, similar bool) error {
	words := f.words
	if len(words) == 0 {
		return nil
	}
	// The rarest word decides which accounts are looked at.
	first := slices.MinFunc(words, func(a, b *wordMatches) int {
		return cmp.Or(cmpBool(a.more, b.more), cmp.Compare(len(a.ids), len(b.ids)))
	})
	candidates := first.ids
	if first.more && len(words) > 1 {
		at := slices.Index(words, first)
		wide := &wordMatches{by: first.by, ids: first.ids}
		if err := f.begun(ctx, f.query.Words[at], wide, maxChecked); err != nil {
			return err
		}
		candidates = wide.ids
	}
	f.more = f.more || first.more
	for i, word := range words {
		if word == first {
			continue
		}
		kept := candidates[:0:0]
		var unknown []int64
		for _, id := range candidates {
			if _, is := word.by[id]; is {
				kept = append(kept, id)
			} else if word.more {
				unknown = append(unknown, id)
			}
		}
		if len(unknown) > 0 {
			found, err := f.check(ctx, f.query.Words[i], unknown, similar)
			if err != nil {
				return err
			}
			kept = append(kept, found...)
		}
		candidates = kept
	}
	for _, id := range candidates {
		if len(f.order) > f.query.Limit {
			return nil
		}
		f.add(id, words[0].by[id], similar)
	}
	return nil
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// check returns the accounts of a list that match a word which too many others match.
func (f *searchState) check(ctx context.Context, word landfall.SearchWord, ids []int64, similar bool) (matching []int64, err error) {
	var conditions []string
	args := []any{nil}
	for _, match := range word.Matches {
		for _, form := range f.terms.Encode(match.SearchTerm) {
			until, ending := form+prefixEnd, "%"+match.Ending
			if f.exact {
				until = form + "\x01" // no stored term continues a digest
			}
			at := len(args)
			conditions = append(conditions, `t.term >= $`+strconv.Itoa(at+1)+` AND t.term < $`+strconv.Itoa(at+2)+` AND t.term LIKE $`+strconv.Itoa(at+3))
			args = append(args, form, until, ending)
		}
	}
	if similar {
		var forms []string
		for _, term := range word.Similar {
			forms = append(forms, f.terms.Encode(term)...)
		}
		args = append(args, textList(f.engine, forms))
		conditions = append(conditions, `t.term `+textsIn(f.engine, `$`+strconv.Itoa(len(args))))
	}
	these, list := sqlset.Among(f.engine, ids)
	args[0] = list
	return collect(ctx, f.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`SELECT DISTINCT t.account_id FROM search_term t WHERE t.account_id`+these+` AND (`+strings.Join(conditions, " OR ")+`)`, args...)
}

// read reads what the accounts of a list show.
func (f *searchState) read(ctx context.Context, ids []int64) ([]landfall.SearchHit, error) {
	var staged, refused []int64
	for _, id := range ids {
		if id < 0 {
			refused = append(refused, -id)
		} else {
			staged = append(staged, id)
		}
	}
	found := map[int64]landfall.SearchHit{}
	these, list := sqlset.Among(f.engine, staged)
	_, err := collect(ctx, f.txSession, func(scan scanner, _ *struct{}) error {
		var id int64
		var number, currency sql.NullString
		var balance sql.NullInt64
		var hash, kept []byte
		var one landfall.SearchHit
		if err := scan(&id, &one.Key.Supplier, &one.Key.External, &one.State, &one.Failed, &one.Refused, &number, &balance, &currency, &hash, &kept); err != nil {
			return err
		}
		one.By, one.Similar = f.hits[id].By, f.hits[id].Similar
		one.AccountNumber, one.Balance, one.Currency = number.String, money.Amount(balance.Int64), currency.String
		// An account whose document cannot be read is still found.
		if len(kept) > 0 && len(hash) > 0 {
			if document, err := f.sealer.openDocument(one.Key, kept, f.sealer.openHash(one.Key, hash)); err == nil {
				one.Document = document
			}
		}
		found[id] = one
		return nil
	}, foundText(these), list)
	if err != nil {
		return nil, err
	}
	these, list = sqlset.Among(f.engine, refused)
	_, err = collect(ctx, f.txSession, func(scan scanner, _ *struct{}) error {
		var id int64
		one := landfall.SearchHit{Refused: true}
		var sealed []byte
		if err := scan(&id, &one.Key.Supplier, &one.Key.External, &sealed); err != nil {
			return err
		}
		one.By, one.Similar = f.hits[-id].By, f.hits[-id].Similar
		if err := f.sealer.scan("refusal", one.Key.Supplier, one.Key.External).open("person", sealed, &one.Document); err != nil {
			one.Document = nil
		}
		found[-id] = one
		return nil
	}, `SELECT r.id, s.code, r.external, r.person FROM refusal r JOIN supplier s ON s.id = r.supplier_id WHERE r.id`+these, list)
	var all []landfall.SearchHit
	for _, id := range ids {
		if one, is := found[id]; is {
			all = append(all, one)
		}
	}
	return all, err
}

// textsIn is the condition that a text is one of the list in a parameter, as textList
// passes it.
func textsIn(t *engine.Tx, parameter string) string {
	if t.Arrays() {
		return `= ANY (` + parameter + `::text[])`
	}
	return `IN (SELECT value FROM json_each(` + parameter + `))`
}

func textList(t *engine.Tx, texts []string) any {
	if t.Arrays() {
		values := make([]any, len(texts))
		for i, text := range texts {
			values[i] = text
		}
		return engine.Column{Rows: values, Width: 1}
	}
	encoded, err := json.Marshal(texts)
	if err != nil {
		panic(err) // texts can always be written
	}
	return string(encoded)
}
