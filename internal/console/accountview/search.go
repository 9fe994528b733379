package accountview

import "landfall"

// SearchResults is what a search gave.
type SearchResults struct {
	Accounts       []SearchResult `json:"accounts"`
	More           bool           `json:"more"`       // than are shown
	WholeWordsOnly bool           `json:"whole_only"` // names and the like are found by the whole of them
	IndexBehind    bool           `json:"behind"`     // accounts created just now are found by their numbers alone
}

// SearchResult is one of its accounts.
type SearchResult struct {
	Supplier      string     `json:"import_supplier"`
	External      string     `json:"external_account_number"`
	State         string     `json:"state"`
	AccountNumber NullString `json:"platform_account_number"`
	Name          string     `json:"billing_name,omitempty"` // masked
	MatchedBy     string     `json:"found_by"`
}

// NewSearchResults paints what was found. Names are masked: who looks for a customer
// recognises him, and many others may be on the same page.
func NewSearchResults(found landfall.SearchResult) SearchResults {
	return SearchResults{
		More: found.More, WholeWordsOnly: found.ExactOnly, IndexBehind: found.Unindexed > 0,
		Accounts: convert(found.Accounts, func(one landfall.SearchHit) SearchResult {
			return SearchResult{one.Key.Supplier, one.Key.External, State(one.State, one.Failed),
				NullString(one.AccountNumber), MaskName(one.Name), one.By.Label()}
		}),
	}
}

// State is where an account stands in the words of the glossary: an account
// that waits after an attempt that failed is a failed one.
func State(state landfall.ProcessState, failed bool) string {
	switch {
	case state == landfall.Claimed:
		return "in progress"
	case state == landfall.Staged && failed:
		return "failed"
	}
	return string(state)
}
