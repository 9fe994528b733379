// Package xlsx reads the rows of a sheet of an Excel workbook, one after the other. It reads stored
// values, not what Excel shows: a price that is shown with one decimal keeps all of them.
package xlsx

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The limits of Excel itself, and how much of a workbook is held in memory.
const (
	maxRows    = 1_048_576
	maxColumns = 16_384
	// maxShared is how many bytes of shared texts are held: every sheet refers to them.
	maxShared = 512 << 20
	// maxToken is the longest part of a sheet that is read at once. A cell has at most 32,767
	// characters.
	maxToken = 1 << 20
)

// CellKind is what a cell holds.
type CellKind uint8

// The kinds of cells.
const (
	Text   CellKind = iota // also an empty cell
	Number                 // digits with an optional minus and point, or as stored if Excel has lost digits
	Date                   // YYYY-MM-DD, YYYY-MM-DD hh:mm:ss, or hh:mm:ss
	Bool                   // true or false
	Error                  // such as #N/A, or a formula without a stored result
)

// Cell is a cell of a row.
type Cell struct {
	Kind CellKind
	Text string
}

// Workbook is an open workbook.
type Workbook struct {
	file     *os.File
	parts    map[string]*zip.File
	sheets   []sheet
	shared   []string
	styles   []styleKind // by index of a cell style
	from1904 bool
}

// sheet is a sheet of a workbook.
type sheet struct {
	name, part string
	hidden     bool
}

// styleKind is whether a number of a style is a date.
type styleKind uint8

// The kinds of styles.
const (
	numberStyle styleKind = iota
	dayStyle
	clockStyle
	dayAndClockStyle
	durationStyle
)

