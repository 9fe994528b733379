package sqlstore

import (
	"context"
	"errors"

	"landfall/internal/store/sqlset"
)

// errChanged means that an account changed after it was locked.
var errChanged = errors.New("the ledger of an account changed under its lock")

// sealedColumns lists the columns of each table that are sealed when encryption
// is on.
var sealedColumns = map[*sqlset.Table][]sealedColumn{}

// newTable declares a table whose rows are written many at a time.
func newTable(name string, columns ...string) *sqlset.Table {
	made := sqlset.NewTable(name, columns...)
	sealedColumns[made] = encryptedColumns(made)
	return made
}

// mustChangeAll declares a change that must find every one of its rows.
func mustChangeAll(made *sqlset.Table) *sqlset.Table {
	made.Exact = errChanged
	return made
}

// write encrypts and writes sets of rows.
func (t *tx) write(ctx context.Context, sets ...*sqlset.Rows) error {
	for _, rows := range sets {
		if err := t.sealer.sealRows(rows); err != nil {
			return err
		}
	}
	return translate(sqlset.Write(ctx, t.engine, sets...))
}
