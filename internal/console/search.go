package console

import (
	"errors"
	"net/http"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// searchPage is what the search shows.
type searchPage struct {
	pageHead
	accountview.SearchResults
	Query string
	Limit int
	Hint  string // what to do when nothing can be looked for yet
}

// searchAccounts looks for accounts as somebody types.
func searchAccounts(r *pageRequest) (any, error) {
	shown := searchPage{pageHead: pageHead{Title: "Search"}, Query: r.queryParam("q"), Limit: operate.MostFound}
	found, err := r.operator().Search(r.Context(), shown.Query)
	// Too short a word is no fault while somebody is still typing it: it is a hint below the
	// field.
	if refusal, known := errors.AsType[*landfall.Error](err); known && refusal.Kind == landfall.Invalid {
		shown.Hint = refusal.Detail
		return shown, nil
	}
	shown.SearchResults = accountview.NewSearchResults(found)
	return shown, err
}

// showSearch is search for who pressed enter: whoever typed the whole number of
// an account is shown the account.
func showSearch(r *pageRequest) (any, error) {
	found, err := searchAccounts(r)
	shown, is := found.(searchPage)
	if err == nil && is && len(shown.Accounts) == 1 && !shown.More {
		only := shown.Accounts[0]
		// Only the exact number leads on: a single hit by a part of it may not be the one that
		// was meant.
		if only.External == shown.Query || string(only.AccountNumber) == shown.Query {
			http.Redirect(r.Writer, r.Request, consolePath("accounts", only.Supplier, only.External), http.StatusSeeOther)
			return nil, nil //nolint:nilnil // it is answered
		}
	}
	return found, err
}

// searchRoutes are the pages of search.
func searchRoutes() []route {
	found := get("search/found/", searchAccounts, "found")
	found.partial = true
	return []route{get("search/", showSearch, "search"), found}
}