// Open opens a workbook.
func Open(name string) (*Workbook, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	w := &Workbook{file: file, parts: map[string]*zip.File{}}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// open reads everything but the sheets.
func (w *Workbook) open() error {
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(w.file, info.Size())
	if err != nil {
		var begin [8]byte
		if _, err := w.file.ReadAt(begin[:], 0); err == nil && string(begin[:4]) == "\xd0\xcf\x11\xe0" {
			return errors.New("it is an old or encrypted workbook; save it as .xlsx without a password")
		}
		return fmt.Errorf("it is not an Excel workbook (.xlsx): %w", err)
	}
	for _, part := range archive.File {
		// Windows tools write backslashes.
		w.parts[strings.ToLower(strings.ReplaceAll(part.Name, `\`, "/"))] = part
	}
	if err := w.readWorkbook(); err != nil {
		return err
	}
	return errors.Join(w.readStyles(), w.readShared())
}

// Close closes the file.
func (w *Workbook) Close() error { return w.file.Close() }

// Sheets returns the names of the sheets.
func (w *Workbook) Sheets() (names []string) {
	for _, one := range w.sheets {
		names = append(names, one.name)
	}
	return names
}

// First returns the name of the first sheet that Excel shows.
func (w *Workbook) First() string {
	return w.sheets[max(0, slices.IndexFunc(w.sheets, func(one sheet) bool { return !one.hidden }))].name
}

type partReader struct {
	*xml.Decoder
	source *tokenLimit
	io.Closer
}

// tokenLimit limits how much is read for one token.
type tokenLimit struct {
	from io.Reader
	left int
}

// Read reads up to the limit.
func (l *tokenLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("a cell of the workbook is longer than Excel allows")
	}
	n, err := l.from.Read(p)
	l.left -= n
	return n, err
}

// part opens a part, or returns nil if there is none.
func (w *Workbook) part(name string) (*partReader, error) {
	part := w.parts[strings.ToLower(name)]
	if part == nil {
		return nil, nil
	}
	file, err := part.Open()
	if err != nil {
		return nil, err
	}
	source := &tokenLimit{from: file}
	return &partReader{Decoder: xml.NewDecoder(source), source: source, Closer: file}, nil
}

// next returns the next token, or io.EOF.
func (p *partReader) next() (xml.Token, error) {
	// The decoder reads ahead by a buffer.
	p.source.left = maxToken
	return p.RawToken()
}

// attr returns an attribute, whatever its name space.
func attr(of xml.StartElement, name string) string {
	for _, one := range of.Attr {
		if one.Name.Local == name {
			return one.Value
		}
	}
	return ""
}

// each calls a function with every start element of a part.
func (w *Workbook) each(name string, do func(*partReader, xml.StartElement) error) (found bool, err error) {
	p, err := w.part(name)
	if err != nil || p == nil {
		return false, err
	}
	defer p.Close()
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, fmt.Errorf("%s: %w", name, err)
		}
		if element, is := token.(xml.StartElement); is {
			if err := do(p, element); err != nil {
				return true, err
			}
		}
	}
}

// readWorkbook reads the names of the sheets and their parts.
func (w *Workbook) readWorkbook() error {
	targets := map[string]string{}
	_, err := w.each("xl/_rels/workbook.xml.rels", func(_ *partReader, element xml.StartElement) error {
		if element.Name.Local == "Relationship" {
			target := attr(element, "Target")
			if rooted, is := strings.CutPrefix(target, "/"); is {
				target = rooted
			} else {
				target = path.Join("xl", target)
			}
			targets[attr(element, "Id")] = target
		}
		return nil
	})
	if err != nil {
		return err
	}
	found, err := w.each("xl/workbook.xml", func(_ *partReader, element xml.StartElement) error {
		switch element.Name.Local {
		case "workbookPr":
			w.from1904 = slices.Contains([]string{"1", "true"}, attr(element, "date1904"))
		case "sheet":
			// The attribute r:id comes after sheetId, which has another name.
			w.sheets = append(w.sheets, sheet{attr(element, "name"), targets[attr(element, "id")], strings.Contains(strings.ToLower(attr(element, "state")), "hidden")})
		}
		return nil
	})
	if err == nil && (!found || len(w.sheets) == 0) {
		err = errors.New("it is not an Excel workbook (.xlsx): it has no sheets")
	}
	return err
}

// readShared reads the texts that the cells of all sheets refer to.
func (w *Workbook) readShared() error {
	size := 0
	_, err := w.each("xl/sharedStrings.xml", func(p *partReader, element xml.StartElement) error {
		if element.Name.Local != "si" {
			return nil
		}
		text, err := p.text("si")
		if err != nil {
			return err
		}
		if size += len(text) + 16; size > maxShared {
			return fmt.Errorf("it has more than %d MiB of texts; save the sheet as CSV", maxShared>>20)
		}
		w.shared = append(w.shared, text)
		return nil
	})
	return err
}

// text reads the texts up to the end of an element, without notes on pronunciation.
func (p *partReader) text(until string) (string, error) {
	var text strings.Builder
	inText, notes := false, 0
	for {
		token, err := p.next()
		if err != nil {
			return "", unexpected(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "t":
				inText = true
			case "rPh":
				notes++
			}
		case xml.EndElement:
			switch token.Name.Local {
			case until:
				return unescape(text.String()), nil
			case "t":
				inText = false
			case "rPh":
				notes--
			}
		case xml.CharData:
			if inText && notes == 0 {
				if text.Len()+len(token) > maxToken {
					return "", errors.New("a cell of the workbook is longer than Excel allows")
				}
				text.Write(token)
			}
		}
	}
}

// unexpected turns the end of a part within an element into an error.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unescape decodes _x000D_, which Excel writes for characters that XML cannot hold.
func unescape(text string) string {
	at := strings.Index(text, "_x")
	if at < 0 {
		return text
	}
	var out strings.Builder
	for ; at >= 0; at = strings.Index(text, "_x") {
		code, err := strconv.ParseUint(text[min(at+2, len(text)):min(at+6, len(text))], 16, 16)
		if err != nil || len(text) < at+7 || text[at+6] != '_' {
			out.WriteString(text[:at+2])
			text = text[at+2:]
			continue
		}
		out.WriteString(text[:at])
		out.WriteRune(rune(code))
		text = text[at+7:]
	}
	return strings.ReplaceAll(out.String()+text, "\r\n", "\n")
}
