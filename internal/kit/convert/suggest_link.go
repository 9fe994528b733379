package convert

import (
	"slices"
	"strings"
)

// tableLink is a column whose values are found in a column of another table.
type tableLink struct {
	own, theirs int
	score       float64
	missing     int // values that the other table does not have
	compared    int
}

// linkedFrom is the score from which two columns are taken for a link: the values match, and either
// the names do or the other column has every value once.
const linkedFrom = 1.25

// rowKeys are names of keys that nobody outside of a database knows.
var rowKeys = []string{"id", "uid", "key", "seq", "sequence"}

// accountColumn finds the column with the account number by examples or by its name, or returns -1.
func (t *suggestedTable) accountColumn() int {
	if t.numbered >= 0 {
		return t.numbered
	}
	best, most := -1, 0.0
	kind := &tableKind{name: "account"}
	for i := range t.columns {
		style := t.styles[i]
		if t.columns[i] == "" || style.emails || style.instants != "" || style.days != "" && style.days != "YYYYMMDD" {
			continue
		}
		score, words := matchName(t.names[i], kind, "account", []string{"customer"})
		// In a table of accounts, a number that is not only a key of the database is theirs.
		if slices.Equal(t.names[i][0], []string{"number"}) && slices.Contains(fileWords(t.file), "account") && !slices.Contains(rowKeys, plainName(t.columns[i])) {
			score = max(score, 0.95)
		}
		if score += 0.01 * float64(words); score >= placedFrom && score > most {
			best, most = i, score
		}
	}
	return best
}

// findLink finds the column of a table that refers to another table. Values decide; names only
// choose between columns whose values match. It returns nil if there is none or several.
func (t *suggestedTable) findLink(other *suggestedTable, allowed func(own, theirs int) bool) *tableLink {
	var best *tableLink
	tie := false
	for own := range t.columns {
		if !t.keyLike(own) {
			continue
		}
		for theirs := range other.columns {
			if !other.keyLike(theirs) || !allowed(own, theirs) {
				continue
			}
			link := t.compareKeys(other, own, theirs)
			if link == nil {
				continue
			}
			switch {
			case best == nil || link.score > best.score+tied:
				best, tie = link, false
			case link.score > best.score-tied:
				tie = true
			}
		}
	}
	if tie {
		return nil
	}
	return best
}

// separates returns which columns can link two tables. If both have values more than once, each row would
// belong to several others. Account numbers that occur twice are reported when they are converted.
func (t *suggestedTable) separates(other *suggestedTable) func(own, theirs int) bool {
	return func(own, theirs int) bool {
		return theirs == other.account || !t.sketches[own].repeats() || !other.sketches[theirs].repeats()
	}
}

// keyLike reports whether a column could be a key.
func (t *suggestedTable) keyLike(column int) bool {
	style := t.styles[column]
	dated := style.instants != "" || style.days != "" && style.days != "YYYYMMDD"
	fraction := style.numbers && !style.wholes
	// Two tables often have the same addresses, which identify nobody.
	for _, word := range t.names[column][0] {
		if slices.Contains([]string{"address", "street", "city", "county", "postcode"}, word) {
			return false
		}
	}
	return t.columns[column] != "" && !dated && !style.emails && !fraction && len(t.sketches[column].queue) > 0
}

// compareKeys compares two columns, or returns nil if they do not belong together.
func (t *suggestedTable) compareKeys(other *suggestedTable, own, theirs int) *tableLink {
	link := &tableLink{own: own, theirs: theirs}
	a, b := &t.sketches[own], &other.sketches[theirs]
	link.missing, link.compared = a.missingIn(b)
	if link.compared == 0 || link.missing*2 > link.compared {
		return nil
	}
	unique := 1 - float64(b.repeated())/float64(len(b.queue))
	link.score = 1 - float64(link.missing)/float64(link.compared) + 0.4*unique
	names := plainName(t.columns[own]) == plainName(other.columns[theirs])
	words := overlap(t.names[own][0], append(slices.Clone(other.names[theirs][0]), fileWords(other.file)...))
	switch {
	case names:
		link.score += 0.5
	case words:
		link.score += 0.2
	// Small numbers are in many columns.
	case t.styles[own].longest < 4:
		return nil
	}
	if link.score < linkedFrom {
		return nil
	}
	return link
}

