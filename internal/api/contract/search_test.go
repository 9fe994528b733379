package contract

import (
	"slices"
	"strings"
	"testing"

	"landfall"
)

func sought() *landfall.AccountData {
	return &landfall.AccountData{
		BillingName:    "Ms Zoë O'Hara-Li",
		BillingAddress: landfall.Address{PostalCode: "sw1y 4jh"},
		Customers: []landfall.Customer{{
			GivenName: "Ada", FamilyName: "Lovelace", Email: "Ada@Mail.co.uk", Mobile: "07400 123456", Landline: "+44 (0)20 7946 0123 x12",
		}},
		SupplyAddresses: []landfall.SupplyAddress{{
			Address: landfall.Address{PostalCode: "SW1Y4JH"}, SupplyPoints: []landfall.SupplyPoint{{Identifier: "12 0002-3305"}},
		}},
	}
}

// finds reports whether the words match the account, as prefixes or as whole
// words.
func finds(words string, whole bool) bool {
	entered := dataTerms(sought(), "GB", whole)
	query := SearchWords(words, []string{"DE", "GB"}).Words
	for _, word := range query {
		if !slices.ContainsFunc(word.Matches, func(wanted landfall.TermMatch) bool {
			return slices.ContainsFunc(entered, func(term landfall.SearchTerm) bool {
				return term == wanted.SearchTerm ||
					!whole && term.Kind == wanted.Kind && strings.HasPrefix(term.Text, wanted.Text) && strings.HasSuffix(term.Text, wanted.Ending)
			})
		}) {
			return false
		}
	}
	return len(query) > 0
}

func TestSearchWordsMatchStoredTerms(t *testing.T) {
	for _, words := range []string{
		"lovelace", "LOVE", "ada love", "Lovelace, Ada", "zoe", "Zoë O’Hara", "ohara li", "li",
		"ada@mail", "ADA@mail.co.uk", "ada", "07400 12", "+447400123456", "0044 7400 123456", "020 7946", "+44 20 7946 0123",
		"SW1Y 4JH", "sw1y", "1200023305", "12 0002", "ada sw1y", "3305", "7400", "0123",
	} {
		if !finds(words, false) {
			t.Errorf("%q does not find the account", words)
		}
	}
	for _, words := range []string{"", "velace", "ada hopper", "ada@mail.com", "740", "4JH", "020002330", "ada ls1", "\x00", "%", "*"} {
		if finds(words, false) {
			t.Errorf("%q finds the account", words)
		}
	}
}

func TestExactTermsAreFoundWithoutPrefix(t *testing.T) {
	for _, words := range []string{"lovelace", "Ada Lovelace", "lovelace ada", "ada@mail.co.uk", "07400123456", "sw1y4jh", "1200023305"} {
		if !finds(words, true) {
			t.Errorf("%q does not find the account", words)
		}
	}
	if finds("lovel", true) || finds("07400", true) {
		t.Error("a beginning finds the account")
	}
}

func TestTermsAreLimited(t *testing.T) {
	data := sought()
	data.BillingName = strings.Repeat("ö ", 4000)
	data.Customers[0].Email = strings.Repeat("é", 4000) + "@mail.co.uk"
	terms := dataTerms(data, "GB", true)
	if len(terms) > 40 {
		t.Errorf("%d terms", len(terms))
	}
	for _, term := range terms {
		if len(term.Text) > maxTermBytes {
			t.Errorf("a term of %d bytes", len(term.Text))
		}
	}
	if query := SearchWords(strings.Repeat("ö", 1<<20), nil); len(query.Externals[0]) > maxQueryBytes {
		t.Errorf("words of %d bytes", len(query.Externals[0]))
	}
}

func TestAccountNumbersAreFoundInAnyCase(t *testing.T) {
	for words, number := range map[string]string{"a-7k3m": "A-7K3M", "A7K3M9Q2B": "A-7K3M9Q2B", "a-": "", "ADA": "A-DA", "A-7K3M9Q2BX": "", "B-7": ""} {
		query := SearchWords(words, nil)
		if got := strings.Join(query.Numbers, " "); got != number {
			t.Errorf("%q is looked for as the number %q, want %q", words, got, number)
		}
	}
}
