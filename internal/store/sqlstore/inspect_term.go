package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/store/sqlset"
)

// inspectTerms compares the terms by which the next accounts are found with those of
// their staged documents.
func inspectTerms(ctx context.Context, s *Store, position string) (part inspectPart, err error) {
	if s.termsOf == nil {
		return part, nil
	}
	after, _ := strconv.ParseInt(position, 10, 64) // "" is the beginning
	ids, err := s.processesAfter(ctx, after, inspectBatch)
	if err != nil || len(ids) == 0 {
		return part, err
	}
	part.next = strconv.FormatInt(ids[len(ids)-1], 10)
	wrong, err := s.otherTerms(ctx, ids)
	if err != nil || len(wrong) == 0 {
		return part, err
	}
	// Accounts that are not indexed yet have other terms. If all are indexed now, look
	// again: the terms may have been written after they were read.
	var behind bool
	if err := s.stream(ctx, func(v *view) error { return v.one(ctx, unindexedText, nil, []any{&behind}) }); err != nil || behind {
		return part, err
	}
	if wrong, err = s.otherTerms(ctx, wrong); err != nil || len(wrong) == 0 {
		return part, err
	}
	err = s.stream(ctx, func(v *view) (err error) {
		these, list := sqlset.Among(v.engine, wrong)
		part.findings, err = collect(ctx, v.txSession, func(scan scanner, finding *landfall.Finding) error {
			finding.What, finding.Sums = "the terms by which it is found are not those of its document", true
			return scan(&finding.Key.Supplier, &finding.Key.External)
		}, `SELECT s.code, p.external FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE p.id`+these+` ORDER BY p.id`, list)
		return err
	})
	return part, err
}

// otherTerms returns the accounts whose stored terms are not those of their staged
// documents. It leaves out accounts whose documents cannot be read, which other checks
// report, and those with terms of an earlier key, which are about to be replaced.
func (s *Store) otherTerms(ctx context.Context, ids []int64) (wrong []int64, err error) {
	has, err := s.storedTerms(ctx, ids)
	if err != nil {
		return nil, err
	}
	batch, err := s.stagedAccounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	current := s.termPrefix()
	for i := range batch {
		one := &batch[i]
		stale := slices.ContainsFunc(has[one.id], func(term string) bool { return !strings.HasPrefix(term, current) })
		if one.readable && !stale && !one.mayHaveTerms(has[one.id]) {
			wrong = append(wrong, one.id)
		}
	}
	return wrong, nil
}

// mayHaveTerms reports whether the stored terms are an account's. Those of phone numbers
// may differ: they depend on the supplier's region, which may have changed since.
func (a *indexedAccount) mayHaveTerms(stored []string) bool {
	fixed := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(a.terms))), func(term string) bool { return slices.Contains(a.phones, term) })
	for _, term := range fixed {
		if !slices.Contains(stored, term) {
			return false
		}
	}
	return len(stored) <= len(fixed)+len(a.phones)
}
