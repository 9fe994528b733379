// Package spelling suggests names similar to a mistyped one, for "Did you mean"
// messages.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// maxLength limits the work that a caller can cause.
const maxLength = 128

// Near returns up to three known names similar to the typed one, the most
// similar first. It ignores case.
func Near(typed string, known []string) []string {
	if len(typed) > maxLength {
		return nil
	}
	typed = strings.ToLower(typed)
	type guess struct {
		name  string
		slips int
	}
	var guesses []guess
	for _, name := range known {
		lower := strings.ToLower(name)
		if len(lower) > maxLength {
			continue
		}
		slips := Distance(typed, lower)
		part := len(typed) >= 4 && strings.Contains(lower, typed)
		// Allow one edit, plus one for every four letters.
		if part || slips <= 1+min(len(lower), len(typed))/4 {
			guesses = append(guesses, guess{name, slips})
		}
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(a.slips, b.slips) })
	var names []string
	for _, guess := range guesses[:min(3, len(guesses))] {
		names = append(names, guess.name)
	}
	return names
}

// Hint returns a sentence with suggestions, or "".
func Hint(typed string, known []string) string {
	names := Near(typed, known)
	if len(names) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(names, ", ") + "?"
}

// Distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn one name into the other.
func Distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
