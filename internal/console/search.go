package console

import (
	"errors"
	"net/http"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// searched is what the search shows.
type searched struct {
	head
	accountview.Found
	Words string
	Most  int
	Hint  string // what to do when nothing can be looked for yet
}

// search looks for accounts as somebody types.
func search(v *visit) (any, error) {
	shown := searched{head: head{Title: "Search"}, Words: v.query("q"), Most: operate.MostFound}
	found, err := v.operator().Search(v.ctx(), shown.Words)
	// Too short a word is no fault while somebody is still typing it: it is a hint below the
	// field.
	if refusal, known := errors.AsType[*landfall.Error](err); known && refusal.Kind == landfall.Invalid {
		shown.Hint = refusal.Detail
		return shown, nil
	}
	shown.Found = accountview.FoundOf(found)
	return shown, err
}

// searchPage is search for who pressed enter: whoever typed the whole number of
// an account is shown the account.
func searchPage(v *visit) (any, error) {
	found, err := search(v)
	shown, is := found.(searched)
	if err == nil && is && len(shown.Accounts) == 1 && !shown.More {
		only := shown.Accounts[0]
		// Only the exact number leads on: a single hit by a part of it may not be the one that
		// was meant.
		if only.External == shown.Words || string(only.AccountNumber) == shown.Words {
			http.Redirect(v.Writer, v.Request, address("accounts", only.Supplier, only.External), http.StatusSeeOther)
			return nil, nil //nolint:nilnil // it is answered
		}
	}
	return found, err
}

// lookups are the pages of search.
func lookups() []page {
	found := reads("search/found/", search, "found")
	found.bare = true
	return []page{reads("search/", searchPage, "search"), found}
}
