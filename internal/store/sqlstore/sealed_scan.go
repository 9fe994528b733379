package sqlstore

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"landfall/internal/lib/calendar"
	"landfall/internal/store/engine"
	"landfall/internal/store/seal"
)

// sealedScan opens the columns of one row while they are scanned. The columns
// that identify the row come first in the query, so they are scanned first.
type sealedScan struct {
	sealer *sealer
	table  string
	row    []any // numbers and texts, or pointers to them
}

// scan binds sealed values to their table and row. The row is given by
// pointers, because its key is not known before the row is scanned.
func (s *sealer) scan(table string, row ...any) sealedScan { return sealedScan{s, table, row} }

func (s sealedScan) text(column string, into *string) any {
	if s.sealer == nil {
		return (*plainInto)(into)
	}
	return openColumn{s, column, false, func(text string) error { *into = text; return nil }}
}

// plainInto scans a text that was stored without a key.
type plainInto string

// Scan implements sql.Scanner.
func (i *plainInto) Scan(value any) error {
	var kept sql.NullString
	if err := kept.Scan(value); err != nil {
		return err
	}
	return i.set(kept.String)
}

// ScanBytes is what the driver of PostgreSQL calls instead of Scan: it need not
// copy the value for it.
func (i *plainInto) ScanBytes(value []byte) error { return i.set(string(value)) }

func (i *plainInto) set(kept string) error {
	text, err := seal.ReadPlain(kept)
	if err != nil {
		return &engine.UnreadableError{Cause: err}
	}
	*i = plainInto(text)
	return nil
}

// nullText scans into a nullable string.
func (s sealedScan) nullText(column string, into *sql.NullString) any {
	if s.sealer == nil {
		return (*plainMaybe)(into)
	}
	return openColumn{s, column, false, func(text string) error { *into = sql.NullString{String: text, Valid: true}; return nil }}
}

// plainMaybe is plainInto for a nullable text.
type plainMaybe sql.NullString

// Scan implements sql.Scanner.
func (i *plainMaybe) Scan(value any) error {
	i.Valid = value != nil
	return (*plainInto)(&i.String).Scan(value)
}

// ScanBytes is what the driver of PostgreSQL calls instead of Scan.
func (i *plainMaybe) ScanBytes(value []byte) error {
	i.Valid = value != nil
	return (*plainInto)(&i.String).ScanBytes(value)
}

// json scans into the bytes of a JSON text, which are nil for NULL.
func (s sealedScan) json(column string, into *[]byte) any {
	if s.sealer == nil {
		return into
	}
	return openColumn{s, column, true, func(text string) error { *into = []byte(text); return nil }}
}

// open opens a JSON text that was scanned already.
func (s sealedScan) open(column string, kept []byte, into *[]byte) error {
	if *into = kept; s.sealer == nil || kept == nil {
		return nil
	}
	return openColumn{s, column, true, func(text string) error { *into = []byte(text); return nil }}.Scan(kept)
}

func (s sealedScan) day(column string, into *calendar.Day) any {
	if s.sealer == nil {
		return dayInto{into}
	}
	return openColumn{s, column, false, func(text string) error { return dayInto{into}.Scan(text) }}
}

// openColumn is a scan target that opens a column's value.
type openColumn struct {
	sealedScan
	column string
	isJSON bool
	give   func(string) error
}

// Scan implements sql.Scanner.
func (o openColumn) Scan(value any) error {
	var kept string
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		kept = value
	case []byte:
		kept = string(value)
	default:
		return fmt.Errorf("%s.%s holds a %T", o.table, o.column, value)
	}
	text, err := o.sealer.openText(o.table, o.column, o.isJSON, seal.NewLocation(o.table, o.column).In(o.row...), kept)
	if err != nil {
		return unreadableError(o.table, o.column, o.row, err)
	}
	return o.give(text)
}

// unreadableError adds to an error the location of a value that cannot be opened.
func unreadableError(table, column string, row []any, err error) error {
	known := make([]string, len(row))
	for i, value := range row {
		switch value := value.(type) {
		case *int:
			known[i] = strconv.Itoa(*value)
		case *int64:
			known[i] = strconv.FormatInt(*value, 10)
		case *string:
			known[i] = *value
		default:
			known[i] = fmt.Sprint(value)
		}
	}
	return &engine.UnreadableError{Cause: fmt.Errorf("%s.%s of %s: %w", table, column, strings.Join(known, ", "), err)}
}
