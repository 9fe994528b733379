package convert

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"landfall/internal/lib/xlsx"
)

// The files of a table become a stream of lines with delimited fields, whatever they were: a workbook,
// lines with fixed columns, or fields with escapes. One line of the stream is one line or row of the
// file, so that problems name the right one.

// Characters that stand for something in such a stream.
const (
	lineMark  = 0x1e // a line end within a field that is not one in the file
	errorMark = 0x1d // the field is an error of a workbook, or says why a line with fixed columns is not a row
	skipMark  = 0x1c // the row is one that the map skips
	cutMark   = 0x1b // the line ends before this fixed column, which the map reads as a number or a date
	endOfFile = 0x1a // Ctrl-Z, which old systems write at the end
)

// layout is how the fields of a table are found, apart from its dialect.
type layout struct {
	filter    string // program that rewrites the files, or ""
	sheet     string // of a workbook; "" is the first one
	workbook  bool
	fixed     []fixedColumn
	header    int // line of the column names, or of the first row if the map has the names
	skip      []*regexp.Regexp
	delimiter byte // as in the file
	quote     byte
	escape    byte // or 0
}

// marked reports whether fields can contain marks.
func (l *layout) marked() bool { return l.workbook || l.escape != 0 || l.fixed != nil }

// isWorkbook reports whether a file is read as an Excel workbook.
func isWorkbook(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".xlsx", ".xlsm":
		return true
	}
	return false
}

