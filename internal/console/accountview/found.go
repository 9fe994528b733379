package accountview

import "landfall"

// Found is what a search gave.
type Found struct {
	Accounts []FoundAccount `json:"accounts"`
	More     bool           `json:"more"`       // than are shown
	Whole    bool           `json:"whole_only"` // names and the like are found by the whole of them
	Behind   bool           `json:"behind"`     // accounts created just now are found by their numbers alone
}

// FoundAccount is one of its accounts.
type FoundAccount struct {
	Supplier      string `json:"import_supplier"`
	External      string `json:"external_account_number"`
	State         string `json:"state"`
	AccountNumber Maybe  `json:"platform_account_number"`
	Name          string `json:"billing_name,omitempty"` // masked
	By            string `json:"found_by"`
}

// FoundOf paints what was found. Names are masked: who looks for a customer
// recognises him, and many others may be on the same page.
func FoundOf(found landfall.SearchResult) Found {
	return Found{
		More: found.More, Whole: found.ExactOnly, Behind: found.Unindexed > 0,
		Accounts: each(found.Accounts, func(one landfall.SearchHit) FoundAccount {
			return FoundAccount{one.Key.Supplier, one.Key.External, State(one.State, one.Failed),
				Maybe(one.AccountNumber), MaskName(one.Name), one.By.Label()}
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
