package convert

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// layout reads how the fields of a table are found.
func (c *mapCompiler) layout(t *sourceTable) {
	l := &t.layout
	l.filter, l.delimiter, l.quote, l.escape = c.filter, t.dialect.delimiter, t.dialect.quote, t.dialect.escape
	l.sheet, _ = c.text(t.node, "sheet")
	l.workbook = c.filter == "" && slices.ContainsFunc(t.paths, isWorkbook)
	if text, line := c.text(t.node, "header"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 || number > 1000 {
			c.errorf(line, "header must be the number of the line with the column names, from 1")
		}
		l.header = number
	}
	if node := t.node.Find("skip"); node != nil {
		for _, text := range c.texts(node, "skip") {
			pattern, err := regexp.Compile(text)
			if err != nil {
				c.errorf(node.Line, "skip is not a regular expression: %s", err)
				continue
			}
			l.skip = append(l.skip, pattern)
		}
	}
	t.unique = c.flag(t.node, "distinct")
	if node := t.node.Find("fixed"); node != nil {
		c.fixed(t, node)
	}
	switch {
	case l.workbook && !slices.ContainsFunc(t.paths, func(path string) bool { return !isWorkbook(path) }):
		t.dialect.charset = utf8Charset
		// Dates of cells are written like this.
		if len(t.dialect.instants) == 0 {
			t.dialect.instants = t.dialect.days
		}
		t.dialect.days, t.dialect.instants = withCellDates(t.dialect.days), withCellDates(t.dialect.instants)
	case l.workbook:
		c.errorf(t.line, "the files of %s must all be workbooks, or none", t.name)
	case l.sheet != "":
		c.errorf(t.line, "sheet is for Excel workbooks (.xlsx)")
	}
	if l.workbook || l.fixed != nil || l.escape != 0 {
		// The files are read as if they were written like this.
		t.dialect.delimiter, t.dialect.quote = ',', '"'
	} else if t.dialect.delimiter == detectedDelimiter && len(t.paths) > 0 {
		t.dialect.delimiter = c.betterDelimiter(t, t.paths[0])
		l.delimiter = t.dialect.delimiter
	}
	if l.escape != 0 && l.delimiter == detectedDelimiter {
		c.errorf(t.line, "delimiter: detect cannot be combined with escape")
	}
}

// withCellDates adds the formats in which the dates of cells are written.
func withCellDates(list []*datePattern) []*datePattern {
	for _, text := range []string{"YYYY-MM-DD", "YYYY-MM-DD hh:mm:ss"} {
		if pattern, err := parsePattern(text); err == nil && !slices.ContainsFunc(list, func(one *datePattern) bool { return one.text == text }) {
			list = append(slices.Clip(list), pattern)
		}
	}
	return list
}

// betterDelimiter returns the delimiter that the beginning of a file shows.
func (c *mapCompiler) betterDelimiter(t *sourceTable, path string) byte {
	if t.layout.workbook || t.layout.fixed != nil || t.layout.escape != 0 {
		return t.dialect.delimiter
	}
	begin, err := t.beginning(c.context, path)
	if err != nil {
		return t.dialect.delimiter // reading the file reports it
	}
	return detectDelimiter(begin)
}

// beginning returns the first part of a file, as it is read.
func (t *sourceTable) beginning(ctx context.Context, path string) ([]byte, error) {
	source, file, err := t.source(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(source, inspectBytes))
}
