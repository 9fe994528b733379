package engine

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// TransferOptions says how Transfer copies a database.
type TransferOptions struct {
	From, To Options
	// Without names the tables whose rows stay behind.
	Without []string
	// Seeded names the tables that have a row in a database that was never used.
	Seeded []string
	// Marker is a table with the column at. It has a row from the start of the
	// copy until the caller deletes it.
	Marker string
	Mark   int64 // the row of this copy in Marker
	// Progress is called with the number of rows done, and the number of all rows.
	Progress func(doing string, done, of int64)
}

// TransferredTable is a table that was copied. Both databases have the same number of
// rows and the same hash, which does not depend on the order of rows.
type TransferredTable struct {
	Name string
	Rows int64
	Hash string
}

// transferTable is a table as the database describes it. Columns are sorted by name.
type transferTable struct {
	name    string
	columns []transferColumn
}

type transferColumn struct{ name, kind string }

func (t transferTable) names() []string {
	names := make([]string, len(t.columns))
	for i, column := range t.columns {
		names[i] = column.name
	}
	return names
}

// transferEnd is one of the two databases. All methods use one connection.
type transferEnd interface {
	// lock keeps servers and other copies away. A database that is read gets no more
	// writes and shows one snapshot.
	lock(ctx context.Context, reads bool) error
	// tables lists all tables. Those that others refer to come first.
	tables(ctx context.Context) ([]transferTable, error)
	// read returns the statement that reads all rows of a table.
	read(table transferTable) string
	// empty deletes all rows of tables, whatever triggers say.
	empty(ctx context.Context, tables []transferTable) error
	// write inserts rows until next returns nil.
	write(ctx context.Context, table transferTable, next func() ([]any, error)) error
	// counters returns the last value of each table's counter.
	counters(ctx context.Context) (map[string]int64, error)
	// continueAfter moves the counters of all tables past these values and past the
	// highest row.
	continueAfter(ctx context.Context, counters map[string]int64) error
	// finish checks references and updates statistics after all rows were written.
	finish(ctx context.Context) error
	close() error
}

// Transfer copies all rows of a database into another one of either kind, which has no
// data. It creates the schema if there is none. If it was interrupted, the other database
// has a row in the table Marker, and the next call starts again from the beginning.
// Memory does not grow with the number of rows. When it returns without an error, both
// databases have the same rows, and the row in Marker is still there.
func Transfer(ctx context.Context, from, to Name, options TransferOptions) (done []TransferredTable, err error) {
	if from.File() != "" && sameFile(from.File(), to.File()) {
		return nil, errors.New("both names mean the same database")
	}
	copied, err := openEnd(ctx, to, options.To, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", to, err)
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	source, err := openEnd(ctx, from, options.From, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	defer func() { _ = source.close() }() // it was only read
	tables, err := source.tables(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	targetTables, err := copied.tables(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", to, err)
	}
	if err := sameTables(tables, targetTables); err != nil {
		return nil, fmt.Errorf("%s and %s differ: %w", from, to, err)
	}
	t := &transfer{source: source, target: copied, options: options, read: map[string]transferTable{}}
	for _, table := range tables {
		t.read[table.name] = table
	}
	for _, table := range targetTables {
		if table.name != options.Marker && !slices.Contains(options.Without, table.name) {
			t.tables = append(t.tables, table)
		}
	}
	if done, err = t.run(ctx); err != nil {
		return nil, fmt.Errorf("copying %s to %s: %w", from, to, err)
	}
	return done, nil
}

// openEnd opens a database that has this program's schema.
func openEnd(ctx context.Context, name Name, options Options, create bool) (_ transferEnd, err error) {
	s, err := name.target.schema(ctx, options.withDefaults(), create)
	if err != nil {
		return nil, err
	}
	end, err := name.target.transferEnd(ctx, s)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, end.close())
		}
	}()
	has, _, err := s.versions(ctx)
	if err == nil && (has > 0 || !create) {
		// A step in between is not applied here: it may take long, and needs a backup first.
		err = s.upgrade(ctx, false)
	} else if err == nil {
		err = s.upgrade(ctx, true)
	}
	if err == nil {
		err = end.lock(ctx, !create)
	}
	return end, err
}

// sameTables compares the tables of two databases. The types of columns differ, so only
// names count.
func sameTables(some, others []transferTable) error {
	describe := func(tables []transferTable) (described []string) {
		for _, table := range tables {
			described = append(described, table.name+" ("+strings.Join(table.names(), ", ")+")")
		}
		return described
	}
	left, right := describe(some), describe(others)
	for _, pair := range [][2][]string{{left, right}, {right, left}} {
		for _, table := range pair[0] {
			if !slices.Contains(pair[1], table) {
				return fmt.Errorf("only one of them has the table %s", table)
			}
		}
	}
	return nil
}

// transfer is a copy in progress.
type transfer struct {
	source, target transferEnd
	options        TransferOptions
	tables         []transferTable          // of the target, in the order they are written
	read           map[string]transferTable // of the source
	done, total    int64                    // rows
}

func (t *transfer) run(ctx context.Context) (done []TransferredTable, err error) {
	unfinished, err := countRows(ctx, t.source, t.options.Marker)
	if err != nil {
		return nil, err
	}
	if unfinished > 0 {
		return nil, errors.New("the database to copy from is itself a copy that was not finished")
	}
	if err := t.checkEmpty(ctx); err != nil {
		return nil, err
	}
	// The marks of earlier copies stay until this one is finished.
	marker := []transferColumn{{"at", "bigint"}}
	if err := t.target.write(ctx, transferTable{t.options.Marker, marker}, rowsOf([]any{t.options.Mark})); err != nil {
		return nil, err
	}
	if err := t.target.empty(ctx, t.tables); err != nil {
		return nil, err
	}
	for _, table := range t.tables {
		rows, err := countRows(ctx, t.source, table.name)
		if err != nil {
			return nil, err
		}
		t.total += rows
	}
	for _, table := range t.tables {
		sum, err := t.copyTable(ctx, table)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", table.name, err)
		}
		done = append(done, TransferredTable{table.name, sum.rows, sum.String()})
	}
	counters, err := t.source.counters(ctx)
	if err == nil {
		err = t.target.continueAfter(ctx, counters)
	}
	if err == nil {
		err = t.target.finish(ctx)
	}
	if err != nil {
		return nil, err
	}
	return done, t.compare(ctx, done)
}

