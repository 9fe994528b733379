package convert

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"landfall/internal/kit/book"
)

// cursor goes through the rows of one place along with their parents.
type cursor struct {
	place  *place
	stream *merge
	now    *sortEntry // the next row that has not been met
	within []int  // where its table and those below it are counted in the parent

	// The rows of the key at hand.
	text   []byte // objects with a comma behind each, or members
	rows   int
	counts []int // rows of each table in text
	used   bool
	load   pendingRow
}

// joinGroup brings the rows of one group of tables to the rows they belong to, and
// sends those on to meet the next group, or to their place.
func (x *conversion) joinGroup(ctx context.Context, t *sourceTable, stage int) error {
	g := t.groups[stage]
	parents, err := x.stages[t.number][stage].stream()
	if err != nil {
		return err
	}
	a := &joiner{conversion: x, table: t, group: g, stage: stage}
	// Whoever meets last leaves in the order of the link. Where that is the number
	// of the account, sorting once more would only cost time, and the lines are
	// printed from here.
	if stage == len(t.groups)-1 && t.makesAccounts() {
		a.direct = newFileWriter(x, book.Accounts.Stem)
	}
	for _, p := range g.places {
		// The first count is of the place's own table and the others of those below
		// it; take and tableAt rely on that order.
		c := &cursor{place: p, counts: make([]int, 1+len(p.table.below))}
		for _, inside := range append([]*sourceTable{p.table}, p.table.below...) {
			c.within = append(c.within, slices.Index(t.below, inside))
		}
		if c.stream, err = p.sorter.stream(); err != nil {
			return err
		}
		c.now = c.stream.next()
		a.cursors = append(a.cursors, c)
	}
	a.begin()
	for e := parents.next(); e != nil; e = parents.next() {
		// Asking at every row would cost more than it is worth: a few thousand are
		// over in an instant.
		if a.met++; a.met%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.addParent(e); err != nil {
			return err
		}
	}
	// A stream ends alike when all was read and when something could not be: only
	// this tells them apart.
	if err := parents.err(); err != nil {
		return err
	}
	return a.finish()
}

// joiner is one such meeting.
type joiner struct {
	*conversion
	table   *sourceTable
	group   *linkGroup
	stage   int
	cursors []*cursor
	batchers []batcher
	met     int

	direct *fileWriter // where accounts go that are in order already
	begun  bool
	key    []byte
	load   pendingRow
}

// addParent brings one row together with what belongs to it.
func (a *joiner) addParent(e *sortEntry) error {
	// Several rows may have one key, as when many refer to one tariff. What belongs
	// to it is collected for the first of them and stays for the others.
	if !a.begun || !bytes.Equal(a.key, e.key) {
		a.endKey()
		a.begun, a.key = true, append(a.key[:0], e.key...)
		for _, c := range a.cursors {
			if err := a.collect(c); err != nil {
				return err
			}
		}
	}
	l := &a.load
	l.read(e.payload, len(a.table.below))
	// A row that is bad already was reported where it was found, and is not
	// reported once more.
	if !l.bad {
		if err := a.checkReferences(e, l); err != nil {
			return err
		}
	}
	// A bad row still goes through all stages: rows of the groups to come must find
	// it, or they would be reported as orphans.
	if l.bad {
		if a.stage == len(a.table.groups)-1 {
			return nil // it has told everybody
		}
		return a.send(e, l)
	}
	// Rows that several parents share are counted once, with the first of them:
	// what was read must be the sum of all figures.
	for _, c := range a.cursors {
		if c.rows > 0 && !c.used {
			c.used = true
			for i, count := range c.counts {
				l.counts[c.within[i]] += count
			}
		}
	}
	return a.send(e, l)
}

// checkReferences reports a row that refers to another which is not there.
func (a *joiner) checkReferences(e *sortEntry, l *pendingRow) error {
	for _, c := range a.cursors {
		// A row without a key refers to nothing, which is no mistake; only one that
		// names what is not there is.
		if c.place.mode != asMembers || !c.place.strict || c.rows > 0 || len(e.key) == 0 {
			continue
		}
		l.bad = true
		return a.reject(a.table, e.at, l.counts, Problem{
			Kind: Missing, Column: strings.Join(a.group.linked, ", "), Value: shortenKey(e.key),
			What: "there is no such row in " + c.place.table.name + "; say optional: true there if there need not be",
		})
	}
	return nil
}

