package seal

import "encoding/binary"

// Location is where a value is stored: a column of a row. A value sealed for one
// location does not open in another.
type Location struct {
	table string
	bound []byte
}

// NewLocation returns the location of a column; In adds the row.
func NewLocation(table, column string) Location {
	bound := appendText([]byte{1}, table)
	return Location{table, appendText(bound, column)}
}

// In returns the location in the row with the given key. Each value of the key
// is an int64, a string, or a pointer to an int, an int64 or a string.
func (p Location) In(row ...any) Location {
	bound := append(make([]byte, 0, len(p.bound)+16*len(row)), p.bound...)
	for _, value := range row {
		switch value := value.(type) {
		case int64:
			bound = binary.BigEndian.AppendUint64(append(bound, 'i'), uint64(value)) //nolint:gosec // its bits
		case string:
			bound = appendText(append(bound, 's'), value)
		case *int:
			bound = binary.BigEndian.AppendUint64(append(bound, 'i'), uint64(*value)) //nolint:gosec // its bits
		case *int64:
			bound = binary.BigEndian.AppendUint64(append(bound, 'i'), uint64(*value)) //nolint:gosec // its bits
		case *string:
			bound = appendText(append(bound, 's'), *value)
		default:
			panic("a row is known by numbers and texts")
		}
	}
	return Location{p.table, bound}
}

func appendText(dst []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(text))), text...) //nolint:gosec // of a column, which is shorter
}
