package seal

import "encoding/binary"

// Location is where a value stands: a column of a row. What is sealed for one place
// does not open in another.
type Location struct {
	table string
	bound []byte
}

// NewLocation names a column of a table; In names the row.
func NewLocation(table, column string) Location {
	bound := appendText([]byte{1}, table)
	return Location{table, appendText(bound, column)}
}

// In gives the place in the row that is known by some values, each an int64 or a
// string.
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
