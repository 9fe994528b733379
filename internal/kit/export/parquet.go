package export

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"landfall/internal/api/rules"
)

const (
	// partAccounts is how many accounts the files of one part have at least. A Parquet file can only be
	// read when it is complete, so an interrupted export continues after the last complete part.
	partAccounts = 20_000
	// groupRows limits how many rows are in memory.
	groupRows = 10_000
	// pageBytes is the size of a page of a column.
	pageBytes = 64 << 10
)

// Decimals have 12 digits before and 10 after the decimal point, amounts of money 15 and 3.
const (
	decimalPrecision, decimalScale, decimalBytes = 22, 10, 16
	amountPrecision, amountScale                 = 18, 3
)

// parquetWriter writes Parquet files: one per table and part.
type parquetWriter struct {
	journal  *journal
	layout   *layout
	schemas  map[*tableLayout]*parquet.Schema
	open     map[*tableLayout]*parquetFile
	accounts int // in the current part
}

type parquetFile struct {
	name string
	file *growingFile
	out  *parquet.GenericWriter[any]
	row  parquet.Row
}

func (w *parquetWriter) begin(l *layout) error {
	w.layout, w.open, w.schemas = l, map[*tableLayout]*parquetFile{}, map[*tableLayout]*parquet.Schema{}
	for _, t := range l.tables {
		w.schemas[t] = newParquetSchema(t)
	}
	return nil
}

// orderedGroup is a group whose columns keep their order.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.fields }

// newParquetSchema makes the schema of a table. Every column may be empty.
func newParquetSchema(t *tableLayout) *parquet.Schema {
	group := parquet.Group{}
	position := map[string]int{}
	for i := range t.columns {
		group[t.columns[i].name] = parquet.Optional(parquetNode(&t.columns[i].typ))
		position[t.columns[i].name] = i
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return position[a.Name()] - position[b.Name()] })
	return parquet.NewSchema(t.name, orderedGroup{group, fields})
}

func parquetNode(typ *rules.Type) parquet.Node {
	switch typ.Shape {
	case rules.ShapeBoolean:
		return parquet.Leaf(parquet.BooleanType)
	case rules.ShapeInteger:
		return parquet.Int(64)
	case rules.ShapeAmount:
		return parquet.Decimal(amountScale, amountPrecision, parquet.Int64Type)
	case rules.ShapeDecimal:
		return parquet.Decimal(decimalScale, decimalPrecision, parquet.FixedLenByteArrayType(decimalBytes))
	case rules.ShapeDate:
		return parquet.Date()
	case rules.ShapeDatetime:
		return parquet.Timestamp(parquet.Microsecond)
	case rules.ShapeAny:
		return parquet.JSON()
	}
	return parquet.String()
}

// writer returns the file of a table in the current part.
func (w *parquetWriter) writer(t *tableLayout) (*parquetFile, error) {
	if one := w.open[t]; one != nil {
		return one, nil
	}
	name := fmt.Sprintf("%s-%05d.parquet", t.name, w.journal.state.Part+1)
	file, err := w.journal.file(name)
	if err != nil {
		return nil, err
	}
	one := &parquetFile{name: name, file: file, out: parquet.NewGenericWriter[any](file, w.schemas[t], parquet.Compression(&parquet.Snappy),
		parquet.PageBufferSize(pageBytes), parquet.WriteBufferSize(0), parquet.MaxRowsPerRowGroup(groupRows), parquet.CreatedBy("landfall", "", ""))}
	w.open[t] = one
	return one, nil
}

func (w *parquetWriter) row(t *tableLayout, row []cell) error {
	one, err := w.writer(t)
	if err != nil {
		return err
	}
	one.row = one.row[:0]
	for i := range row {
		one.row = append(one.row, parquetValue(&t.columns[i].typ, &row[i], i))
	}
	one.file.rows++
	_, err = one.out.WriteRows([]parquet.Row{one.row})
	return err
}

func parquetValue(typ *rules.Type, from *cell, column int) parquet.Value {
	if !from.set {
		return parquet.NullValue().Level(0, 0, column)
	}
	var to parquet.Value
	switch typ.Shape {
	case rules.ShapeBoolean:
		to = parquet.BooleanValue(from.number != 0)
	case rules.ShapeInteger, rules.ShapeAmount, rules.ShapeDatetime:
		to = parquet.Int64Value(from.number)
	case rules.ShapeDate:
		to = parquet.Int32Value(int32(from.number)) //nolint:gosec // calendar days fit
	case rules.ShapeDecimal:
		to = parquet.FixedLenByteArrayValue(decimalBytesOf(from.text))
	default:
		to = parquet.ByteArrayValue([]byte(from.text))
	}
	return to.Level(0, 1, column)
}

// decimalBytesOf returns a decimal as a big-endian two's complement of its tenth decimal places.
func decimalBytesOf(text string) []byte {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction += strings.Repeat("0", decimalScale)
	digits, _ := new(big.Int).SetString(whole+fraction[:decimalScale], 10) // it was parsed before
	if digits == nil {
		digits = new(big.Int)
	}
	if digits.Sign() < 0 {
		digits.Add(digits, new(big.Int).Lsh(big.NewInt(1), 8*decimalBytes))
	}
	return digits.FillBytes(make([]byte, decimalBytes))
}

// page ends the part if it is long enough.
func (w *parquetWriter) page(accounts int) error {
	if w.accounts += accounts; w.accounts < partAccounts {
		return nil
	}
	return w.endPart()
}

// endPart completes the files of a part.
func (w *parquetWriter) endPart() error {
	for t, one := range w.open {
		if err := one.out.Close(); err != nil {
			return err
		}
		if err := w.journal.complete(one.name); err != nil {
			return err
		}
		delete(w.open, t)
	}
	w.journal.state.Part++
	w.accounts = 0
	return nil
}

// checkpoint is possible between parts only.
func (w *parquetWriter) checkpoint() (bool, error) { return len(w.open) == 0, nil }

// finish completes the last part. Tables without rows get a file as well, so that queries find them.
func (w *parquetWriter) finish() error {
	for _, t := range w.layout.tables {
		if w.journal.hasPart(t.name) {
			continue
		}
		if _, err := w.writer(t); err != nil {
			return err
		}
	}
	if len(w.open) > 0 {
		if err := w.endPart(); err != nil {
			return err
		}
	}
	return describe(w.journal, w.layout, ".parquet")
}
