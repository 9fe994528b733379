package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// Copy writes rows as PostgreSQL takes them in bulk, by a text that says into which
// columns, of which kinds says what they are. It fills page after page, where a
// statement with arrays takes the arrays apart, lays rows out and inserts one after the
// other; but it is a command of its own for each table, so it is for many rows. A value
// is an int64, a string, a bool, bytes or nil.
func (t *Tx) Copy(ctx context.Context, text string, kinds []string, rows []any) error {
	ctx, err := t.admit(ctx, nil)
	if err != nil {
		return err
	}
	// Before anything is sent: eight letters would arrive as a number, and be kept.
	for i, value := range rows {
		if kind := kinds[i%len(kinds)]; value != nil && !elements[kind].takes(value) {
			return t.Note(fmt.Errorf("a column of %s holds a %T", kind, value))
		}
	}
	count, err := t.runner.copy(ctx, text, &copying{rows: rows, width: len(kinds)})
	t.changed += count
	return t.Note(err)
}

// copy sends rows along with the statement that asks for them.
func (x *exchange) copy(ctx context.Context, text string, rows io.Reader) (int64, error) {
	// The driver copies over a connection only, which the first statement brings.
	if x.conn == nil {
		if _, err := x.exec(ctx, "SELECT 1", nil); err != nil {
			return 0, err
		}
	}
	tag, err := x.conn.PgConn().CopyFrom(ctx, rows, text)
	return tag.RowsAffected(), x.note(postgresDialect.wrap(err))
}

// copy is for servers: a file has nobody to send rows to.
func (h *handle) copy(context.Context, string, io.Reader) (int64, error) {
	return 0, fmt.Errorf("%s copies no rows", sqliteDialect.name)
}

// copying spells rows out while they are sent, right into the driver's memory.
type copying struct {
	rows  []any // those that are still to be sent
	width int
	begun bool
	ended bool
	rest  []byte // of a row that the driver had no room for
}

// copyHeader is how the rows of a binary copy begin: their name, no flags, nothing else.
const copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// Read gives as many rows as there is room for.
func (c *copying) Read(into []byte) (int, error) {
	if len(c.rest) > 0 || len(into) < len(copyHeader) {
		return c.more(into)
	}
	buf := into[:0]
	if !c.begun {
		buf, c.begun = append(buf, copyHeader...), true
	}
	for len(c.rows) > 0 && len(buf)+rowRoom(c.rows[:c.width]) <= len(into) {
		buf = appendRow(buf, c.rows[:c.width])
		c.rows = c.rows[c.width:]
	}
	if len(buf) == 0 {
		return c.more(into)
	}
	return len(buf), nil
}

// more gives a part of what does not fit as a whole: a large row, or the end.
func (c *copying) more(into []byte) (int, error) {
	switch {
	case len(c.rest) > 0:
	case !c.begun:
		c.rest, c.begun = []byte(copyHeader), true
	case len(c.rows) > 0:
		c.rest = appendRow(nil, c.rows[:c.width])
		c.rows = c.rows[c.width:]
	case !c.ended:
		c.rest, c.ended = []byte{0xff, 0xff}, true // a row of minus one columns
	default:
		return 0, io.EOF
	}
	count := copy(into, c.rest)
	c.rest = c.rest[count:]
	return count, nil
}

// rowRoom is how many bytes a row takes at most.
func rowRoom(row []any) int {
	room := 2 + len(row)*longestFixed
	for _, value := range row {
		switch value := value.(type) {
		case string:
			room += len(value)
		case []byte:
			room += len(value)
		}
	}
	return room
}

// appendRow writes how many columns there are, and then each value as arrays have them.
func appendRow(buf []byte, row []any) []byte {
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(row))) //nolint:gosec // of our own tables
	for _, value := range row {
		buf = appendValue(buf, value)
	}
	return buf
}
