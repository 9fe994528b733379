package convert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// Some tables have several rows where one is wanted: a history, or rows that are repeated. Which of
// them is used depends on rows that come later, so such a table is read twice. The first time finds
// the rows to drop.

// rowChoice says which of several rows with the same key is used.
type rowChoice struct {
	how string
	by  *expression // the column that decides, or nil
}

// The values of the setting several.
const (
	firstOfRows   = "first"
	lastOfRows    = "last"
	newestOfRows  = "newest"
	oldestOfRows  = "oldest"
	highestOfRows = "highest"
	lowestOfRows  = "lowest"
	sumOfRows     = "sum"
)

// severalChoices are the rules without a column, and columnChoices those with one.
var (
	severalChoices = []string{"report", firstOfRows, lastOfRows, sumOfRows}
	columnChoices  = []string{newestOfRows, oldestOfRows, highestOfRows, lowestOfRows}
)

// several reads which of several rows is used.
func (c *mapCompiler) several(t *sourceTable, node *yamltree.Node) (s rowChoice) {
	switch node.Kind {
	case yamltree.Scalar:
		if !slices.Contains(severalChoices, node.Text) {
			c.errorf(node.Line, "several must be report, first, last, sum, {newest: COLUMN}, {oldest: COLUMN}, {highest: COLUMN} or {lowest: COLUMN}")
		} else if node.Text != "report" {
			s.how = node.Text
		}
	case yamltree.Mapping:
		if c.group(node, "several", columnChoices...) && len(node.Members) == 1 && slices.Contains(columnChoices, node.Members[0].Name) {
			s.how = node.Members[0].Name
			typ := &rules.Type{Shape: rules.ShapeDatetime}
			if s.how == highestOfRows || s.how == lowestOfRows {
				typ = &rules.Type{Shape: rules.ShapeDecimal}
			}
			s.by = c.part(t, node.Members[0].Node, typ, inheritedFormat{
				numbers: t.dialect.numbers, days: slices.Concat(t.dialect.days, t.dialect.instants), keepMixed: t.dialect.keepMixed,
			})
		}
	default:
		c.errorf(node.Line, "several must be a word such as first, or {newest: COLUMN}")
	}
	return s
}

// rank returns the value that decides between rows, for comparing. It is empty if the row has none.
func (s *rowChoice) rank(dst []byte, r *currentRow) []byte {
	if s.by == nil {
		return dst
	}
	by, text := s.by.pick(r)
	if len(text) == 0 {
		return dst
	}
	if s.by.typ.Shape == rules.ShapeDecimal {
		return by.number(dst, r, text)
	}
	at, ok := by.dateTime(r, text)
	if !ok {
		return dst
	}
	return fmt.Appendf(dst, "%04d%02d%02d%02d%02d%02d", at.year, at.month, at.day, at.hour, at.minute, at.second)
}

// better reports whether a row is used instead of the best one before it, and whether neither is
// better.
func (s *rowChoice) better(rank, best []byte) (yes, equal bool) {
	switch s.how {
	case firstOfRows:
		return false, false
	case lastOfRows:
		return true, false
	}
	order := bytes.Compare(rank, best)
	if s.by.typ.Shape == rules.ShapeDecimal {
		one, _ := parseExact(rank)
		other, _ := parseExact(best)
		order = one.compare(other)
	}
	return s.how == newestOfRows && order > 0 || s.how == oldestOfRows && order < 0 || s.how == highestOfRows && order > 0 || s.how == lowestOfRows && order < 0, order == 0
}

// tiedRows is the problem of rows of which none is chosen.
const tiedRows = "another row with the same link or account is equally good, has no value to compare, or cannot be read, so it is not known which is used; " +
	"say what an empty value means with default, or exclude rows with when"

// unranked is the rank of a row that cannot be compared. No number or date begins with it.
var unranked = []byte{'!'}

// droppedRows are rows that are not used, by file and line. One bit per line keeps it small.
type droppedRows [][]uint64 //nolint:recvcheck // copied where it is only read

// has reports whether a row is dropped.
func (d droppedRows) has(file, line int) bool {
	return file < len(d) && line/64 < len(d[file]) && d[file][line/64]&(1<<(line%64)) != 0
}

// add drops a row.
func (d *droppedRows) add(file, line int) {
	for len(*d) <= file {
		*d = append(*d, nil)
	}
	rows := &(*d)[file]
	if missing := line/64 + 1 - len(*rows); missing > 0 {
		*rows = append(*rows, make([]uint64, missing)...)
	}
	(*rows)[line/64] |= 1 << (line % 64)
}

// chooses reports whether a table has to be read before it is converted.
func (t *sourceTable) chooses() bool {
	return t.unique || slices.ContainsFunc(t.places, func(p *place) bool { return p.chooses() })
}

// chooses reports whether one of several rows is used.
func (p *place) chooses() bool { return p.several.how != "" && p.several.how != sumOfRows }

