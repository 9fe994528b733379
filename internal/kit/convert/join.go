package convert

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"landfall/internal/kit/book"
)

// cursor iterates over the rows of one place together with their parents.
type cursor struct {
	place  *place
	stream *merge
	now    *sortEntry // the next row that has not been joined
	within []int      // the indexes of its table and those below it in the parent's counts

	// The rows of the current key.
	text   []byte // objects, each followed by a comma, or members
	rows   int
	counts []int // rows per table in text
	used   bool
	load   pendingRow
	broken string // the file and line of a row that is reported, and without which its parents are not written
}

// joinGroup joins the rows of one group of tables to their parent rows, and sends those on to the
// next group or to their place.
func (x *conversion) joinGroup(ctx context.Context, t *sourceTable, stage int) error {
	g := t.groups[stage]
	parents, err := x.stages[t.number][stage].stream()
	if err != nil {
		return err
	}
	a := &joiner{conversion: x, table: t, group: g, stage: stage}
	// Rows leave the last join sorted by its link. If that is the account number, the lines are
	// written from here without sorting again.
	if stage == len(t.groups)-1 && t.makesAccounts() {
		a.direct = newFileWriter(x, book.Accounts.Stem)
	}
	for _, p := range g.places {
		// The first count is for the place's own table, the others for the tables below it. addRow
		// and tableAt rely on that order.
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
		// Checked only now and then, because checking every row would cost too much.
		if a.met++; a.met%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.addParent(e); err != nil {
			return err
		}
	}
	// The stream ends the same way after the last row and after an error.
	if err := parents.err(); err != nil {
		return err
	}
	return a.finish()
}

// joiner is the state of one join.
type joiner struct {
	*conversion
	table    *sourceTable
	group    *linkGroup
	stage    int
	cursors  []*cursor
	batchers []batcher
	met      int

	direct *fileWriter // for accounts that are sorted already
	begun  bool
	key    []byte
	failed bool // a parent with this key was reported
	load   pendingRow
}

