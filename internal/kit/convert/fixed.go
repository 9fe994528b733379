package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"landfall/internal/lib/yamltree"
)

// fixedColumn is a column of a table whose lines have fixed positions.
type fixedColumn struct {
	name     string
	from, to int // in characters, from 0, without to
}

// lineEnd is the end of a column that reaches to the end of its line, however long.
const lineEnd = maxRow + 1

// fixed reads the positions of columns: {ACCT: 1-8, NAME: 9-40, TEXT: 41-}.
func (c *mapCompiler) fixed(t *sourceTable, node *yamltree.Node) {
	if node.Kind != yamltree.Mapping || len(node.Members) == 0 {
		c.errorf(node.Line, "fixed must be columns and their positions, such as {ACCT: 1-8, NAME: 9-40}")
		return
	}
	if t.node.Find("columns") != nil {
		c.errorf(node.Line, "fixed and columns both name the columns; remove one")
		return
	}
	// The first line is a row, unless header says where the names are.
	if t.headed = false; t.layout.header > 0 {
		t.layout.header++
	}
	t.columns = nil
	for _, member := range node.Members {
		first, last, isRange := strings.Cut(member.Node.Text, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(strings.TrimSpace(first))
		to, err2 := lineEnd, error(nil)
		if strings.TrimSpace(last) != "" {
			if to, err2 = strconv.Atoi(strings.TrimSpace(last)); to > maxRow {
				err2 = strconv.ErrRange
			}
		}
		if err != nil || err2 != nil || from < 1 || to < from {
			c.errorf(member.Line, "%s must be the first and the last position of the column, from 1, such as 9-40, or 9- for the rest of the line", member.Name)
			continue
		}
		t.columns = append(t.columns, member.Name)
		for _, other := range t.layout.fixed {
			if from-1 < other.to && to > other.from {
				c.errorf(member.Line, "the positions of %s overlap those of %s; correct one of them", member.Name, other.name)
			}
		}
		t.layout.fixed = append(t.layout.fixed, fixedColumn{member.Name, from - 1, to})
	}
}

// uncovered returns the positions that no column covers, the rest of the line last.
func (l *layout) uncovered() (gaps []fixedColumn) {
	sorted := slices.SortedFunc(slices.Values(l.fixed), func(a, b fixedColumn) int { return cmp.Compare(a.from, b.from) })
	at := 0
	for _, column := range sorted {
		if column.from > at {
			gaps = append(gaps, fixedColumn{fmt.Sprintf("at the positions %d-%d", at+1, column.from), at, column.from})
		}
		at = max(at, column.to)
	}
	if at < lineEnd {
		gaps = append(gaps, fixedColumn{fmt.Sprintf("after position %d", at), at, lineEnd})
	}
	return gaps
}

// fixedRows returns the rows of lines with fixed columns. A line that does not have the positions of the
// map becomes a row with the reason.
func (t *sourceTable) fixedRows(lines *bufio.Reader) func([]byte) ([]byte, error) {
	wide := t.dialect.charset == utf8Charset || t.dialect.charset == utf16WithBO
	gaps := t.layout.uncovered()
	return func(dst []byte) ([]byte, error) {
		line, err := readLine(lines)
		if err != nil {
			return dst, err
		}
		ended := bytes.HasSuffix(line, newline)
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(trimBlanks(line)) == 0:
			return append(dst, '\n'), nil
		case t.skipsLine(line):
			return append(dst, skipMark, '\n'), nil
		}
		runes := wide && !plainASCII(line)
		if what, value := t.misplaced(line, runes, ended, gaps); what != "" {
			dst = appendField(dst, append([]byte{errorMark}, what...))
			dst = appendField(append(dst, ','), value)
			// With these two fields nobody takes it for a row. Positions behind a tab are not known.
			before, _, _ := bytes.Cut(line, []byte{'\t'})
			for _, column := range t.layout.fixed {
				if dst = append(dst, ','); column.to == lineEnd || len(cutColumn(before, column.to-1, column.to, runes)) > 0 {
					dst = appendField(dst, trimBlanks(cutColumn(before, column.from, column.to, runes)))
				}
			}
			return append(dst, '\n'), nil
		}
		for i, column := range t.layout.fixed {
			if i > 0 {
				dst = append(dst, ',')
			}
			if t.figures[i] && column.to < lineEnd && len(cutColumn(line, column.from, column.from+1, runes)) == 0 {
				dst = append(dst, cutMark)
				continue
			}
			dst = appendField(dst, trimBlanks(cutColumn(line, column.from, column.to, runes)))
		}
		return append(dst, '\n'), nil
	}
}

// fixedCell returns the text of a fixed column. A number or date before which the line ends is refused if
// other lines have it: the line may be cut off.
func (r *currentRow) fixedCell(column int, text []byte) []byte {
	if text[0] != cutMark {
		r.note(column, metCut<<metOther)
		return text
	}
	if r.note(column, metCut); r.table.mixed[column].ways&metCut != 0 {
		at := r.table.layout.fixed[column].from + 1
		r.fail(Unconvertible, column, nil, fmt.Sprintf("the line ends before position %d, which other lines reach, so it may be cut off; fill it with blanks if it is whole, or write %d- if this is the last column", at, at))
	}
	return nil
}

// isMisplaced reports whether a row says why a line is not one.
func (t *sourceTable) isMisplaced(fields [][]byte) bool {
	return t.layout.fixed != nil && len(fields) == len(t.columns)+2 && len(fields[0]) > 0 && fields[0][0] == errorMark
}

// misplaced says what is wrong with the positions of a line, and where, or returns "".
func (t *sourceTable) misplaced(line []byte, runes, ended bool, gaps []fixedColumn) (what string, value []byte) {
	if bytes.IndexByte(line, '\t') >= 0 {
		return "the line has a tab, so the positions after it are not known; replace tabs with blanks, for example with --filter and expand", line
	}
	for _, gap := range gaps {
		if len(trimBlanks(cutColumn(line, gap.from, gap.to, runes))) > 0 {
			return "there is text " + gap.name + ", which no column covers; correct the positions, or add a column for it to fixed, which no attr needs to use", line
		}
	}
	length := len(line)
	if runes {
		length = utf8.RuneCount(line)
	}
	for _, column := range t.layout.fixed {
		if length >= column.to || column.to == lineEnd {
			continue
		}
		if !ended {
			return fmt.Sprintf("the file ends within this line, before position %d; if the line is whole, add a line end", column.to), line
		}
		text := trimBlanks(cutColumn(line, column.from, column.to, runes))
		if length > column.from && isFigure(text) {
			return fmt.Sprintf("the line ends within %s, at position %d of %d-%d, so the number may be cut off; write %d- if such lines are whole",
				column.name, length, column.from+1, column.to, column.from+1), line
		}
	}
	return "", nil
}

// isFigure reports whether a text seems to be a number or a date: digits without letters.
func isFigure(text []byte) bool {
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf }
	return bytes.ContainsAny(text, "0123456789") && bytes.IndexFunc(text, letter) < 0
}

// cutColumn returns a part of a line, by bytes or by characters. A line may be shorter.
func cutColumn(line []byte, from, to int, runes bool) []byte {
	if !runes {
		return line[min(from, len(line)):min(to, len(line))]
	}
	begin, at, count := len(line), 0, 0
	for at < len(line) && count < to {
		if count == from {
			begin = at
		}
		_, size := utf8.DecodeRune(line[at:])
		at += size
		count++
	}
	return line[min(begin, at):at]
}