// checkEmpty refuses a database with data, unless it is a copy that was not finished.
func (t *transfer) checkEmpty(ctx context.Context) error {
	unfinished, err := countRows(ctx, t.target, t.options.Marker)
	if err != nil || unfinished > 0 {
		return err
	}
	for _, table := range t.tables {
		rows, err := countRows(ctx, t.target, table.name)
		if err != nil {
			return err
		}
		if rows > 0 && !slices.Contains(t.options.Seeded, table.name) {
			return fmt.Errorf("the database to copy to is not empty: table %s has %d rows; use a new database", table.name, rows)
		}
	}
	return nil
}

func (t *transfer) copyTable(ctx context.Context, table transferTable) (sum rowSum, err error) {
	err = eachRow(ctx, t.source, t.read[table.name], func(next func() ([]any, error)) error {
		return t.target.write(ctx, table, func() ([]any, error) {
			row, err := next()
			if err == nil && row != nil {
				sum.add(row)
				t.progress("copying "+table.name, t.total)
			}
			return row, err
		})
	})
	return sum, err
}

// compare reads the copy and compares it with what was read from the source.
func (t *transfer) compare(ctx context.Context, copied []TransferredTable) error {
	t.done = 0
	for i, table := range t.tables {
		var sum rowSum
		err := eachRow(ctx, t.target, table, func(next func() ([]any, error)) error {
			for {
				row, err := next()
				if err != nil || row == nil {
					return err
				}
				sum.add(row)
				t.progress("comparing "+table.name, t.total)
			}
		})
		if err != nil {
			return fmt.Errorf("table %s: %w", table.name, err)
		}
		if want := copied[i]; sum.rows != want.Rows || sum.String() != want.Hash {
			return fmt.Errorf("table %s of the copy differs: %d rows with hash %s, want %d rows with hash %s", table.name, sum.rows, sum.String(), want.Rows, want.Hash)
		}
	}
	return nil
}

func (t *transfer) progress(doing string, of int64) {
	t.done++
	if t.options.Progress != nil {
		t.options.Progress(doing, t.done, of)
	}
}

// rowSum is the sum of the hashes of rows, so their order does not matter, and a row that
// is there twice counts twice.
type rowSum struct {
	rows  int64
	parts [4]uint64
	row   []byte
}

// add adds a row. Each value is written with its kind and length, so that no two rows have
// the same bytes.
func (s *rowSum) add(row []any) {
	s.row = s.row[:0]
	for _, value := range row {
		switch value := value.(type) {
		case nil:
			s.row = append(s.row, 0)
		case int64:
			s.row = binary.BigEndian.AppendUint64(append(s.row, 1), uint64(value)) //nolint:gosec // only the bits matter
		case string:
			s.row = append(binary.BigEndian.AppendUint64(append(s.row, 2), uint64(len(value))), value...)
		case []byte:
			s.row = append(binary.BigEndian.AppendUint64(append(s.row, 3), uint64(len(value))), value...)
		}
	}
	hash := sha256.Sum256(s.row)
	for i := range s.parts {
		s.parts[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
	s.rows++
}

func (s *rowSum) String() string {
	var sum []byte
	for _, part := range s.parts {
		sum = binary.BigEndian.AppendUint64(sum, part)
	}
	return hex.EncodeToString(sum)
}

// connected is an end that has a connection.
type connected interface{ connection() *sql.Conn }

// countRows returns the number of rows of a table.
func countRows(ctx context.Context, end transferEnd, table string) (rows int64, err error) {
	err = end.(connected).connection().QueryRowContext(ctx, `SELECT count(*) FROM `+quoteName(table)).Scan(&rows) //nolint:forcetypeassert // both are
	return rows, err
}

// eachRow reads all rows of a table. Booleans are read as 0 and 1, and JSON as the text that
// was stored, so that both databases return the same values.
func eachRow(ctx context.Context, end transferEnd, table transferTable, use func(next func() ([]any, error)) error) error {
	rows, err := end.(connected).connection().QueryContext(ctx, end.read(table)) //nolint:forcetypeassert,sqlclosecheck // both are connected; the rows are closed below
	if err != nil {
		return err
	}
	defer rows.Close()
	row, places := make([]any, len(table.columns)), make([]any, len(table.columns))
	for i := range row {
		places[i] = &row[i]
	}
	return use(func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for i, value := range row {
			switch value := value.(type) {
			case nil, int64, string:
			case []byte:
				if value == nil { // the driver's empty value; NULL is not a []byte
					row[i] = []byte{}
				}
			case bool:
				row[i] = int64(0)
				if value {
					row[i] = int64(1)
				}
			default:
				return nil, fmt.Errorf("column %s holds a %T, which cannot be copied", table.columns[i].name, value)
			}
		}
		return row, nil
	})
}

func rowsOf(rows ...[]any) func() ([]any, error) {
	return func() ([]any, error) {
		if len(rows) == 0 {
			return nil, nil
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	}
}

// quoteName quotes a name for both databases.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteNames quotes names and separates them by commas.
func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteName(name)
	}
	return strings.Join(quoted, ", ")
}
