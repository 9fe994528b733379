package console

import (
	"errors"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/console/accountview"
)

// palettePage is what the palette (Ctrl-K) offers for what was typed: accounts,
// suppliers, runs and pages. Without JavaScript the search page does the job.
type palettePage struct {
	Query string
	Items []paletteItem
}

// paletteItem is a place to go to.
type paletteItem struct{ Kind, Name, Detail, Path string }

// matches reports whether every word is a part of the item's text.
func (i paletteItem) matches(words []string) bool {
	text := strings.ToLower(i.Kind + " " + i.Name + " " + i.Detail)
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// The palette shows the first few of each kind.
const (
	maxPaletteAccounts = 6
	maxPaletteItems    = 14
)

func showPalette(r *pageRequest) (any, error) {
	page := palettePage{Query: r.queryParam("q")}
	places, err := r.places()
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(page.Query))
	for _, place := range places {
		if len(page.Items) < maxPaletteItems-maxPaletteAccounts && place.matches(words) {
			page.Items = append(page.Items, place)
		}
	}
	if page.Query == "" {
		return page, nil
	}
	if id := strings.ToUpper(page.Query); strings.HasPrefix(id, "R-") {
		if facts, err := r.operator().ShowRun(r.Context(), id, 0); err == nil {
			page.Items = append(page.Items, paletteItem{"Run", facts.ID, facts.Plan.Supplier + ", " + stateLabel(facts.State), consolePath("runs", facts.ID)})
		}
	}
	results, err := r.operator().Search(r.Context(), page.Query)
	// A query that is too short for accounts still finds pages.
	if refusal, known := errors.AsType[*landfall.Error](err); known && refusal.Kind == landfall.Invalid {
		return page, nil
	}
	for _, found := range accountview.NewSearchResults(results).Accounts {
		if len(page.Items) == maxPaletteItems {
			break
		}
		name := string(found.AccountNumber)
		if name == "" {
			name = found.External
		}
		page.Items = append(page.Items, paletteItem{"Account", name, strings.Trim(found.Supplier+" "+found.External+", "+found.Name, ", "), consolePath("accounts", found.Supplier, found.External)})
	}
	return page, err
}

// places are the pages that the reader may open: suppliers with their tabs, and the
// administration.
func (r *pageRequest) places() (places []paletteItem, err error) {
	suppliers, err := r.operator().Suppliers(r.Context())
	if err != nil {
		return nil, err
	}
	for _, supplier := range suppliers {
		places = append(places, paletteItem{"Supplier", supplier.Code, supplier.Name, consolePath("suppliers", supplier.Code)})
	}
	places = append(places, paletteItem{"Page", "Overview", "all suppliers", Root}, paletteItem{"Page", "Profile", "password, second factor, passkeys", consolePath("me")})
	if r.me.May(landfall.MayInspect, "") {
		for _, one := range adminHead("", "").Tabs {
			if one.Name == "Operators" && !r.me.May(landfall.MaySeePeople, "") || one.Name == "Audit" && !r.me.May(landfall.MayAudit, "") {
				continue
			}
			places = append(places, paletteItem{"Page", one.Name, "administration", one.Path})
		}
	}
	if r.me.May(landfall.MayAdminister, "") {
		places = append(places, paletteItem{"Page", "Add a supplier", "administration", consolePath("admin", "suppliers", "new")})
	}
	for _, supplier := range suppliers {
		for _, one := range supplierHead(supplier.Code, "", "").Tabs[1:] {
			places = append(places, paletteItem{"Page", supplier.Code + ": " + one.Name, supplier.Name, one.Path})
		}
	}
	return places, nil
}

func paletteRoutes() []route {
	palette := get("palette/", showPalette, "palette").requiring(0)
	palette.partial = true
	return []route{palette}
}