// overlap reports whether two names share a word that means something.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool {
		return len(word) > 1 && word != "number" && word != "reference" && !slices.Contains(noiseWords, word) && slices.Contains(b, word)
	})
}

// relate finds the table that a table belongs to.
func (g *guesser) relate(t *suggestedTable) {
	if t.placement == nil || t.is(g.kind("accounts")) {
		return
	}
	kind := t.placement.kind
	t.keys = map[int]bool{}
	if kind.parent == nil {
		g.relateToAccounts(t)
		return
	}
	t.account = -1
	// The nearest table it can be inside of, by values.
	for outer := kind.parent; outer != nil; outer = outer.parent {
		for _, other := range g.tables {
			if other == t || other.placement == nil || other.placement.kind != outer {
				continue
			}
			link := t.findLink(other, t.separates(other))
			if link != nil && (t.link == nil || link.score > t.link.score) {
				t.parent, t.link = other, link
			}
		}
		if t.parent != nil {
			break
		}
	}
	if t.parent == nil { // the values do not tell; a person has to
		for outer := kind.parent; outer != nil && t.parent == nil; outer = outer.parent {
			for _, other := range g.tables {
				if other != t && other.is(outer) {
					t.parent = other
				}
			}
		}
	}
	if t.parent != nil {
		t.parent.children = append(t.parent.children, t)
	}
	if t.link != nil {
		t.keys[t.link.own] = true
	}
}

// relateToAccounts finds the account of rows that are lines of their own. If they refer to another
// column of the accounts, they go inside them.
func (g *guesser) relateToAccounts(t *suggestedTable) {
	for _, other := range g.tables {
		if other == t || !other.is(g.kind("accounts")) {
			continue
		}
		if other.account >= 0 {
			if link := t.findLink(other, func(_, theirs int) bool { return theirs == other.account }); link != nil {
				t.account, t.keys = link.own, map[int]bool{link.own: true}
				return
			}
		}
		if link := t.findLink(other, t.separates(other)); link != nil && t.placement.kind.within != "" {
			t.account, t.keys = -1, map[int]bool{link.own: true}
			t.parent, t.link = other, link
			other.children = append(other.children, t)
			return
		}
		t.account = -1 // no column has these account numbers
		return
	}
	if t.account >= 0 {
		t.keys[t.account] = true
	}
}

// place returns the attr of the parent that holds the rows of a table.
func (t *suggestedTable) path() string {
	if t.placement.kind.parent == nil {
		return t.placement.kind.within
	}
	var names []string
	for _, kind := range t.placement.kind.pathFrom(t.parent.placement.kind) {
		names = append(names, kind.attr)
	}
	return strings.Join(names, ".")
}

// findAccountColumn finds the column of the accounts that other tables refer to, if its name does not
// tell: the only one with a value once in every row.
func (g *guesser) findAccountColumn(t *suggestedTable) {
	best, most, tie := -1, 0, false
	for theirs := range t.columns {
		if !t.keyLike(theirs) || t.sketches[theirs].repeats() {
			continue
		}
		count := 0
		for _, other := range g.tables {
			if other != t && other.findLink(t, func(_, column int) bool { return column == theirs }) != nil {
				count++
			}
		}
		if count > most {
			best, most, tie = theirs, count, false
		} else if count == most && count > 0 {
			tie = true
		}
	}
	if best >= 0 && !tie {
		t.account, t.keys = best, map[int]bool{best: true}
	}
}