// addParent joins one parent row with the rows that belong to it.
func (a *joiner) addParent(e *sortEntry) error {
	// Several rows may have the same key, such as rows that refer to one tariff. Its child rows are
	// collected for the first of them and kept for the others.
	if !a.begun || !bytes.Equal(a.key, e.key) {
		a.endKey()
		a.begun, a.failed, a.key = true, false, append(a.key[:0], e.key...)
		for _, c := range a.cursors {
			if err := a.collect(c); err != nil {
				return err
			}
		}
	}
	l := &a.load
	l.read(e.payload, len(a.table.below))
	// A bad row was already reported where it was found.
	if !l.bad {
		if err := a.checkWhole(e, l); err != nil {
			return err
		}
	}
	// A bad row still goes through all stages, because rows of later groups must find it. Otherwise
	// they would be reported as orphans.
	if l.bad {
		a.failed = a.failed || !l.passed
		if a.stage == len(a.table.groups)-1 {
			return a.sendBad(e, l) // no further group refers to it
		}
		return a.send(e, l)
	}
	// Rows shared by several parents are counted once, with the first parent, so that the figures
	// add up to the rows read.
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

// checkWhole reports a row that would be incomplete, because a row that is a part of it is reported
// or missing, or two rows fill the same attr of it.
func (a *joiner) checkWhole(e *sortEntry, l *pendingRow) error {
	for i, c := range a.cursors {
		rival := slices.IndexFunc(a.cursors[:i], func(other *cursor) bool {
			return c.rows > 0 && other.rows > 0 && slices.Contains(c.place.rivals, other.place)
		})
		where, what := c.broken, "is a part of it and has a problem; correct that row, or exclude it with when"
		if where == "" && rival >= 0 {
			where, what = c.place.table.name, "has two rows for it that fill the same attr; exclude one with when"
		}
		if where == "" {
			continue
		}
		l.bad = true
		return a.reject(a.table, e.at, l.counts, Problem{
			Kind: Incomplete, Column: strings.Join(a.group.linked, ", "), Value: shortenKey(e.key), where: where + " ", What: what,
		})
	}
	return a.checkReferences(e, l)
}

// checkReferences reports a row that refers to a missing row.
func (a *joiner) checkReferences(e *sortEntry, l *pendingRow) error {
	for _, c := range a.cursors {
		// A row without a key refers to nothing, which is not a mistake.
		if c.place.mode != asMembers || !c.place.strict || c.rows > 0 || len(e.key) == 0 {
			continue
		}
		l.bad = true
		return a.reject(a.table, e.at, l.counts, Problem{
			Kind: Missing, Column: strings.Join(a.group.linked, ", "), Value: shortenKey(e.key),
			What: c.place.table.name + " has no row for it, or only rows that are reported themselves; set optional: true there if the row may be missing",
		})
	}
	return nil
}

// shortenKey formats a key for messages. The parts of a key are separated by zero bytes, which no
// value contains.
func shortenKey(key []byte) string { return shorten(bytes.ReplaceAll(key, []byte{0}, []byte(", "))) }

// endKey ends a key. Rows that belong only to bad rows are left out with them, or passed over with them.
func (a *joiner) endKey() {
	for _, c := range a.cursors {
		if c.rows > 0 && !c.used {
			for i, count := range c.counts {
				if tally := a.tallies[c.tableAt(i).number]; a.failed {
					tally.leaveOut(count)
				} else {
					tally.read(0, count)
				}
			}
		}
	}
}

// tableAt returns the table of a count: the place's own table first, then those below it.
func (c *cursor) tableAt(i int) *sourceTable {
	if i == 0 {
		return c.place.table
	}
	return c.place.table.below[i-1]
}

// collect reads the rows of the current key. Rows with smaller keys are orphans.
func (a *joiner) collect(c *cursor) error {
	c.text, c.rows, c.used, c.broken = c.text[:0], 0, false, ""
	clear(c.counts)
	for c.now != nil {
		order := compareKeys(c.now.key, a.key)
		if order > 0 {
			break
		}
		text := c.load.readCounts(c.now.payload, len(c.place.table.below))
		var err error
		switch {
		case order < 0:
			err = a.reportOrphan(c, text)
		case bytes.Equal(text, badMark):
			c.breakAt(c.now.at)
		default:
			err = a.addRow(c, text)
		}
		if err != nil {
			return err
		}
		c.now = c.stream.next()
	}
	return c.stream.err()
}

// maxLine is the maximum length of a line of a book.
const maxLine = 10 << 20

// addRow adds a row to the current object, unless there are too many rows or the line would become
// too long. The service would refuse both, so they are reported here with the row.
func (a *joiner) addRow(c *cursor, text []byte) error {
	most := 1
	if c.place.mode == asList {
		most = c.place.most
	}
	// This limits what one place adds. The fileWriter checks the whole line again.
	if c.place.several.how == sumOfRows && c.rows > 0 && len(text) <= maxLine {
		return a.addSum(c, text)
	}
	if c.rows >= most || len(c.text)+len(text) > maxLine {
		what := "there is already one for the same row of " + a.table.name
		switch {
		case c.place.mode == asList:
			what = "there are more of them for one row of " + a.table.name + " than can be sent; exclude some with when"
			c.breakAt(c.now.at)
		case !c.same(text):
			what = "there is another one for the same row of " + a.table.name + ", and nothing says which is used; see several"
			c.breakAt(c.now.at)
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
	// Members are written without braces, among those of the parent.
	if c.place.mode == asMembers {
		c.text = append(c.text, text...)
		return nil
	}
	c.text = append(closeObject(append(append(c.text, '{'), text...)), ',')
	return nil
}

// breakAt keeps the parents of the current key from being written, because of a row.
func (c *cursor) breakAt(at uint64) {
	if c.broken == "" {
		file, line := c.place.table.file(at)
		c.broken = fmt.Sprintf("%s:%d", file, line)
	}
}

// same reports whether a row has the same members as the one before it.
func (c *cursor) same(text []byte) bool {
	before := c.text
	if c.place.mode == asObject {
		before = bytes.TrimSuffix(bytes.TrimPrefix(before, []byte{'{'}), []byte("},"))
	}
	return bytes.Equal(bytes.TrimSuffix(before, []byte{','}), bytes.TrimSuffix(text, []byte{','}))
}

// reportOrphan reports a row without a parent. Rows with further members of another row are only
// counted: not every tariff in a list is in use. A row that is not added up may be a posting that is lost.
func (a *joiner) reportOrphan(c *cursor, text []byte) error {
	p := c.place
	if bytes.Equal(text, badMark) {
		return nil // already reported
	}
	if p.mode == asMembers && p.several.how != sumOfRows {
		a.tallies[p.table.number].notReferred()
		a.countLeftOut(p.table, c.load.counts)
		return nil
	}
	return a.reject(p.table, c.now.at, c.load.counts, p.orphan(Problem{
		Kind: Orphan, Column: strings.Join(p.linked, ", "), Value: shortenKey(c.now.key),
		What: "there is no such row in " + a.table.name,
	}))
}

// finish ends the last key. All remaining rows are orphans.
func (a *joiner) finish() error {
	a.endKey()
	for _, c := range a.cursors {
		for ; c.now != nil; c.now = c.stream.next() {
			text := c.load.readCounts(c.now.payload, len(c.place.table.below))
			if err := a.reportOrphan(c, text); err != nil {
				return err
			}
		}
		if err := c.stream.err(); err != nil {
			return err
		}
		// Everything was read. Free the memory and disk space for the other sorters.
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
