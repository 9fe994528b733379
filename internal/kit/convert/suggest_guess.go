package convert

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// guesser decides what tables contain and how they belong together.
type guesser struct {
	kinds  []*tableKind
	tables []*suggestedTable
}

// kind returns a kind by its name.
func (g *guesser) kind(name string) *tableKind {
	at := slices.IndexFunc(g.kinds, func(kind *tableKind) bool { return kind.name == name })
	return g.kinds[at]
}

// guess decides what each table contains, then where it belongs.
func (g *guesser) guess() {
	accounts := g.kind("accounts")
	fits := map[*suggestedTable]float64{}
	for _, t := range g.tables {
		if t.account = t.accountColumn(); t.account >= 0 {
			t.keys[t.account] = true
		}
		t.placement, fits[t] = g.bestKind(t, nil)
	}
	g.split()
	// There is one table of accounts.
	var main *suggestedTable
	for _, t := range g.tables {
		if t.is(accounts) && (main == nil || fits[t] > fits[main]) {
			main = t
		}
	}
	for _, t := range g.tables {
		if t.is(accounts) && t != main {
			t.placement, _ = g.bestKind(t, accounts)
		}
	}
	home := g.home()
	for _, t := range g.tables {
		if t.above == nil {
			g.lift(t, t == home)
		}
	}
	for _, t := range g.tables {
		if t.is(accounts) && t.account < 0 {
			g.findAccountColumn(t)
		}
	}
	for _, t := range g.tables {
		g.relate(t)
	}
	for _, t := range g.tables {
		if t.placement != nil {
			t.placement = t.place(g.kinds, t.placement.kind, g.coveredFor(t))
		}
	}
	for _, t := range g.tables {
		if t.above != nil {
			g.share(t)
		}
	}
	slices.SortStableFunc(g.tables, func(a, b *suggestedTable) int { return cmp.Compare(g.rank(a), g.rank(b)) })
}

// is reports whether a table is of a kind.
func (t *suggestedTable) is(kind *tableKind) bool {
	return t.placement != nil && t.placement.kind == kind
}

// coveredFor tells which kinds have a table of their own.
func (g *guesser) coveredFor(t *suggestedTable) func(*tableKind) bool {
	return func(kind *tableKind) bool {
		return slices.ContainsFunc(g.tables, func(other *suggestedTable) bool {
			return other != t && other.placement != nil && (other.is(kind) || other.placement.has(kind) && kind.isInside(other.placement.kind))
		})
	}
}

// bestKind finds the most likely kind of a table, by its name and its columns.
func (g *guesser) bestKind(t *suggestedTable, but *tableKind) (best *placement, most float64) {
	nothing := func(*tableKind) bool { return false }
	if kind := t.learned.kindOf(t); kind != nil && kind != but {
		return t.place(g.kinds, kind, nothing), 10
	} else if kind == nil && t.copied {
		return nil, 0 // its place is none that could be suggested
	}
	words := fileWords(t.file)
	for _, kind := range g.kinds {
		if kind == but || kind.words == "" {
			continue
		}
		p := t.place(g.kinds, kind, nothing)
		named := false
		for phrase := range strings.FieldsSeq(kind.words) {
			parts := strings.Split(phrase, "_")
			named = named || !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(words, part) })
		}
		own := 0.0
		for s, m := range p.placed {
			if s.kind == kind {
				own += m.score
			} else {
				own += 0.5 * m.score
			}
		}
		anchored := p.anchored(kind)
		if !anchored {
			own *= 0.4
		}
		fit := own / float64(max(1, t.named()-len(t.keys)))
		if named {
			fit += 0.5
		}
		if (anchored || named && len(p.placed) > 0) && fit > most && fit >= 0.35 {
			best, most = p, fit
		}
	}
	return best, most
}

// named counts the columns with a name.
func (t *suggestedTable) named() (count int) {
	for _, name := range t.columns {
		if name != "" {
			count++
		}
	}
	return count
}

// fileWords returns the words of a file name. Some systems begin all names with their own.
func fileWords(file string) []string {
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	words := nameWords(stem)
	for _, part := range nameParts(stem) {
		for _, short := range []string{strings.TrimSuffix(part, "s"), strings.TrimSuffix(part, "e"), strings.TrimSuffix(part, "en"), part[min(2, len(part)):], part[min(3, len(part)):], part[min(4, len(part)):]} {
			if len(short) >= 3 {
				words = append(words, dictionaryWords()[short]...)
			}
		}
	}
	return words
}

// home returns the table that says the most about accounts and their customers, or nil.
func (g *guesser) home() (best *suggestedTable) {
	accounts, customers, most := g.kind("accounts"), g.kind("customers"), -1.0
	for _, t := range g.tables {
		if t.placement == nil || t.account < 0 || g.repeats(t) || !t.placement.kind.isInside(accounts) {
			continue
		}
		score := 0.0
		for s, m := range t.place(g.kinds, accounts, func(*tableKind) bool { return false }).placed {
			if s.kind == accounts || s.kind == customers {
				score += m.score
			}
		}
		if score > most {
			best, most = t, score
		}
	}
	return best
}

// lift takes the rows of a table for something larger if they contain it and no other table does: a
// flat table of customers has the accounts in it.
func (g *guesser) lift(t *suggestedTable, home bool) {
	if t.placement == nil {
		return
	}
	for outer := t.placement.kind.parent; outer != nil; outer = outer.parent {
		if g.coveredFor(t)(outer) {
			return
		}
		// Rows of one account must not become several accounts.
		if outer.parent == nil && outer.stem == "accounts" && (t.account < 0 || g.repeats(t) || !home) {
			return
		}
		p := t.place(g.kinds, outer, g.coveredFor(t))
		if outer.stem == "accounts" || p.anchored(outer) && p.total > t.placement.total+0.5 {
			t.placement = p
		}
	}
}

// repeats reports whether account numbers of a table occur more than once. A few are mistakes.
func (g *guesser) repeats(t *suggestedTable) bool {
	return t.sketches[t.account].repeats()
}

// rank puts outer tables before inner ones.
func (g *guesser) rank(t *suggestedTable) int {
	order := []string{"accounts", "customers", "addresses", "supply points", "agreements", "meters", "registers", "readings", "schedules", "transactions"}
	if t.placement == nil {
		return 100
	}
	if at := slices.Index(order, t.placement.kind.name); at >= 0 {
		return at
	}
	return len(order)
}
