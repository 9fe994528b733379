package handbook

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// section is a part of a page that a search finds.
type section struct {
	anchor, title string
	level         int
	words         []string
}

var wordPattern = regexp.MustCompile(`[\pL\pN]+(?:[-_.][\pL\pN]+)*`)

const (
	minWordLength = 3
	maxWordLength = 40
)

// wordsOf returns the words of a text in lower case, and the parts of words such as
// invalid_phone_number.
func wordsOf(text string) (words []string) {
	for _, found := range wordPattern.FindAllString(strings.ToLower(text), -1) {
		parts := strings.FieldsFunc(found, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		for _, part := range append(parts, found) {
			if len(part) >= minWordLength && len(part) <= maxWordLength {
				words = append(words, part)
			}
		}
	}
	return words
}

// searchIndex lists all sections, and for each word the numbers of the sections that have it. It is
// a script, because a page that was opened as a file may not read other files.
func searchIndex(pages []*page) ([]byte, error) {
	type place [2]string // address and title
	places := []place{}
	found := map[string][]int{}
	for _, made := range pages {
		for _, part := range made.sections {
			address, title := made.name, made.title
			if part.level > 1 {
				address, title = address+"#"+part.anchor, title+" › "+part.title
			}
			number := len(places)
			places = append(places, place{address, title})
			words := slices.Sorted(slices.Values(append(part.words, wordsOf(part.title)...)))
			for _, word := range slices.Compact(words) {
				found[word] = append(found[word], number)
			}
		}
	}
	// As lines of text this is half as long as in JSON.
	var lines strings.Builder
	for _, word := range slices.Sorted(maps.Keys(found)) {
		lines.WriteString(word)
		last := 0
		for _, number := range found[word] {
			lines.WriteByte(' ')
			lines.WriteString(base36(number - last))
			last = number
		}
		lines.WriteByte('\n')
	}
	text, err := json.Marshal(map[string]any{"places": places, "words": lines.String()})
	if err != nil {
		return nil, err
	}
	return append(append([]byte("window.handbookIndex = "), text...), ";\n"...), nil
}
