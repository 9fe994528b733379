package convert

import (
	"context"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strings"
)

// A flat table repeats the account on each of its rows: one row per meter, or per payment. It is read
// twice: once for the accounts, and once for the rows.

// flat reports whether many account numbers of a table occur more than once. A few are mistakes.
func (t *suggestedTable) flat() bool {
	return t.account >= 0 && t.sketches[t.account].repeated()*5 >= len(t.sketches[t.account].queue)
}

// findVarying finds the columns that differ between the rows of one account.
func (t *suggestedTable) findVarying(ctx context.Context, folder string) error {
	first := map[uint64][]uint64{} // the values of the first row of each account
	differ := make([]map[uint64]bool, len(t.columns))
	err := t.eachRow(ctx, filepath.Join(folder, t.file), suggestBytes, func(_ int, fields [][]byte) {
		if len(fields) != len(t.columns) || len(trimBlanks(fields[t.account])) == 0 {
			return
		}
		account := maphash.Bytes(sketchSeed, trimBlanks(fields[t.account]))
		values, known := first[account]
		for i, field := range fields {
			hash := maphash.Bytes(sketchSeed, trimBlanks(field))
			if !known {
				values = append(values, hash)
			} else if hash != values[i] {
				if differ[i] == nil {
					differ[i] = map[uint64]bool{}
				}
				differ[i][account] = true
			}
		}
		if !known {
			first[account] = values
		}
	})
	t.varying = make([]int, len(t.columns))
	for i, accounts := range differ {
		t.varying[i] = len(accounts)
	}
	return err
}

// split takes a flat table apart if no other table has the accounts: its own columns go to the accounts
// and the others to their rows. The rows must be of a known kind.
func (g *guesser) split() {
	accounts := g.kind("accounts")
	var best *suggestedTable
	var outer, inner *suggestedTable
	for _, t := range g.tables {
		if t.is(accounts) && !t.flat() {
			return
		}
		if t.varying == nil || best != nil && len(t.columns) <= len(best.columns) {
			continue
		}
		above := t.only(func(column int) bool { return column == t.account || t.varying[column] == 0 })
		below := t.only(func(column int) bool { return column == t.account || t.varying[column] > 0 })
		if below.placement, _ = g.bestKind(below, accounts); below.placement == nil {
			continue
		}
		for up := below.placement.kind.parent; up != nil && up != accounts; up = up.parent {
			if wider := below.place(g.kinds, up, func(*tableKind) bool { return false }); wider.anchored(up) && wider.total > below.placement.total+0.5 {
				below.placement = wider
			}
		}
		kind := below.placement.kind
		above.placement = above.place(g.kinds, accounts, func(of *tableKind) bool { return of == kind || of.isInside(kind) })
		if above.placement.anchored(accounts) || above.placement.has(g.kind("customers")) {
			best, outer, inner = t, above, below
		}
	}
	if best == nil {
		return
	}
	inner.name = freeName(g.tables, best.name+"_"+strings.ToUpper(strings.ReplaceAll(inner.placement.kind.name, " ", "_")), best.file)
	outer.inside, inner.above = inner, outer
	var tables []*suggestedTable
	for _, t := range g.tables {
		if t == best {
			tables = append(tables, outer, inner)
			continue
		}
		if t.is(accounts) {
			t.placement, _ = g.bestKind(t, accounts)
		}
		tables = append(tables, t)
	}
	g.tables = tables
}

// only returns a copy of a table with the names of some columns. Those without a name are not placed.
func (t *suggestedTable) only(holds func(column int) bool) *suggestedTable {
	part, looked := *t, *t.inspection
	part.inspection, part.keys = &looked, map[int]bool{t.account: true}
	looked.columns = make([]string, len(t.columns))
	for i, name := range t.columns {
		if holds(i) {
			looked.columns[i] = name
		}
	}
	part.whole = t.columns
	return &part
}

// share lets the rows of a flat table use what their accounts do not: a date that all meters of an
// account happen to have in common. A column is listed in one of the two.
func (g *guesser) share(inner *suggestedTable) {
	outer := inner.above
	taken := map[int]bool{outer.account: true}
	for _, m := range outer.placement.placed {
		taken[m.column] = true
	}
	copy(inner.columns, inner.whole)
	for column := range inner.columns {
		if taken[column] && column != inner.account && !inner.keys[column] {
			inner.columns[column] = ""
		}
	}
	inner.placement = inner.place(g.kinds, inner.placement.kind, g.coveredFor(inner))
	used := map[int]bool{outer.account: true}
	for _, m := range inner.placement.placed {
		used[m.column] = true
	}
	for column := range inner.columns {
		switch {
		case used[column] && column != outer.account:
			outer.columns[column] = ""
		case !used[column] && inner.varying[column] == 0:
			inner.columns[column] = ""
		}
	}
}

// severalLine says which row of an account counts in a flat table.
func (w *mapWriter) severalLine(t *suggestedTable) {
	if t.inside == nil {
		return
	}
	w.line(2, "several: first", "all rows of an account have the same values here")
	for column, accounts := range t.varying {
		// Columns of the rows differ nearly everywhere.
		if repeated := t.sketches[t.account].repeated(); accounts > 0 && accounts*10 <= repeated {
			w.line(2, fmt.Sprintf("# %s differs between the rows of %d accounts", strings.Map(oneLine, t.whole[column]), accounts), "")
		}
	}
}
