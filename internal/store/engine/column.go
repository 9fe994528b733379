package engine

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// Column is one column of a row-major slice, sent to PostgreSQL as a binary array.
// The text form of an array costs both sides several times as much, most of all
// for JSON, where every quote must be escaped.
type Column struct {
	Rows  []any // each is an int64, a string, a bool, bytes or nil
	At    int   // index of the column within a row
	Width int   // number of values in a row
	room  int   // encoded size of this and the following columns; 0: not known
}

// Columns returns each column of rows as an array. The first one knows the size
// of all, so that the buffer is allocated once.
func Columns(rows []any, width int) []any {
	columns := make([]any, width)
	room := len(rows)*longestFixed + width*arrayHeader
	for _, value := range rows {
		switch value := value.(type) {
		case string:
			room += len(value)
		case []byte:
			room += len(value)
		}
	}
	for at := range columns {
		columns[at] = Column{Rows: rows, At: at, Width: width, room: room}
		room = 0
	}
	return columns
}

const (
	arrayHeader  = 20 // bytes before the values of an array
	longestFixed = 12 // bytes of a number with its length, or of the length of a text
)

func (c Column) length() int { return len(c.Rows) / c.Width }

// Dimensions implements pgtype.ArrayGetter, as do Index and IndexType.
func (c Column) Dimensions() []pgtype.ArrayDimension {
	if len(c.Rows) == 0 {
		return []pgtype.ArrayDimension{} // an empty array, not NULL
	}
	return []pgtype.ArrayDimension{{Length: int32(c.length()), LowerBound: 1}} //nolint:gosec // of memory
}

// Index returns one value.
func (c Column) Index(i int) any { return c.Rows[i*c.Width+c.At] }

// IndexType lets the driver inspect each value.
func (c Column) IndexType() any { return nil }

// TextValue is used on connections that do not know the types of parameters.
func (c Column) TextValue() (pgtype.Text, error) {
	text := []byte{'{'}
	for i := range c.length() {
		if i > 0 {
			text = append(text, ',')
		}
		switch value := c.Index(i).(type) {
		case nil:
			text = append(text, "NULL"...)
		case int64:
			text = strconv.AppendInt(text, value, 10)
		case bool:
			text = strconv.AppendBool(text, value)
		case string:
			text = quote(text, value)
		case []byte:
			text = quote(text, `\x`+hex.EncodeToString(value))
		default:
			return pgtype.Text{}, fmt.Errorf("a row holds a %T", value)
		}
	}
	return pgtype.Text{String: string(append(text, '}')), Valid: true}, nil
}

// quote appends a quoted element of an array literal.
func quote(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		at := strings.IndexAny(text, `"\`)
		if at < 0 {
			return append(append(dst, text...), '"')
		}
		dst = append(append(dst, text[:at]...), '\\', text[at])
		text = text[at+1:]
	}
}
