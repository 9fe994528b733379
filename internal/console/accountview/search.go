package accountview

import (
	"strings"
	"unicode"

	"landfall"
)

// SearchResults are the results of a search.
type SearchResults struct {
	Accounts       []SearchResult `json:"accounts"`
	More           bool           `json:"more"`       // there are more results
	WholeWordsOnly bool           `json:"whole_only"` // personal data is only found by whole words
	IndexBehind    bool           `json:"behind"`     // accounts that were just staged are only found by number
}

// SearchResult is one account.
type SearchResult struct {
	Supplier      string     `json:"import_supplier"`
	External      string     `json:"external_account_number"`
	State         string     `json:"state"`
	AccountNumber NullString `json:"platform_account_number"`
	Name          string     `json:"billing_name,omitempty"`  // masked
	Town          string     `json:"town,omitempty"`          // where the customer lives
	PostcodeArea  string     `json:"postcode_area,omitempty"` // the first part of the postcode
	Balance       string     `json:"balance,omitempty"`       // in words, of an account that exists
	MatchedBy     string     `json:"found_by"`
}

// NewSearchResults returns results with masked names: the reader recognises the
// customer by the initials, the town and the balance, and does not see who others are.
func NewSearchResults(found landfall.SearchResult) SearchResults {
	return SearchResults{
		More: found.More, WholeWordsOnly: found.ExactOnly, IndexBehind: found.Unindexed,
		Accounts: convert(found.Accounts, func(one landfall.SearchHit) SearchResult {
			by := one.By.Label()
			if one.Similar {
				by = "similar " + by
			}
			shown := SearchResult{
				Supplier: one.Key.Supplier, External: one.Key.External, State: State(one.State, one.Failed), AccountNumber: NullString(one.AccountNumber),
				Name: MaskName(one.Name), Town: one.Town, PostcodeArea: PostcodeArea(one.Postcode), MatchedBy: by,
			}
			if one.Refused {
				shown.State = "refused"
			}
			if one.AccountNumber != "" {
				shown.Balance = BalanceWords(one.Balance, one.Currency)
			}
			return shown
		}),
	}
}

// PostcodeArea returns the part of a postcode that names an area: NR2 of NR2 1AB, 101 of
// 10117.
func PostcodeArea(postcode string) string {
	if area, _, is := strings.Cut(strings.TrimSpace(postcode), " "); is {
		return area
	}
	letters := []rune(strings.TrimSpace(postcode))
	if len(letters) > 5 || len(letters) == 5 && unicode.IsLetter(letters[4]) {
		return string(letters[:len(letters)-3]) // written without its space
	}
	return string(letters[:min(len(letters), 3)])
}

// State is the state of an account for people: a staged account whose last attempt
// failed is "failed".
func State(state landfall.ProcessState, failed bool) string {
	switch {
	case state == landfall.Claimed:
		return "running"
	case state == landfall.Staged && failed:
		return "failed"
	}
	return string(state)
}
