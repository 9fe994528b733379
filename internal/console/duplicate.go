package console

import (
	"landfall"
	"landfall/internal/api/contract"
)

// duplicatesPage lists pairs of accounts that share an identifier.
type duplicatesPage struct {
	pageHead
	Code  string
	Rule  string
	Rules []string
	Pairs []landfall.Duplicate
	Next  string // where the next page starts; "" on the last one
	Later bool   // it is not the first page
	// Searched is the account that the search came to, if it goes on at Next.
	Searched string
}

const (
	// maxDuplicates is the number of pairs that a page shows.
	maxDuplicates = 200
	// maxSearched is about how many identifiers a page looks at. The browser asks for the rest, in
	// parts, so that a page of a million accounts is there at once.
	maxSearched = 5000
)

func showDuplicates(r *pageRequest) (any, error) {
	code, rule := r.PathValue("supplier"), r.URL.Query().Get("rule")
	page := duplicatesPage{pageHead: supplierHead(code, code+": shared identifiers", "failures"), Code: code, Rule: rule, Rules: contract.AcrossCodes()}
	supplier, err := r.operator().ShowSupplier(r.Context(), code)
	if err != nil {
		return nil, err
	}
	wanted, err := contract.ReadDuplicates(r.URL.RawQuery, &supplier.Supplier)
	if err != nil {
		return nil, err
	}
	pairs, err := r.operator().Duplicates(r.Context(), code, rule, landfall.DuplicateQuery{After: wanted.After, Limit: maxDuplicates + 1, Scan: maxSearched})
	if err != nil {
		return nil, err
	}
	for pair, err := range pairs {
		if err != nil {
			return nil, err
		}
		if pair.Unfinished {
			page.Searched, page.Next = pair.Cursor.Name, contract.EncodeDuplicateCursor(pair.Cursor, wanted.Kinds)
			break
		}
		page.Pairs = append(page.Pairs, pair)
	}
	page.Later = wanted.After != nil
	if len(page.Pairs) > maxDuplicates {
		page.Pairs = page.Pairs[:maxDuplicates]
		page.Next = contract.EncodeDuplicateCursor(page.Pairs[maxDuplicates-1].Cursor, wanted.Kinds)
	}
	return page, nil
}

// RuleOf returns the rule that a pair breaks.
func (duplicatesPage) RuleOf(pair landfall.Duplicate) string {
	code, _ := contract.AcrossRule(pair.Identifier.Kind, &landfall.Supplier{})
	return code
}

// EndOf returns the end of a pair's identifier, which is personal as a whole.
func (duplicatesPage) EndOf(pair landfall.Duplicate) string {
	return contract.LastThree(pair.Identifier.Value)
}
