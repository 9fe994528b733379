package convert

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"landfall/internal/kit/book"
	"landfall/internal/lib/spreadsheet"
)

// writeUnused writes the columns of the tables of accounts that the map does not use, with the number
// of the account, in the order of the tables. So nothing of the source is lost, and the results of an
// import can show it.
func (x *conversion) writeUnused(ctx context.Context, folder string) (err error) {
	type accountTable struct {
		*sourceTable
		root    *place
		columns []int // of the table
		cells   []int // where they go
	}
	var sources []accountTable
	var names []string
	for _, t := range x.tables {
		unused := x.unused(t)
		for _, p := range t.places {
			if p.stem != book.Accounts.Stem || p.mode != asRoot || len(unused) == 0 {
				continue
			}
			one := accountTable{sourceTable: t, root: p}
			for _, name := range unused {
				one.columns = append(one.columns, slices.Index(t.columns, name))
				at := slices.Index(names, name)
				if at < 0 {
					at, names = len(names), append(names, name)
				}
				one.cells = append(one.cells, 2+at)
			}
			sources = append(sources, one)
			break
		}
	}
	if len(sources) == 0 {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(folder, book.UnusedName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewWriter(file)
	out := spreadsheet.NewWriter(buffered)
	if err := out.Write(append([]string{"import_supplier", "external_account_number"}, names...)...); err != nil {
		return err
	}
	cells := make([]string, 2+len(names))
	for _, one := range sources {
		clear(cells)
		for _, path := range one.paths {
			err := one.eachRow(ctx, path, func(row *currentRow) error {
				key := row.key(nil, one.root.key)
				if len(key) == 0 || row.failed || len(one.root.when) > 0 && !row.passes(one.root.when) {
					return nil
				}
				cells[0], cells[1] = x.supplier, string(key)
				for i, column := range one.columns {
					cells[one.cells[i]] = string(row.cell(column, true))
				}
				return out.Write(cells...)
			})
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(out.Flush(), buffered.Flush())
}

// eachRow reads the rows of a file that have as many fields as the table.
func (t *sourceTable) eachRow(ctx context.Context, path string, visit func(*currentRow) error) error {
	split, file, err := t.open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	rows := &records{delimiter: t.dialect.delimiter, quote: t.dialect.quote}
	row := &currentRow{table: t}
	for first := t.headed; ; {
		part, err := split.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if part.wrong != "" {
			continue
		}
		rows.reset(part)
		for rows.next() {
			if !first && rows.wrong == "" && len(rows.fields) == len(t.columns) {
				row.begin(rows.fields)
				if err := visit(row); err != nil {
					return err
				}
			}
			first = false
		}
	}
}