// choose reads a table and finds the rows that are not used because of others.
func (x *conversion) choose(ctx context.Context, t *sourceTable) error {
	if !t.chooses() {
		return nil
	}
	copies, ranks := x.workspace.addSorter(), x.workspace.addSorter()
	c := &chooser{copies: batcher{sorter: copies}, ranks: batcher{sorter: ranks}, met: x.met[t.number]}
	for number, path := range t.paths {
		if err := c.read(ctx, t, number, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	x.addCodes(t, c.row.codes)
	if err := errors.Join(c.copies.flush(), c.ranks.flush()); err != nil {
		return err
	}
	if err := x.dropCopies(t, copies); err != nil {
		return err
	}
	return x.dropWorse(t, ranks)
}

// chooser reads a table for what decides between its rows.
type chooser struct {
	copies, ranks batcher
	row           currentRow
	rows          records
	key, text     []byte
	met           []byte // as in a scan: rows that are dropped are read only here
}

// read reads a file.
func (c *chooser) read(ctx context.Context, t *sourceTable, number int, path string) error {
	split, file, err := t.open(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	c.row.table, c.row.met = t, c.met
	t.format(&c.rows)
	for first := t.headed; ; first = false {
		b, err := split.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if b.wrong != "" { // reported when the table is converted
			c.rows.readBroken(b)
			if err := c.doubt(t, uint64(number)<<lineBits|uint64(b.line)); err != nil {
				return err
			}
			continue
		}
		c.rows.reset(b)
		if first {
			c.rows.next()
		}
		for c.rows.next() {
			at, add := uint64(number)<<lineBits|uint64(c.rows.at), c.add
			switch {
			case t.skips(c.rows.fields):
				continue
			case c.rows.wrong != "" || len(c.rows.fields) != len(t.columns):
				add = c.doubt
			}
			if err := add(t, at); err != nil {
				return err
			}
		}
	}
}

// add adds what decides about a row.
func (c *chooser) add(t *sourceTable, at uint64) error {
	if t.unique {
		c.text = c.text[:0]
		for _, field := range c.rows.fields {
			field = trimBlanks(field)
			c.text = append(fmt.Appendf(c.text, "%d:", len(field)), field...)
		}
		sum := sha256.Sum256(c.text)
		c.copies.open(at, sum[:])
		if err := c.copies.close(); err != nil {
			return err
		}
	}
	c.row.begin(c.rows.fields)
	for _, p := range t.places {
		if len(p.when) > 0 && !c.row.passes(p.when) && !c.row.failed {
			continue
		}
		if !p.chooses() {
			return nil
		}
		// Rows of different places do not compete.
		c.key = c.row.key(append(c.key[:0], p.index, 0), p.key)
		rank := p.several.rank(nil, &c.row)
		if len(c.key) == 2 {
			return nil // reported when the table is converted
		}
		if c.row.failed {
			rank = unranked
		}
		b := c.ranks.open(at, c.key)
		b.text = append(b.text, rank...)
		return c.ranks.close()
	}
	return nil
}

// dropCopies drops and reports every row that is the same as an earlier one.
func (x *conversion) dropCopies(t *sourceTable, copies *sorter) error {
	stream, err := copies.stream()
	if err != nil {
		return err
	}
	var key []byte
	var first uint64
	for e := stream.next(); e != nil; e = stream.next() {
		if !bytes.Equal(key, e.key) {
			key, first = append(key[:0], e.key...), e.at
			continue
		}
		t.dropped.add(int(e.at>>lineBits), int(e.at&(1<<lineBits-1)))
		file, line := t.file(first)
		if err := x.reject(t, e.at, nil, Problem{
			Kind: Repeated, Acknowledged: true, where: fmt.Sprintf("%s:%d ", file, line), What: "is the same row, and the map says that rows are distinct",
		}); err != nil {
			return err
		}
	}
	return errors.Join(stream.err(), copies.release())
}

// dropWorse drops every row that another row with the same key is better than. Of rows that are
// equally good none is used, and neither is the best if a row cannot be compared with it.
func (x *conversion) dropWorse(t *sourceTable, ranks *sorter) error {
	stream, err := ranks.stream()
	if err != nil {
		return err
	}
	var key, best []byte
	var leaders, blank []uint64 // the best rows so far, and those without a value
	dropped, doubt := 0, false
	drop := func(rows ...uint64) {
		for _, at := range rows {
			t.dropped.add(int(at>>lineBits), int(at&(1<<lineBits-1)))
			dropped++
		}
	}
	decide := func() {
		leaders = append(leaders, blank...)
		for _, at := range leaders {
			if doubt || len(leaders) > 1 {
				t.tied.add(int(at>>lineBits), int(at&(1<<lineBits-1)))
			}
		}
		best, leaders, blank, doubt = best[:0], leaders[:0], blank[:0], false
	}
	for e := stream.next(); e != nil; e = stream.next() {
		if t.dropped.has(int(e.at>>lineBits), int(e.at&(1<<lineBits-1))) {
			continue
		}
		if !bytes.Equal(key, e.key) {
			decide()
			key = append(key[:0], e.key...)
		}
		// It is reported when the table is converted.
		if bytes.Equal(e.payload, unranked) {
			doubt = true
			continue
		}
		choice := &t.places[key[0]].several
		if choice.by != nil && len(e.payload) == 0 {
			if len(blank) < maxLeaders {
				blank = append(blank, e.at)
			} else {
				drop(e.at)
			}
			continue
		}
		better, equal := len(leaders) == 0, false
		if !better {
			better, equal = choice.better(e.payload, best)
		}
		switch {
		case better:
			drop(leaders...)
			best, leaders = append(best[:0], e.payload...), append(leaders[:0], e.at)
		case equal && len(leaders) < maxLeaders:
			leaders = append(leaders, e.at)
		default:
			drop(e.at)
		}
	}
	decide()
	x.tallies[t.number].read(0, dropped)
	return errors.Join(stream.err(), ranks.release())
}

// maxLeaders limits how many equally good rows are remembered. Two are enough to report them.
const maxLeaders = 2

// orphan acknowledges a problem if the map says why such rows are not needed.
func (p *place) orphan(problem Problem) Problem {
	if p.drop != "" {
		problem.Acknowledged = true
		problem.What = "dropped: " + p.drop
	}
	return problem
}
