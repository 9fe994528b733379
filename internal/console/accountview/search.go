package accountview

import "landfall"

// SearchResults are the results of a search.
type SearchResults struct {
	Accounts       []SearchResult `json:"accounts"`
	More           bool           `json:"more"`       // there are more results
	WholeWordsOnly bool           `json:"whole_only"` // personal data is only found by whole words
	IndexBehind    bool           `json:"behind"`     // new accounts are only found by number
}

// SearchResult is one account.
type SearchResult struct {
	Supplier      string     `json:"import_supplier"`
	External      string     `json:"external_account_number"`
	State         string     `json:"state"`
	AccountNumber NullString `json:"platform_account_number"`
	Name          string     `json:"billing_name,omitempty"` // masked
	MatchedBy     string     `json:"found_by"`
}

// NewSearchResults returns results with masked names: the reader recognises the
// customer, and does not see the names of others.
func NewSearchResults(found landfall.SearchResult) SearchResults {
	return SearchResults{
		More: found.More, WholeWordsOnly: found.ExactOnly, IndexBehind: found.Unindexed > 0,
		Accounts: convert(found.Accounts, func(one landfall.SearchHit) SearchResult {
			return SearchResult{one.Key.Supplier, one.Key.External, State(one.State, one.Failed),
				NullString(one.AccountNumber), MaskName(one.Name), one.By.Label()}
		}),
	}
}

// State is the state of an account for people: a staged account whose last attempt
// failed is "failed".
func State(state landfall.ProcessState, failed bool) string {
	switch {
	case state == landfall.Claimed:
		return "in progress"
	case state == landfall.Staged && failed:
		return "failed"
	}
	return string(state)
}
