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

// Search finds accounts of every supplier and in every state by what was typed: any
// number or its end, a customer's name, e-mail address, postcode or address, or a part
// of a phone number. Several words are all found. Small typing mistakes are forgiven.
func (o *Operator) Search(ctx context.Context, words string) (landfall.SearchResult, error) {
	words = strings.TrimSpace(words)
	if utf8.RuneCountInString(words) < minSearchLength {
		return landfall.SearchResult{}, invalid("words", rules.CodeRequired,
			"Type at least %d characters of a number, a name, an e-mail address, a phone number, a postcode or an address.", minSearchLength)
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
	for i := range found.Accounts {
		hit := &found.Accounts[i]
		hit.SearchPerson, hit.Document = contract.SearchPerson(hit.Document), nil
	}
	return found, storeError("account.find", err)
}
