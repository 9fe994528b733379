package engine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// columnCodec sends a Column as PostgreSQL reads arrays. The driver's own codec asks
// each value for its kind and lets the piece of memory grow under them, which
// was a third of the time it took to send an account's rows. Everything else is
// left to the driver's.
type columnCodec struct {
	pgtype.Codec
	element uint32 // kind of the values
}

// learnColumns teaches a connection the kinds of array that our tables have.
func learnColumns(kinds *pgtype.Map) {
	for array, element := range map[uint32]uint32{
		pgtype.Int8ArrayOID: pgtype.Int8OID, pgtype.TextArrayOID: pgtype.TextOID, pgtype.JSONArrayOID: pgtype.JSONOID,
		pgtype.BoolArrayOID: pgtype.BoolOID, pgtype.ByteaArrayOID: pgtype.ByteaOID,
	} {
		if known, ok := kinds.TypeForOID(array); ok {
			kinds.RegisterType(&pgtype.Type{Name: known.Name, OID: array, Codec: columnCodec{known.Codec, element}})
		}
	}
}

// PlanEncode is asked for every parameter of one of these kinds.
func (c columnCodec) PlanEncode(kinds *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ours := value.(Column); ours && format == pgtype.BinaryFormatCode {
		return columnPlan(c.element)
	}
	return c.Codec.PlanEncode(kinds, oid, format, value)
}

// columnPlan writes columns of one kind.
type columnPlan uint32

// Encode writes how many dimensions there are, whether any value is none, the kind of
// the values, length and first index of the one dimension, and then each value behind its length.
func (p columnPlan) Encode(value any, buf []byte) ([]byte, error) {
	column := value.(Column) //nolint:forcetypeassert // PlanEncode looked
	buf = slices.Grow(buf, column.room)
	if column.length() == 0 {
		return word(word(word(buf, 0), 0), uint32(p)), nil
	}
	buf = word(buf, 1)
	none := len(buf)
	buf = word(word(buf, 0), uint32(p))
	buf = word(word(buf, uint32(column.length())), 1) //nolint:gosec // of memory
	for i := range column.length() {
		value := column.Index(i)
		if value != nil && !p.takes(value) {
			return nil, fmt.Errorf("a column of kind %d holds a %T", uint32(p), value)
		}
		if value == nil {
			buf[none+3] = 1
		}
		buf = appendValue(buf, value)
	}
	return buf, nil
}

// elements are the kinds of values by the names that PostgreSQL gives them.
var elements = map[string]columnPlan{
	"bigint": pgtype.Int8OID, "text": pgtype.TextOID, "json": pgtype.JSONOID, "boolean": pgtype.BoolOID, "bytea": pgtype.ByteaOID,
}

// takes says whether a value is of the kind, since its bytes would be read as that.
func (p columnPlan) takes(value any) (ours bool) {
	switch p {
	case pgtype.Int8OID:
		_, ours = value.(int64)
	case pgtype.TextOID, pgtype.JSONOID:
		_, ours = value.(string)
	case pgtype.BoolOID:
		_, ours = value.(bool)
	case pgtype.ByteaOID:
		_, ours = value.([]byte)
	}
	return ours
}

// appendValue writes a value behind its length, as PostgreSQL reads those of its own
// kinds; none has no length.
func appendValue(buf []byte, value any) []byte {
	switch value := value.(type) {
	case int64:
		return binary.BigEndian.AppendUint64(word(buf, 8), uint64(value)) //nolint:gosec // as it is
	case string:
		return append(word(buf, uint32(len(value))), value...) //nolint:gosec // of memory
	case []byte:
		return append(word(buf, uint32(len(value))), value...) //nolint:gosec // of memory
	case bool:
		if value {
			return append(word(buf, 1), 1)
		}
		return append(word(buf, 1), 0)
	}
	return word(buf, ^uint32(0))
}

// word appends four bytes in the order of the network.
func word(buf []byte, value uint32) []byte { return binary.BigEndian.AppendUint32(buf, value) }