// shortenKey writes a key as a person knows it: its parts are kept with zero
// bytes between them, which no value can have.
func shortenKey(key []byte) string { return shorten(bytes.ReplaceAll(key, []byte{0}, []byte(", "))) }

// endKey ends a key. What belongs to nothing but rows with problems is left out
// with them.
func (a *joiner) endKey() {
	for _, c := range a.cursors {
		if c.rows > 0 && !c.used {
			for i, count := range c.counts {
				a.tallies[c.tableAt(i).number].leaveOut(count)
			}
		}
	}
}

// tableAt gives the table of a count: a place's own first, then those whose
// rows were put into its rows.
func (c *cursor) tableAt(i int) *sourceTable {
	if i == 0 {
		return c.place.table
	}
	return c.place.table.below[i-1]
}

// collect reads the rows of the key at hand. Those of smaller keys belong to
// nothing.
func (a *joiner) collect(c *cursor) error {
	c.text, c.rows, c.used = c.text[:0], 0, false
	clear(c.counts)
	for c.now != nil {
		order := compareKeys(c.now.key, a.key)
		if order > 0 {
			break
		}
		text := c.load.readCounts(c.now.payload, len(c.place.table.below))
		var err error
		if order < 0 {
			err = a.reportOrphan(c)
		} else {
			err = a.addRow(c, text)
		}
		if err != nil {
			return err
		}
		c.now = c.stream.next()
	}
	return c.stream.err()
}

// maxLine is the longest line of a book.
const maxLine = 10 << 20

// addRow keeps a row for the object that is being made, unless there are too
// many of them or the line would grow too long: both would be refused by the
// service, and are told here with the row.
func (a *joiner) addRow(c *cursor, text []byte) error {
	most := 1
	if c.place.mode == asList {
		most = c.place.most
	}
	// This bounds what one place brings. The press looks at the whole line once
	// more.
	if c.rows >= most || len(c.text)+len(text) > maxLine {
		what := "there is one already for the same row of " + a.table.name
		if most > 1 {
			what = "there are more of them for one row of " + a.table.name + " than can be sent"
		}
		return a.reject(c.place.table, c.now.at, c.load.counts, Problem{
			Kind: Surplus, Column: strings.Join(c.place.linked, ", "), Value: shortenKey(c.now.key), What: what,
		})
	}
	c.rows++
	c.counts[0]++
	for i, count := range c.load.counts {
		c.counts[i+1] += count
	}
	// Further members have no braces of their own: they stand among those of the
	// parent.
	if c.place.mode == asMembers {
		c.text = append(c.text, text...)
		return nil
	}
	c.text = append(closeObject(append(append(c.text, '{'), text...)), ',')
	return nil
}

// reportOrphan reports a row that belongs to nothing. Rows with further members of
// another are only counted: not everything in a list of tariffs is in use.
func (a *joiner) reportOrphan(c *cursor) error {
	p := c.place
	if p.mode == asMembers {
		a.tallies[p.table.number].notReferred()
		a.countLeftOut(p.table, c.load.counts)
		return nil
	}
	return a.reject(p.table, c.now.at, c.load.counts, Problem{
		Kind: Orphan, Column: strings.Join(p.linked, ", "), Value: shortenKey(c.now.key),
		What: "there is no such row in " + a.table.name,
	})
}

// finish ends the last key. Rows of keys that never came belong to nothing.
func (a *joiner) finish() error {
	a.endKey()
	for _, c := range a.cursors {
		for ; c.now != nil; c.now = c.stream.next() {
			c.load.readCounts(c.now.payload, len(c.place.table.below))
			if err := a.reportOrphan(c); err != nil {
				return err
			}
		}
		if err := c.stream.err(); err != nil {
			return err
		}
		// Everything was read. The memory and the disk it took are wanted by those
		// who come after.
		if err := c.place.sorter.release(); err != nil {
			return err
		}
	}
	for i := range a.batchers {
		if err := a.batchers[i].flush(); err != nil {
			return err
		}
	}
	if a.direct != nil {
		if err := a.direct.flush(); err != nil {
			return err
		}
	}
	return a.stages[a.table.number][a.stage].release()
}
