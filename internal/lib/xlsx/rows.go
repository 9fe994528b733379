package xlsx

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Rows reads the rows of a sheet.
type Rows struct {
	workbook *Workbook
	part     *partReader
	number   int
	cells    []Cell
}

// Rows opens a sheet; without a name, the first one that Excel shows.
func (w *Workbook) Rows(name string) (*Rows, error) {
	if name == "" {
		name = w.First()
	}
	at := slices.IndexFunc(w.sheets, func(one sheet) bool { return strings.EqualFold(one.name, name) })
	if at < 0 {
		return nil, fmt.Errorf("there is no sheet %s; there are %s", name, strings.Join(w.Sheets(), ", "))
	}
	p, err := w.part(w.sheets[at].part)
	if err == nil && p == nil {
		err = fmt.Errorf("its sheet %s is missing", w.sheets[at].name)
	}
	if err != nil {
		return nil, err
	}
	return &Rows{workbook: w, part: p}, nil
}

// Close closes the sheet.
func (r *Rows) Close() error { return r.part.Close() }

// Next reads the next row that is stored. It returns its number, from 1, and its cells, which are
// valid until the next call; or io.EOF.
func (r *Rows) Next() (number int, cells []Cell, err error) {
	for {
		token, err := r.part.next()
		if err != nil {
			return 0, nil, err
		}
		if element, is := token.(xml.StartElement); is && element.Name.Local == "row" {
			return r.row(element)
		}
	}
}

func (r *Rows) row(element xml.StartElement) (number int, cells []Cell, err error) {
	r.cells = r.cells[:0]
	number = r.number + 1
	if text := attr(element, "r"); text != "" {
		if number, err = strconv.Atoi(text); err != nil || number <= r.number {
			return 0, nil, fmt.Errorf("row %s is out of order", text)
		}
	}
	if r.number = number; number > maxRows {
		return 0, nil, fmt.Errorf("it has more than %d rows", maxRows)
	}
	for {
		token, err := r.part.next()
		if err != nil {
			return 0, nil, unexpected(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local != "c" {
				continue
			}
			column := len(r.cells)
			if text := attr(token, "r"); text != "" {
				if column = columnOf(text); column < len(r.cells) || column >= maxColumns {
					return 0, nil, fmt.Errorf("cell %s is out of order", text)
				}
			}
			for len(r.cells) < column {
				r.cells = append(r.cells, Cell{})
			}
			cell, err := r.cell(token)
			if err != nil {
				return 0, nil, fmt.Errorf("row %d: %w", number, err)
			}
			r.cells = append(r.cells, cell)
		case xml.EndElement:
			if token.Name.Local == "row" {
				return number, r.cells, nil
			}
		}
	}
}

// columnOf returns the index of the column of a cell such as AB12.
func columnOf(name string) (column int) {
	for _, c := range name {
		if c < 'A' || c > 'Z' || column > maxColumns {
			break
		}
		column = column*26 + int(c-'A') + 1
	}
	return column - 1
}

func (r *Rows) cell(element xml.StartElement) (cell Cell, err error) {
	var value strings.Builder
	inValue, formula, stored := false, false, false
	for {
		token, err := r.part.next()
		if err != nil {
			return cell, unexpected(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "v":
				inValue, stored = true, true
			case "f":
				formula = true
			case "is":
				text, err := r.part.text("is")
				return Cell{Text, text}, err
			}
		case xml.CharData:
			if inValue {
				if value.Len()+len(token) > maxToken {
					return cell, errors.New("a cell of the workbook is longer than Excel allows")
				}
				value.Write(token)
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "v":
				inValue = false
			case "c":
				// The result can be an empty text, which is stored as such. Programs that do
				// not calculate store an empty number, or nothing.
				if formula && (!stored || value.Len() == 0 && attr(element, "t") != "str") {
					return Cell{Error, "a formula without a stored result"}, nil
				}
				return r.workbook.convert(attr(element, "t"), attr(element, "s"), value.String())
			}
		}
	}
}

// convert converts a stored value by the type and the style of its cell.
func (w *Workbook) convert(kind, style, value string) (Cell, error) {
	switch kind {
	case "s":
		at, err := strconv.Atoi(value)
		if err != nil || at < 0 || at >= len(w.shared) {
			return Cell{}, fmt.Errorf("there is no shared text %s", value)
		}
		return Cell{Text, w.shared[at]}, nil
	case "str", "inlineStr":
		return Cell{Text, unescape(value)}, nil
	case "b":
		return Cell{Bool, map[bool]string{true: "true", false: "false"}[value == "1" || value == "true"]}, nil
	case "e":
		return Cell{Error, value}, nil
	case "d":
		return Cell{Date, strings.TrimSuffix(strings.Replace(value, "T", " ", 1), " 00:00:00")}, nil
	}
	if value == "" {
		return Cell{}, nil
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return Cell{}, fmt.Errorf("%s is not a number", value)
	}
	if at, _ := strconv.Atoi(style); at >= 0 && at < len(w.styles) && w.styles[at] != numberStyle {
		return w.date(number, w.styles[at]), nil
	}
	return Cell{Number, formatNumber(number, value)}, nil
}

// formatNumber writes a number with 15 digits, which is what Excel keeps: 29.65 can be stored as
// 29.649999999999999. Longer integers have lost digits and stay as they are stored.
func formatNumber(number float64, stored string) string {
	if math.Abs(number) >= 1e15 {
		return stored
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'e', 14, 64), 64)
	if err != nil {
		return stored
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
