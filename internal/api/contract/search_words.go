package contract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"landfall"
)

const (
	maxQueryBytes  = 200 // bytes of a query
	minPhoneDigits = 4   // for a word to be searched as a part of a phone number
	// minSimilar is how long a word must be to be searched with a typing mistake. A
	// shorter one would find almost anything.
	minSimilar = 4
)

// SearchWords returns what a query may mean for suppliers in the given regions. Each
// word must be found; a word is searched only as the kinds of text that it can be.
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
	if tail := strings.TrimPrefix(strings.ToUpper(words), "A-"); len(tail) >= minTail && landfall.AccountNumberTail(tail) {
		query.NumberTails = []string{tail}
	}
	for _, spelled := range []string{words, strings.ToUpper(words), strings.ToLower(words)} {
		if !slices.Contains(query.Externals, spelled) {
			query.Externals = append(query.Externals, spelled)
		}
	}
	for _, word := range splitQuery(words) {
		if one := searchWord(word, regions); len(one.Matches) > 0 && len(query.Words) < maxWords {
			query.Words = append(query.Words, one)
		}
	}
	return query
}

// splitQuery splits a query into words. The groups of a phone number or a postcode are
// one word.
func splitQuery(text string) (words []string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == ';' }) {
		if last := len(words) - 1; last >= 0 && belongTogether(words[last], part) {
			words[last] += part
			continue
		}
		// A double name has two words.
		if names := nameWords(part); len(names) > 1 && !hasDigit(part) && !strings.Contains(part, "@") {
			words = append(words, names...)
			continue
		}
		words = append(words, part)
	}
	return words
}

// belongTogether reports whether two parts of a query are one word: groups of digits, as
// in 07700 900 123, or the two parts of a postcode, as in NR2 1AB or 1012 AB.
func belongTogether(first, second string) bool {
	switch {
	case groupOfDigits(first) && groupOfDigits(second):
		return true
	case !hasDigit(first) || len(second) > 3:
		return false
	}
	letters := strings.TrimLeft(second, "0123456789")
	digits := len(second) - len(letters)
	return len(letters) == 2 && alphabetic(letters) && (digits == 1 && !alphabetic(first) || digits == 0 && len(first) == 4 && groupOfDigits(first))
}

func hasDigit(text string) bool { return strings.ContainsAny(text, "0123456789") }

func groupOfDigits(text string) bool {
	return hasDigit(text) && strings.Trim(text, "0123456789+()-.") == ""
}

func alphabetic(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// searchWord returns what one word may mean.
func searchWord(word string, regions []string) (one landfall.SearchWord) {
	add := func(match landfall.TermMatch) {
		match.Text = truncateTerm(match.Text)
		if match.Text != "" && !slices.Contains(one.Matches, match) {
			one.Matches = append(one.Matches, match)
		}
	}
	begins := func(kind landfall.TermKind, text string) {
		add(landfall.TermMatch{SearchTerm: landfall.SearchTerm{Kind: kind, Text: text}})
	}
	similar := func(kind landfall.TermKind, text, alphabet string) {
		if utf8.RuneCountInString(text) >= minSimilar {
			for _, other := range similarTexts(truncateTerm(text), alphabet) {
				one.Similar = append(one.Similar, landfall.SearchTerm{Kind: kind, Text: other})
			}
		}
	}
	const letters, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	if strings.Contains(word, "@") {
		begins(landfall.TermEmail, strings.ToLower(word))
		similar(landfall.TermEmail, strings.ToLower(word), letters+digits+".-_@")
		return one
	}
	plain, compact := nameWords(word), keepAlphanumeric(word)
	if !hasDigit(word) {
		if len(plain) > 0 {
			begins(landfall.TermName, plain[0])
			begins(landfall.TermAddress, plain[0])
			similar(landfall.TermName, plain[0], letters)
			similar(landfall.TermAddress, plain[0], letters)
		}
		begins(landfall.TermEmail, strings.ToLower(word))
		if len(compact) <= 2 { // the area of a postcode
			begins(landfall.TermPostcode, compact)
		}
		return one
	}
	begins(landfall.TermPostcode, compact)
	begins(landfall.TermSupplyPoint, compact)
	if len(compact) >= minTail {
		begins(landfall.TermNumber, reverse(compact))
	}
	if len(plain) == 1 {
		begins(landfall.TermAddress, plain[0])
	}
	begins(landfall.TermEmail, strings.ToLower(word))
	similar(landfall.TermPostcode, compact, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"+digits)
	similar(landfall.TermNumber, reverse(compact), digits)
	if !phoneSyntax(word) || len(onlyDigits(word)) < minPhoneDigits {
		return one
	}
	for _, region := range regions {
		whole := phoneTerm(word, callingCode(region))
		begins(landfall.TermPhone, whole)
		similar(landfall.TermPhone, whole+phoneEnd, digits)
		similar(landfall.TermPhone, whole, digits)
	}
	// Any part of the number, with and without the zeros that only some write.
	typed := phoneTerm(word, "")
	for _, part := range []string{strings.TrimLeft(typed, "0"), typed} {
		if len(part) >= minPhoneDigits {
			add(landfall.TermMatch{SearchTerm: landfall.SearchTerm{Kind: landfall.TermPhone, Text: part}, Inexact: true})
			add(landfall.TermMatch{SearchTerm: landfall.SearchTerm{Kind: landfall.TermPhone, Text: part[1:]}, Ending: phoneEnd + part[:1], Inexact: true})
		}
	}
	return one
}

// similarTexts returns the texts that differ from one by a typing mistake: a letter too
// few, too many or wrong, or two letters swapped.
func similarTexts(text, alphabet string) []string {
	letters := []rune(text)
	seen := map[string]bool{text: true}
	var all []string
	add := func(parts ...[]rune) {
		if other := string(slices.Concat(parts...)); !seen[other] {
			seen[other] = true
			all = append(all, other)
		}
	}
	for i := range len(letters) + 1 {
		before, after := letters[:i], letters[i:]
		for _, r := range alphabet {
			add(before, []rune{r}, after)
			if len(after) > 0 {
				add(before, []rune{r}, after[1:])
			}
		}
		if len(after) > 0 {
			add(before, after[1:])
		}
		if len(after) > 1 {
			add(before, []rune{after[1], after[0]}, after[2:])
		}
	}
	return all
}
