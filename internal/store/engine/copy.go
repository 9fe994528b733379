package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Copied contains rows of one table for a COPY.
type Copied struct {
	Text  string   // the COPY statement
	Kinds []string // types of the columns
	Rows  []any    // row-major; a value is an int64, a string, a bool, bytes or nil
}

// Copy writes rows with COPY. It is faster than an INSERT from arrays, but needs a
// command for each table, so it is for many rows. All tables are sent together,
// in order: waiting for an answer costs more than a command when the processors
// are busy, because the program may notice it only ten milliseconds later.
func (t *Tx) Copy(ctx context.Context, tables ...Copied) error {
	ctx, err := t.check(ctx, nil)
	if err != nil {
		return err
	}
	// Check types first: the server would read eight letters as a number.
	for _, table := range tables {
		for i, value := range table.Rows {
			if kind := table.Kinds[i%len(table.Kinds)]; value != nil && !elements[kind].takes(value) {
				return t.Fail(fmt.Errorf("a column of %s holds a %T", kind, value))
			}
		}
	}
	count, err := t.runner.copy(ctx, tables)
	t.changed += count
	return t.Fail(err)
}

// copy is not supported on SQLite.
func (h *sqliteConn) copy(context.Context, []Copied) (int64, error) {
	return 0, fmt.Errorf("%s has no COPY", sqliteDialect.name)
}

// copy sends the commands and rows of all tables, and then reads the answers. The
// driver would wait for each.
func (x *pgTx) copy(ctx context.Context, tables []Copied) (int64, error) {
	// The first statement takes the connection.
	if x.conn == nil {
		if _, err := x.exec(ctx, "SELECT 1", nil); err != nil {
			return 0, err
		}
	}
	count, refusal, err := int64(0), error(nil), x.sendCopies(tables)
	for i := 0; err == nil && i < len(tables); i++ {
		var one int64
		var because *pgconn.PgError
		one, because, err = x.receiveCopy(ctx)
		count += one
		// After a table that it refuses the server refuses all others; the first
		// error is the cause.
		if because != nil && refusal == nil {
			refusal = because
		}
	}
	if err != nil {
		// Answers may still be on their way, so the connection cannot be used
		// again, not even to roll back.
		x.failed = true
	}
	if refusal != nil {
		err = refusal
	}
	return count, x.note(postgresDialect.wrap(err))
}

// receiveCopy reads the server's answer for one table.
func (x *pgTx) receiveCopy(ctx context.Context) (count int64, refusal *pgconn.PgError, err error) {
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
	// pieceSize is how many bytes are sent at once.
	pieceSize = 64 << 10
	// copyHeader is the header of a binary COPY: signature, no flags, no extension.
	copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	// frameHeader is the header of a CopyData message; closeFrame sets its length.
	frameHeader = "d\x00\x00\x00\x00"
)

// pieces are reused by the next batch.
var pieces = sync.Pool{New: func() any { return new(make([]byte, 0, pieceSize+pieceSize/4)) }}

// sendCopies encodes rows while it sends them.
func (x *pgTx) sendCopies(tables []Copied) error {
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
			// Do not keep the memory of one long row.
			if piece = piece[:0]; cap(piece) > 4*pieceSize {
				piece = *kept
			}
			frame, piece = 0, append(piece[:0], frameHeader...)
		}
		piece = append(piece, 0xff, 0xff) // the end marker
		closeFrame(piece[frame:])
		if piece, err = (&pgproto3.CopyDone{}).Encode(piece); err != nil {
			return err
		}
	}
	return x.conn.PgConn().Frontend().SendUnbufferedEncodedCopyData(piece)
}

// closeFrame sets the length of a frame, which does not count its type byte.
func closeFrame(frame []byte) {
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-1)) //nolint:gosec // a row is no longer than a request
}

// appendRow appends the number of columns and each value.
func appendRow(buf []byte, row []any) []byte {
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(row))) //nolint:gosec // of our own tables
	for _, value := range row {
		buf = appendValue(buf, value)
	}
	return buf
}
