package contract

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/unicode/norm"

	"landfall"
)

// Search terms of accounts and search queries go through the same functions, so
// that one finds the other.

const (
	maxTermBytes   = 96  // bytes; longer queries are rare, and indexes have limits
	maxQueryBytes  = 200 // bytes of a query
	maxNameWords   = 6   // words of a name that are indexed
	minPhoneDigits = 4   // for a query to be searched as a phone number
)

// SearchTerms returns the search terms of an account. If the index only finds
// whole terms, each word of a name is a term of its own.
func SearchTerms(data *landfall.AccountData, region string, whole bool) []landfall.SearchTerm {
	var terms []landfall.SearchTerm
	add := func(kind landfall.TermKind, text string) {
		if text != "" {
			terms = append(terms, landfall.SearchTerm{Kind: kind, Text: truncateTerm(text)})
		}
	}
	name := func(text string) {
		words := nameWords(text)
		words = words[:min(len(words), maxNameWords)]
		// A name is found by any of its words followed by the next ones, so it is
		// indexed once per word, rotated.
		for i := range words {
			add(landfall.TermName, strings.Join(slices.Concat(words[i:], words[:i]), " "))
			if whole {
				add(landfall.TermName, words[i])
			}
		}
	}
	name(data.BillingName)
	for i := range data.Customers {
		customer := &data.Customers[i]
		name(customer.GivenName + " " + customer.FamilyName)
		add(landfall.TermEmail, strings.ToLower(customer.Email))
		add(landfall.TermPhone, phoneTerm(customer.Mobile, callingCode(region)))
		add(landfall.TermPhone, phoneTerm(customer.Landline, callingCode(region)))
	}
	add(landfall.TermPostcode, keepAlphanumeric(data.BillingAddress.PostalCode))
	for i := range data.SupplyAddresses {
		place := &data.SupplyAddresses[i]
		add(landfall.TermPostcode, keepAlphanumeric(place.Address.PostalCode))
		for j := range place.SupplyPoints {
			add(landfall.TermSupplyPoint, keepAlphanumeric(place.SupplyPoints[j].Identifier))
		}
	}
	slices.SortFunc(terms, func(a, b landfall.SearchTerm) int {
		return strings.Compare(string(a.Kind)+a.Text, string(b.Kind)+b.Text)
	})
	return slices.Compact(terms)
}

// SearchWords returns what a query may mean for suppliers in the given regions.
// Queries that cannot be of a kind are not searched as that kind.
func SearchWords(words string, regions []string) landfall.SearchQuery {
	words = strings.Join(strings.Fields(strings.ToValidUTF8(words, "")), " ")
	words = strings.ReplaceAll(words[:min(len(words), maxQueryBytes)], "\x00", "")
	words = strings.ToValidUTF8(words, "")
	var query landfall.SearchQuery
	if words == "" {
		return query
	}
	if number, can := landfall.AccountNumberPrefix(words); can {
		query.Numbers = []string{number}
	}
	for _, spelled := range []string{words, strings.ToUpper(words), strings.ToLower(words)} {
		if !slices.Contains(query.Externals, spelled) {
			query.Externals = append(query.Externals, spelled)
		}
	}
	add := func(kind landfall.TermKind, text string) {
		term := landfall.SearchTerm{Kind: kind, Text: truncateTerm(text)}
		if text != "" && !slices.Contains(query.Terms, term) {
			query.Terms = append(query.Terms, term)
		}
	}
	if !strings.Contains(words, " ") {
		add(landfall.TermEmail, strings.ToLower(words))
	}
	if strings.Contains(words, "@") {
		return query
	}
	if phoneSyntax(words) && len(phoneTerm(words, "")) >= minPhoneDigits {
		for _, region := range regions {
			add(landfall.TermPhone, phoneTerm(words, callingCode(region)))
		}
	}
	if short := keepAlphanumeric(words); strings.ContainsAny(short, "0123456789") {
		add(landfall.TermPostcode, short)
		add(landfall.TermSupplyPoint, short)
	} else {
		add(landfall.TermName, strings.Join(nameWords(words), " "))
	}
	return query
}

// nameWords returns the words of a name without accents and case: Zoë O'Hara-Li
// is found by zoe, ohara and li.
func nameWords(name string) []string {
	var plain strings.Builder
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			plain.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '.':
		default:
			plain.WriteByte(' ')
		}
	}
	return strings.Fields(plain.String())
}

// keepAlphanumeric keeps only the letters and digits of a postcode or identifier,
// because people place spaces differently.
func keepAlphanumeric(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, text)
}

// phoneTerm returns the digits of a phone number in international form, so that
// 07700 900123 equals +44 7700 900123. Extensions are dropped. A prefix of a
// number gives a prefix of its digits.
func phoneTerm(text, calling string) string {
	if at := strings.IndexAny(text, "eExX"); at >= 0 {
		text = text[:at]
	}
	abroad := strings.HasPrefix(strings.TrimSpace(text), "+")
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.Replace(text, "(0)", "", 1))
	switch {
	case abroad, digits == "":
		return digits
	case strings.HasPrefix(digits, "00"):
		return digits[2:]
	case calling == "":
		return digits
	}
	return calling + strings.TrimPrefix(digits, "0")
}

// callingCode returns the calling code of a region, such as 44, or "".
func callingCode(region string) string {
	if code := phonenumbers.GetCountryCodeForRegion(region); code != 0 {
		return strconv.Itoa(code)
	}
	return ""
}

// truncateTerm truncates a term to maxTermBytes.
func truncateTerm(text string) string {
	if len(text) <= maxTermBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxTermBytes], "")
}
