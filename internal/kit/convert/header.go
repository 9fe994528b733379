package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// files finds the files of a table and reads their column names.
func (c *mapCompiler) files(t *sourceTable) {
	node := t.node.Find("file")
	names := c.texts(node, "file")
	if len(names) == 0 {
		c.errorf(t.line, "file is required: the file of table %s", t.name)
	}
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(c.folder, name))
		if err != nil || len(found) == 0 {
			c.unknown(node.Line, "file", name, c.folder, fileNames(c.folder))
			continue
		}
		// Sorted, because the number of a file is part of a row's position, which decides the order
		// of rows with equal keys.
		slices.Sort(found)
		t.paths = append(t.paths, found...)
	}
	c.leaveOutBlank(t)
	given := t.node.Find("columns")
	// With columns in the map, the files have no header.
	if given != nil {
		t.columns, t.headed = c.texts(given, "columns"), false
	}
	t.unread = len(t.paths) == 0
	c.layout(t)
	// All files are opened now, so that mistakes are found before anything is converted.
	for _, path := range t.paths {
		columns, err := t.header(c.context, path)
		switch {
		case err != nil:
			t.unread = true
			c.errorf(node.Line, "%s: %s", path, err)
		case t.columns == nil:
			t.columns = columns
			if other := c.betterDelimiter(t, path); len(columns) == 1 && other != t.dialect.delimiter {
				c.errorf(node.Line, "%s has one column with the delimiter %q; it seems to be %q: set delimiter, or delimiter: detect", path, t.dialect.delimiter, other)
			}
		case given != nil && len(columns) != len(t.columns):
			c.errorf(given.Line, "%s has %d columns, and columns names %d", path, len(columns), len(t.columns))
		case t.headed && !slices.Equal(columns, t.columns):
			c.errorf(node.Line, "%s has other columns than %s; define another table for it", path, t.paths[0])
		}
	}
}

// leaveOutBlank leaves out the files of a table that are empty, unless all are. A pattern of files often
// has a month in which nothing happened.
func (c *mapCompiler) leaveOutBlank(t *sourceTable) {
	if c.filter != "" { // it may write something
		return
	}
	full := slices.DeleteFunc(slices.Clone(t.paths), isBlankFile)
	if len(full) == 0 || len(full) == len(t.paths) {
		return
	}
	for _, path := range t.paths {
		if !slices.Contains(full, path) {
			t.blank = append(t.blank, filepath.Base(path))
		}
	}
	t.paths = full
}

// isBlankFile reports whether a file has nothing but blanks, line ends and marks.
func isBlankFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxPadding {
		return false
	}
	text, err := os.ReadFile(path)
	text = bytes.TrimPrefix(text, markUTF8)
	return err == nil && len(bytes.Trim(text, "\x1a\x00 \t\r\n")) == 0
}

// fileNames lists a folder, for hints about a missing file.
func fileNames(folder string) (names []string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// header reads the first row of a file.
func (t *sourceTable) header(ctx context.Context, path string) ([]string, error) {
	split, file, err := t.open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	first, err := split.next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty; the first line should name the columns")
	}
	if err != nil {
		return nil, err
	}
	rows := &records{delimiter: t.dialect.delimiter, quote: t.dialect.quote}
	rows.reset(first)
	if first.wrong != "" || !rows.next() || rows.wrong != "" {
		return nil, fmt.Errorf("its first line cannot be read: %s", first.wrong+rows.wrong)
	}
	var columns []string
	for _, field := range rows.fields {
		name, wrong := t.dialect.charset.decode(nil, trimBlanks(field))
		if wrong != "" {
			return nil, fmt.Errorf("the name of column %d cannot be read: %s", len(columns)+1, wrong)
		}
		columns = append(columns, strings.TrimSpace(string(name)))
	}
	if len(columns) > maxColumns {
		return nil, fmt.Errorf("it has more than %d columns", maxColumns)
	}
	return columns, nil
}

// maxColumns is more than any real table has.
const maxColumns = 10_000
