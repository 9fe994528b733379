package console

import (
	"crypto/sha256"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"landfall"
)

// Many pairs are on several pages, each pair on one of them.
func TestPairsAreOnSeveralPages(t *testing.T) {
	h := newTestConsole(t)
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.CreateSupplier(ctx, landfall.NewSupplier("NORTH")) }); err != nil {
		t.Fatal(err)
	}
	const pairs = maxDuplicates + 7
	for i := range 2 * pairs {
		document := fmt.Appendf(nil, `{"n":%d}`, i)
		if _, err := h.store.Stage(ctx, landfall.Staging{
			Key: landfall.Key{Supplier: "NORTH", External: fmt.Sprintf("X%04d", i)}, Document: document, Hash: sha256.Sum256(document), Figures: landfall.Figures{Currency: "GBP"},
			Identifiers: []landfall.Identifier{{Kind: landfall.IdentifierSupplyPoint, Space: "GAS", Value: fmt.Sprint("point", i/2), Attr: "supply_addresses.0.supply_points.0.identifier"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	sam := h.signedIn(landfall.ConsoleSupport)
	seen, pages := map[string]int{}, 0
	const base = "/console/suppliers/NORTH/duplicates/"
	for path := base; path != ""; pages++ {
		body := sam.wantPage(path, "share an identifier")
		for _, found := range regexp.MustCompile(`<bdi>X\d{4}</bdi>`).FindAllString(body, -1) {
			seen[found]++
		}
		path = ""
		if link := regexp.MustCompile(`<a href="([^"]+\?after=[^"]+)">More pairs`).FindStringSubmatch(body); link != nil {
			path = html.UnescapeString(link[1])
		}
	}
	if pages != 2 || len(seen) != pairs {
		t.Errorf("%d pages have %d accounts", pages, len(seen))
	}
	for name, count := range seen {
		if count != 1 {
			t.Errorf("%s is there %d times", name, count)
		}
	}
	if status, _ := sam.get(base + "?after=nonsense"); status != 400 {
		t.Errorf("a made-up cursor gets %d", status)
	}
}

// The pairs of many accounts are searched for in parts, which the browser asks for.
func TestPairsAreSearchedForInParts(t *testing.T) {
	h := newTestConsole(t)
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.CreateSupplier(ctx, landfall.NewSupplier("NORTH")) }); err != nil {
		t.Fatal(err)
	}
	const accounts = 2 * maxSearched
	var stagings []landfall.Staging
	for i := range accounts {
		document := fmt.Appendf(nil, `{"n":%d}`, i)
		stagings = append(stagings, landfall.Staging{
			Key: landfall.Key{Supplier: "NORTH", External: fmt.Sprintf("X%05d", i)}, Document: document, Hash: sha256.Sum256(document), Figures: landfall.Figures{Currency: "GBP"},
			// The last account has the same as the first.
			Identifiers: []landfall.Identifier{{Kind: landfall.IdentifierSupplyPoint, Space: "GAS", Value: fmt.Sprint("point", i%(accounts-1)), Attr: "supply_addresses.0.supply_points.0.identifier"}},
		})
	}
	for group := range slices.Chunk(stagings, 500) {
		for _, result := range h.store.StageAll(ctx, group, nil) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
	}
	sam := h.signedIn(landfall.ConsoleSupport)
	body := sam.wantPage("/console/suppliers/NORTH/duplicates/", "Searched up to account")
	if !strings.Contains(body, "<bdi>X00000</bdi>") {
		t.Error("the pair is not on the page of its first account")
	}
	parts := 1
	for ; parts < 100; parts++ {
		next := regexp.MustCompile(`hx-get="([^"]+)"`).FindStringSubmatch(body[strings.LastIndex(body, "Searched up to")-300:])
		if body = sam.wantPage(html.UnescapeString(next[1]), ""); strings.Contains(body, "<html") {
			t.Fatal("a part is a whole page")
		}
		if !strings.Contains(body, "Searched up to") {
			break
		}
	}
	if parts < 3 || !strings.Contains(body, "There are no other pairs.") {
		t.Errorf("%d parts, and the last one is %s", parts, body)
	}
}

// The form of a supplier's settings has the unit of statements.
func TestSettingsHaveTheUnitOfStatements(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	boss := h.signedIn(landfall.ConsoleAdministrator)
	const path = "/console/suppliers/NORTH/settings/"
	form := url.Values{
		"name": {"North"}, "currency": {"GBP"}, "region": {"GB"}, "time_zone": {"Europe/London"}, "document_root": {"/north/"}, "concurrency_limit": {"0"},
		"undo_window": {"72h"}, "keep_staged": {"0"}, "keep_failures": {"0"}, "keep_mails": {"0"}, "keep_events": {"0"}, "keep_runs": {"0"}, "mail_delay": {"0"},
	}
	for _, unit := range []string{"minor", ""} {
		form.Set("statement_amounts", unit)
		if unit == "" {
			form.Del("statement_amounts")
		}
		if status, body := boss.post(path, form); status >= 400 {
			t.Fatalf("%d %s", status, body)
		}
		body := boss.wantPage(path, "sent in minor units")
		at := strings.Index(body, `name="statement_amounts"`)
		if checked := strings.Contains(body[at:at+80], "checked"); checked != (unit == "minor") {
			t.Errorf("after %q the box is checked: %v", unit, checked)
		}
	}
}
