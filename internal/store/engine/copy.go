package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Copied is rows of one table, to be written as PostgreSQL takes them in bulk.
type Copied struct {
	Text  string   // says into which columns
	Kinds []string // of the columns
	Rows  []any    // one after the other; a value is an int64, a string, a bool, bytes or nil
}

// Copy writes rows. A copy fills page after page, where a statement with arrays takes the
// arrays apart, lays rows out and inserts one after the other; but it is a command of its
// own for each table, so it is for many rows. All tables travel together, in the order
// given: an answer that is waited for costs more than a command where the processors are
// busy, since the program may hear of it only ten milliseconds later.
func (t *Tx) Copy(ctx context.Context, tables ...Copied) error {
	ctx, err := t.admit(ctx, nil)
	if err != nil {
		return err
	}
	// Before anything is sent: eight letters would arrive as a number, and be kept.
	for _, table := range tables {
		for i, value := range table.Rows {
			if kind := table.Kinds[i%len(table.Kinds)]; value != nil && !elements[kind].takes(value) {
				return t.Note(fmt.Errorf("a column of %s holds a %T", kind, value))
			}
		}
	}
	count, err := t.runner.copy(ctx, tables)
	t.changed += count
	return t.Note(err)
}

// copy is for servers: a file has nobody to send rows to.
func (h *handle) copy(context.Context, []Copied) (int64, error) {
	return 0, fmt.Errorf("%s copies no rows", sqliteDialect.name)
}

// copy sends the rows of all tables along with the commands that ask for them, and then
// hears what became of each. The driver would wait for every one.
func (x *exchange) copy(ctx context.Context, tables []Copied) (int64, error) {
	// Only a statement brings a connection.
	if x.conn == nil {
		if _, err := x.exec(ctx, "SELECT 1", nil); err != nil {
			return 0, err
		}
	}
	count, refusal, err := int64(0), error(nil), x.sendCopies(tables)
	for i := 0; err == nil && i < len(tables); i++ {
		var one int64
		var because *pgconn.PgError
		one, because, err = x.heardCopy(ctx)
		count += one
		// The server skips what comes behind a table that it refuses, and says so of each:
		// the first reason is the one.
		if because != nil && refusal == nil {
			refusal = because
		}
	}
	if err != nil {
		// Nobody knows which answers are still on the way: whoever used this connection
		// again, if only to roll back, would wait for all of them.
		x.failed = true
	}
	if refusal != nil {
		err = refusal
	}
	return count, x.note(postgresDialect.wrap(err))
}

// heardCopy reads what the server says of one table.
func (x *exchange) heardCopy(ctx context.Context) (count int64, refusal *pgconn.PgError, err error) {
	for {
		message, err := x.conn.PgConn().ReceiveMessage(ctx)
		if err != nil {
			return 0, refusal, err
		}
		switch message := message.(type) {
		case *pgproto3.CommandComplete:
			count = pgconn.NewCommandTag(string(message.CommandTag)).RowsAffected()
		case *pgproto3.ErrorResponse:
			refusal = pgconn.ErrorResponseToPgError(message)
		case *pgproto3.ReadyForQuery:
			return count, refusal, nil
		}
	}
}

const (
	// pieceSize is how much is sent at once.
	pieceSize = 64 << 10
	// copyHeader is how the rows of a binary copy begin: their name, no flags, nothing else.
	copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	// frameHeader is what stands before rows that are sent: what they are, and how long.
	frameHeader = "d\x00\x00\x00\x00"
)

// pieces are in use again at once by the next batch.
var pieces = sync.Pool{New: func() any { return new(make([]byte, 0, pieceSize+pieceSize/4)) }}

// sendCopies spells rows out while they are sent.
func (x *exchange) sendCopies(tables []Copied) error {
	kept := pieces.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	defer pieces.Put(kept)
	piece := (*kept)[:0]
	for _, table := range tables {
		var err error
		if piece, err = (&pgproto3.Query{String: table.Text}).Encode(piece); err != nil {
			return err
		}
		frame := len(piece)
		piece = append(piece, frameHeader+copyHeader...)
		for row, width := table.Rows, len(table.Kinds); len(row) > 0; row = row[width:] {
			if piece = appendRow(piece, row[:width]); len(piece) < pieceSize {
				continue
			}
			closeFrame(piece[frame:])
			if err := x.conn.PgConn().Frontend().SendUnbufferedEncodedCopyData(piece); err != nil {
				return err
			}
			// One long row is no reason to keep so much memory.
			if piece = piece[:0]; cap(piece) > 4*pieceSize {
				piece = *kept
			}
			frame, piece = 0, append(piece[:0], frameHeader...)
		}
		piece = append(piece, 0xff, 0xff) // a row of minus one columns is the end
		closeFrame(piece[frame:])
		if piece, err = (&pgproto3.CopyDone{}).Encode(piece); err != nil {
			return err
		}
	}
	return x.conn.PgConn().Frontend().SendUnbufferedEncodedCopyData(piece)
}

// closeFrame says how long a frame has become, without the letter that names it.
func closeFrame(frame []byte) {
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-1)) //nolint:gosec // a row is no longer than a request
}

// appendRow writes how many columns there are, and then each value as arrays have them.
func appendRow(buf []byte, row []any) []byte {
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(row))) //nolint:gosec // of our own tables
	for _, value := range row {
		buf = appendValue(buf, value)
	}
	return buf
}
