package console

import (
	"errors"
	"net/http"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

type searchPage struct {
	pageHead
	accountview.SearchResults
	Query string
	Limit int
	Hint  string // why there was no search yet
}

// searchAccounts searches while the reader types.
func searchAccounts(r *pageRequest) (any, error) { return r.search() }

func (r *pageRequest) search() (searchPage, error) {
	page := searchPage{pageHead: pageHead{Title: "Search"}, Query: r.queryParam("q"), Limit: operate.MaxSearchResults}
	results, err := r.operator().Search(r.Context(), page.Query)
	// A query that is too short is a hint and not an error while somebody types.
	if refusal, known := errors.AsType[*landfall.Error](err); known && refusal.Kind == landfall.Invalid {
		page.Hint = refusal.Detail
		return page, nil
	}
	page.SearchResults = accountview.NewSearchResults(results)
	return page, err
}

// showSearch opens an account directly if the query is its exact number.
func showSearch(r *pageRequest) (any, error) {
	page, err := r.search()
	if err == nil && len(page.Accounts) == 1 && !page.More {
		only := page.Accounts[0]
		if only.External == page.Query || string(only.AccountNumber) == page.Query {
			http.Redirect(r.Writer, r.Request, consolePath("accounts", only.Supplier, only.External), http.StatusSeeOther)
			return nil, nil //nolint:nilnil // the response is written
		}
	}
	return page, err
}

func searchRoutes() []route {
	results := get("search/found/", searchAccounts, "search-results")
	results.partial = true
	return []route{get("search/", showSearch, "search"), results}
}
