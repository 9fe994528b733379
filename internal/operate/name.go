package operate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"landfall/internal/rules"
)

// The longest texts an operator may give.
const (
	longestName   = 128
	longestReason = 500
	longestRoot   = 1024
)

// checkLine refuses a text that people could not see, tell apart or type
// again: blank, over long, with blanks around it or with invisible characters.
func checkLine(attr, what, text string, longest int) error {
	count := utf8.RuneCountInString(text)
	switch {
	case strings.TrimSpace(text) == "":
		return invalid(attr, rules.CodeBlank, "%s must not be blank.", what)
	case count > longest:
		return invalid(attr, rules.CodeMaxLength, "%s has %d characters; at most %d are allowed.", what, count, longest)
	case strings.TrimSpace(text) != text:
		return invalid(attr, rules.CodeInvalidCharacters, "%s must not begin or end with a blank.", what)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return invalid(attr, rules.CodeInvalidCharacters, "%s must not contain control or invisible characters.", what)
	}
	return nil
}

// hint says which of the known words somebody may have meant, and which command
// lists them all.
func hint(word string, known []string, listing string) string {
	all := "See them all with: " + listing
	if words := near(word, known); len(words) > 0 {
		return "Did you mean " + strings.Join(words, ", ") + "? " + all
	}
	return all
}

// near gives up to three of the known words that somebody may have meant, the
// likeliest first. Capitals count for nothing: they are mistyped too.
func near(word string, known []string) []string {
	word = strings.ToLower(word[:min(len(word), longestName)])
	steps := map[string]int{}
	var words []string
	for _, candidate := range known {
		steps[candidate] = distance(word, strings.ToLower(candidate))
		part := len(word) >= 4 && strings.Contains(strings.ToLower(candidate), word)
		if part || steps[candidate] <= 1+len(candidate)/4 {
			words = append(words, candidate)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return steps[a] - steps[b] })
	return words[:min(3, len(words))]
}

// distance counts the letters to change, add or drop between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