// open opens a file of the table for reading.
func (t *sourceTable) open(ctx context.Context, path string) (*splitter, io.Closer, error) {
	source, closer, err := t.source(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	split := newSplitter(source, t.dialect.delimiter, t.dialect.quote)
	split.line = max(t.layout.header, 1)
	return split, closer, nil
}

// source opens a file as a stream of lines with delimited fields.
func (t *sourceTable) source(ctx context.Context, path string) (io.Reader, io.Closer, error) {
	if t.layout.workbook {
		return t.openWorkbook(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	closer := io.Closer(file)
	raw := io.Reader(file)
	if t.layout.filter != "" {
		f, err := startFilter(ctx, t.layout.filter, t.name, path, file)
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		raw, closer = f, f
	}
	source, err := t.dialect.charset.reader(raw)
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	lines := bufio.NewReaderSize(&endReader{bufio.NewReaderSize(source, 64<<10)}, 64<<10)
	begin, err := lines.Peek(64 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, errors.Join(err, closer.Close())
	}
	if endsLinesWithReturns(begin) {
		lines = bufio.NewReaderSize(returnReader{lines}, 64<<10)
	}
	for range t.layout.header - 1 {
		if _, err := readLine(lines); err != nil {
			break // reading the header reports an empty table
		}
	}
	switch {
	case t.layout.fixed != nil:
		return &rowReader{next: t.fixedRows(lines)}, closer, nil
	case t.layout.escape != 0:
		return &rowReader{next: t.escapedRows(lines)}, closer, nil
	}
	return lines, closer, nil
}

// endsLinesWithReturns reports whether a file seems to end its lines with carriage returns alone, as old
// Macintosh programs do.
func endsLinesWithReturns(begin []byte) bool {
	return bytes.IndexByte(begin, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(begin, "\r"), '\r') >= 0
}

// returnReader reads carriage returns as line feeds.
type returnReader struct{ source io.Reader }

// Read reads text with the usual line ends.
func (r returnReader) Read(p []byte) (int, error) {
	n, err := r.source.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// endReader ends at a Ctrl-Z that only blanks follow.
type endReader struct{ source *bufio.Reader }

// maxPadding is how much can follow a Ctrl-Z: some systems fill a sector.
const maxPadding = 4 << 10

// Read reads up to a Ctrl-Z, and decides about it when it is the next byte.
func (e *endReader) Read(p []byte) (int, error) {
	begin, err := e.source.Peek(1)
	if err != nil {
		return 0, err
	}
	if begin[0] == endOfFile {
		rest, err := e.source.Peek(maxPadding)
		if errors.Is(err, io.EOF) && len(bytes.Trim(rest, "\x1a\x00 \r\n")) == 0 {
			return 0, io.EOF
		}
		p[0] = endOfFile
		_, err = e.source.Discard(1)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return 1, err
	}
	waiting, _ := e.source.Peek(min(e.source.Buffered(), len(p)))
	if at := bytes.IndexByte(waiting, endOfFile); at >= 0 {
		waiting = waiting[:at]
	}
	n := copy(p, waiting)
	_, err = e.source.Discard(n)
	return n, err
}

// readLine reads a line with its line end, of limited length. The last one may have none.
func readLine(lines *bufio.Reader) (line []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxRow {
			return nil, fmt.Errorf("a line is longer than %d MiB", maxRow>>20)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// rowReader reads rows from a function that appends the next one.
type rowReader struct {
	next func(dst []byte) ([]byte, error)
	text []byte
	at   int
	err  error
}

// Read reads the rows as text.
func (r *rowReader) Read(p []byte) (int, error) {
	for r.at == len(r.text) {
		if r.err != nil {
			return 0, r.err
		}
		r.at = 0
		r.text, r.err = r.next(r.text[:0])
	}
	n := copy(p, r.text[r.at:])
	r.at += n
	return n, nil
}

// appendField appends a field, quoted if necessary.
func appendField(dst, field []byte) []byte {
	if bytes.IndexByte(field, ',') < 0 && bytes.IndexByte(field, '"') < 0 && bytes.IndexByte(field, '\n') < 0 {
		return append(dst, field...)
	}
	return append(append(append(dst, '"'), bytes.ReplaceAll(field, []byte{'"'}, []byte(`""`))...), '"')
}

// skipsLine reports whether the map says that a line is not a row.
func (t *sourceTable) skipsLine(line []byte) bool {
	return slices.ContainsFunc(t.layout.skip, func(pattern *regexp.Regexp) bool { return pattern.Match(line) })
}

// skips reports whether the map says that a row is not one, such as the last line with totals.
func (t *sourceTable) skips(fields [][]byte) bool {
	if len(t.layout.skip) == 0 {
		return false
	}
	if len(fields) == 1 && len(fields[0]) == 1 && fields[0][0] == skipMark {
		return true
	}
	return t.layout.fixed == nil && t.skipsLine(bytes.Join(fields, []byte{t.layout.delimiter}))
}

// escapedRows returns the rows of a table that writes special characters after a backslash, as MySQL
// does.
func (t *sourceTable) escapedRows(lines *bufio.Reader) func([]byte) ([]byte, error) {
	var field []byte
	delimiter, quote, escape := t.layout.delimiter, t.layout.quote, t.layout.escape
	return func(dst []byte) ([]byte, error) {
		field = field[:0]
		inQuotes, begun, null := false, false, false
		end := func() {
			if dst = append(dst, '"'); !null {
				dst = append(dst, bytes.ReplaceAll(field, []byte{'"'}, []byte(`""`))...)
			}
			dst = append(dst, '"')
			field, begun, null = field[:0], false, false
		}
		for read := 0; ; read++ {
			c, err := lines.ReadByte()
			if err != nil {
				if errors.Is(err, io.EOF) && read > 0 {
					end()
					return append(dst, '\n'), nil
				}
				return dst, err
			}
			if len(dst)+len(field) > maxRow {
				return dst, fmt.Errorf("a row is longer than %d MiB", maxRow>>20)
			}
			switch {
			case c == escape:
				if c, err = lines.ReadByte(); err != nil {
					return dst, unexpectedEnd(err)
				}
				null = c == 'N' && !begun
				field = append(field, unescaped(c))
			case inQuotes && c == quote:
				if next, _ := lines.Peek(1); len(next) == 1 && next[0] == quote {
					_, _ = lines.Discard(1) // it was just seen
					field = append(field, quote)
				} else {
					inQuotes = false
				}
			case inQuotes:
				field = append(field, c)
			case c == quote && quote != 0 && !begun:
				inQuotes = true
			case c == delimiter:
				end()
				dst = append(dst, ',')
				continue
			case c == '\n':
				// An empty line is not a row.
				if read > 0 && (read > 1 || string(field) != "\r") {
					field = bytes.TrimSuffix(field, []byte{'\r'})
					end()
				}
				return append(dst, '\n'), nil
			default:
				null = false
				field = append(field, c)
			}
			begun = true
		}
	}
}

// unescaped returns the character that follows a backslash.
func unescaped(c byte) byte {
	switch c {
	case 'n':
		return lineMark
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'Z':
		return endOfFile
	}
	return c
}

// unexpectedEnd turns the end of a file within a row into an error.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// openWorkbook opens a sheet of a workbook.
func (t *sourceTable) openWorkbook(path string) (io.Reader, io.Closer, error) {
	workbook, err := xlsx.Open(path)
	if err != nil {
		return nil, nil, err
	}
	rows, err := workbook.Rows(t.layout.sheet)
	if err != nil {
		return nil, nil, errors.Join(err, workbook.Close())
	}
	return &rowReader{next: t.workbookRows(rows)}, workbook, nil
}

// workbookRows returns the rows of a sheet, all with as many fields as the first one has. Numbers are
// written as the table writes them, so that they are read in the same way as texts.
func (t *sourceTable) workbookRows(rows *xlsx.Rows) func([]byte) ([]byte, error) {
	line, width := max(t.layout.header, 1), 0
	if !t.headed {
		width = len(t.columns)
	}
	var field []byte
	return func(dst []byte) ([]byte, error) {
		number, cells, err := rows.Next()
		if err != nil {
			return dst, err
		}
		if number < line {
			return dst, nil
		}
		// Rows without cells are not stored.
		dst = append(dst, bytes.Repeat(newline, number-line)...)
		line = number + 1
		for len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1].Text) == "" {
			cells = cells[:len(cells)-1]
		}
		if len(cells) == 0 {
			return append(dst, '\n'), nil
		}
		if width == 0 {
			width = len(cells)
		}
		for i := range max(width, len(cells)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			if i < len(cells) {
				field = t.appendCell(field[:0], cells[i])
				dst = appendField(dst, field)
			}
		}
		return append(dst, '\n'), nil
	}
}

// appendCell appends the text of a cell.
func (t *sourceTable) appendCell(dst []byte, cell xlsx.Cell) []byte {
	switch cell.Kind {
	case xlsx.Number:
		return append(dst, strings.Replace(cell.Text, ".", string(t.dialect.numbers.decimal), 1)...)
	case xlsx.Error:
		return append(append(dst, errorMark), cell.Text...)
	}
	return append(dst, strings.ReplaceAll(cell.Text, "\n", string(rune(lineMark)))...)
}

// markedCell replaces the marks of a field.
func (r *currentRow) markedCell(column int, text []byte) []byte {
	if len(text) > 0 && text[0] == errorMark {
		r.fail(Unconvertible, column, text[1:], "the cell holds an error; correct it in the workbook")
		return nil
	}
	if r.table.layout.fixed != nil {
		return r.fixedCell(column, text)
	}
	if bytes.IndexByte(text, lineMark) < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{lineMark}, newline)
}

// filterReader is a program that rewrites a file.
type filterReader struct {
	command *exec.Cmd
	out     io.ReadCloser
	file    io.Closer
	said    *tail
	ended   bool
}

// startFilter starts a program with a file as its input. Its arguments are the table and the file.
func startFilter(ctx context.Context, program, table, path string, file *os.File) (*filterReader, error) {
	f := &filterReader{command: exec.CommandContext(ctx, program, table, path), file: file, said: &tail{}} //nolint:gosec // the operator names the program
	f.command.Stdin, f.command.Stderr = file, f.said
	out, err := f.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.out = out
	if err := f.command.Start(); err != nil {
		return nil, fmt.Errorf("the filter cannot be started: %w", err)
	}
	return f, nil
}

// Read reads what the program writes. A program that fails fails the table, because its output may be
// incomplete.
func (f *filterReader) Read(p []byte) (int, error) {
	if f.ended {
		return 0, io.EOF
	}
	n, err := f.out.Read(p)
	if err == nil || !errors.Is(err, io.EOF) {
		return n, err
	}
	f.ended = true
	if wrong := f.command.Wait(); wrong != nil {
		return n, fmt.Errorf("the filter %s failed: %w %s", f.command.Path, wrong, strings.TrimSpace(f.said.text))
	}
	return n, io.EOF
}

// Close ends the program.
func (f *filterReader) Close() error {
	if !f.ended {
		f.ended = true
		_ = f.command.Process.Kill() // it may have ended
		_ = f.command.Wait()         // killed on purpose
	}
	return f.file.Close()
}

// tail keeps the end of what was written to it.
type tail struct{ text string }

// Write keeps the last part.
func (t *tail) Write(p []byte) (int, error) {
	const most = 1 << 10
	t.text += string(p[max(0, len(p)-most):])
	t.text = t.text[max(0, len(t.text)-most):]
	return len(p), nil
}
