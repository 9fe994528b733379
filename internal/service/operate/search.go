package operate

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// MaxSearchResults is the maximum number of accounts a search returns. People do
// not read more; they narrow the search.
const MaxSearchResults = 50

// minSearchLength keeps a search from finding everything.
const minSearchLength = 2

// Search finds accounts of every supplier by what was typed: an account number
// of either kind, or a customer's name, e-mail address, phone number, postcode
// or supply point, complete or as a prefix.
func (o *Operator) Search(ctx context.Context, words string) (landfall.SearchResult, error) {
	words = strings.TrimSpace(words)
	if utf8.RuneCountInString(words) < minSearchLength {
		return landfall.SearchResult{}, invalid("words", rules.CodeRequired,
			"Type at least %d characters of a number, a name, an e-mail address, a phone number, a postcode or a supply point.", minSearchLength)
	}
	suppliers, err := o.Suppliers(ctx)
	if err != nil {
		return landfall.SearchResult{}, err
	}
	var regions []string
	for _, supplier := range suppliers {
		if !slices.Contains(regions, supplier.Region) {
			regions = append(regions, supplier.Region)
		}
	}
	query := contract.SearchWords(words, regions)
	query.Limit = MaxSearchResults
	found, err := o.store.Search(ctx, query)
	return found, storeError("account.find", err)
}
