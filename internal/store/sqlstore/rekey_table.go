package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlset"
)

// tableRekeyer walks a table by its key and reseals its columns.
type tableRekeyer struct {
	table   string
	keys    int // number of key columns
	columns []rekeyedColumn
	page    string // selects a page of rows; {behind} is replaced by the condition or by nothing
	behind  string
	save    sqlset.Query
}

type rekeyedColumn struct {
	sealedColumn
	name  string
	kind  string // of the column: text, json or bytea
	known []int  // indexes of the row's names that it is bound to
}

// jsonColumns are the columns that contain JSON. byteColumns are documents and
// their hashes.
var (
	jsonColumns = []string{"address.lines", "meter.registers", "ledger_entry.document", "note.document_paths",
		"process.failure", "refusal.failure", "run_failure.failure"}
	byteColumns = []string{"process.hash", "staging.hash", "staging.document"}
)

// newTableRekeyer derives the walk from the registry, so that a column declared
// personal there cannot be forgotten here. It returns nil for a table without
// sealed columns.
func newTableRekeyer(table string, held tableRule) *tableRekeyer {
	r := &tableRekeyer{table: table, keys: len(held.key)}
	var names []string // columns that identify rows
	for _, name := range slices.Sorted(maps.Keys(held.columns)) {
		one := held.columns[name]
		if one.form != formSealed && one.form != formMatched {
			continue
		}
		column := rekeyedColumn{name: name, kind: "text"}
		column.form, column.location = one.form, seal.NewLocation(table, name)
		if name == "hash" {
			column.location = hashLocation // the hash of a staging is compared with that of its process
		}
		switch full := table + "." + name; {
		case slices.Contains(jsonColumns, full):
			column.kind, column.json = "json", true
		case slices.Contains(byteColumns, full):
			column.kind = "bytea"
		}
		for _, known := range held.rowOf(one) {
			// What a row is bound to may be in a joined table. Such a column is
			// qualified with its table already.
			if !strings.Contains(known, ".") {
				known = "held." + known
			}
			if !slices.Contains(names, known) {
				names = append(names, known)
			}
			column.known = append(column.known, slices.Index(names, known))
		}
		r.columns = append(r.columns, column)
	}
	if len(r.columns) == 0 {
		return nil
	}
	r.write(held, names)
	return r
}

// write builds the two statements: one reads a page of rows, the other updates
// those that are unchanged since they were read.
func (r *tableRekeyer) write(held tableRule, names []string) {
	var keys, marks, sets, same, columns []string
	for i, column := range held.key {
		name, _, _ := strings.Cut(column, " ")
		// $1 is the number of rows, so the key begins with $2. One digit is
		// enough: no key has that many columns.
		keys, marks = append(keys, "held."+name), append(marks, "$"+string(rune('2'+i)))
		columns, same = append(columns, column), append(same, r.table+"."+name+" = w."+name)
	}
	read := slices.Concat(keys, names)
	for _, column := range r.columns {
		kept, wanted := "held."+column.name, "w."+column.name
		if column.kind == "bytea" {
			columns = append(columns, column.name+" bytea", "old_"+column.name+" bytea")
			same = append(same, r.table+"."+column.name+" = w.old_"+column.name)
		} else {
			kept = "CAST(" + kept + " AS TEXT)"
			columns = append(columns, column.name+" text", "old_"+column.name+" text")
			// PostgreSQL cannot compare JSON, only its text. A NULL must still
			// be NULL, for which a plain = would never be true.
			same = append(same, "CAST("+r.table+"."+column.name+" AS TEXT) IS NOT DISTINCT FROM CAST(w.old_"+column.name+" AS TEXT)")
		}
		if column.json {
			wanted = "CAST(" + wanted + " AS {json})"
		}
		read, sets = append(read, kept), append(sets, column.name+" = "+wanted)
	}
	// A note also has a digest of its content. A digest from before there was a
	// key could be guessed, so it is replaced along with the text.
	if r.table == "note" {
		columns, sets = append(columns, "new_digest bigint"), append(sets, "digest = w.new_digest")
	}
	r.page = `SELECT ` + strings.Join(read, ", ") + ` FROM ` + r.table + ` held` + held.join + `{behind} ORDER BY ` + strings.Join(keys, ", ") + ` LIMIT $1`
	r.behind = ` WHERE (` + strings.Join(keys, ", ") + `) > (` + strings.Join(marks, ", ") + `)`
	r.save = sqlset.NewQuery(` UPDATE `+r.table+` SET `+strings.Join(sets, ", ")+` FROM wanted w WHERE `+strings.Join(same, " AND "), columns...)
}

// rekeyTable runs one step along a table.
func (s *Store) rekeyTable(ctx context.Context, r *tableRekeyer, at *rekeyState) error {
	var due []any
	count, more := int64(0), false
	err := s.stream(ctx, func(v *view) error {
		due, count = nil, 0
		looked, last := int64(0), at.after
		text, args := strings.Replace(r.page, "{behind}", "", 1), []any{int64(rekeyBatch)}
		if len(at.after) > 0 {
			text, args = strings.Replace(r.page, "{behind}", r.behind, 1), append(args, at.after...)
		}
		_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
			row, key, err := r.read(s.sealer, scan)
			if looked++; row != nil {
				due, count = append(due, row...), count+1
			}
			last = key
			return err
		}, text, args...)
		at.seen, at.after, more = at.seen+looked, last, looked == rekeyBatch
		return err
	})
	if err != nil {
		return err
	}
	width := r.save.Width()
	// Reading blocked nobody. Write in parts as short as what callers write,
	// since both wait in the same queue.
	for part := range slices.Chunk(due, sqlset.MaxBatch*width) {
		err := s.update(ctx, landfall.Key{}, func(t *tx) error {
			text, args := r.save.For(t.engine, slices.Clone(part))
			changed, err := t.exec(ctx, text, args...)
			if err == nil {
				at.encrypted += changed
				// A concurrent change has sealed the row already. Count it as
				// missed all the same: no key is dropped before every row was
				// seen as it is.
				at.missed += int64(len(part)/width) - changed
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if !more {
		at.table, at.after = at.table+1, nil
	}
	return nil
}

// read reads a row. It returns the row to write instead, or nil if nothing has
// to change, and the key of the row.
func (r *tableRekeyer) read(s *sealer, scan scanner) (row, key []any, err error) {
	names := 0
	for _, column := range r.columns {
		names = max(names, slices.Max(column.known)+1)
	}
	values := make([]any, r.keys+names)
	texts, bytes := make([]sql.NullString, len(r.columns)), make([][]byte, len(r.columns))
	var into []any
	for i := range values {
		into = append(into, &values[i])
	}
	for i, column := range r.columns {
		if column.kind == "bytea" {
			into = append(into, &bytes[i])
		} else {
			into = append(into, &texts[i])
		}
	}
	if err := scan(into...); err != nil {
		return nil, nil, err
	}
	for i, value := range values {
		// A driver that returns a text as bytes must not change what the seal
		// is bound to.
		if text, is := value.([]byte); is {
			values[i] = string(text)
		}
	}
	// Limit the capacity of the key, so that appending to it does not overwrite
	// the names after it.
	key, known := values[:r.keys:r.keys], values[r.keys:]
	row = slices.Clone(key)
	changed := false
	opened := map[string]string{}
	for i, column := range r.columns {
		bound := make([]any, len(column.known))
		for j, at := range column.known {
			bound[j] = known[at]
		}
		place := column.location.In(bound...)
		if column.kind == "bytea" {
			anew, err := s.reseal(place, column.form, bytes[i])
			if err != nil {
				return nil, nil, unreadableError(r.table, column.name, bound, err)
			}
			changed = changed || anew != nil
			row = append(row, firstBytes(anew, bytes[i]), bytes[i])
			continue
		}
		plain, err := s.OpenText(place, texts[i].String)
		if err != nil {
			return nil, nil, unreadableError(r.table, column.name, bound, err)
		}
		opened[column.name] = plain
		switch kept := texts[i]; {
		case !kept.Valid:
			row = append(row, nil, nil)
		// The statement writes all columns of a row, so a value that is current
		// is written back unchanged.
		case s.IsCurrentText(kept.String):
			row = append(row, kept.String, kept.String)
		default:
			changed = true
			row = append(row, s.sealColumn(&column.sealedColumn, place, plain), kept.String)
		}
	}
	if r.table == "note" {
		digest, err := s.newDigest(key[1], opened)
		if err != nil {
			return nil, nil, err
		}
		changed = changed || digest != key[1]
		row = append(row, digest)
	}
	if !changed {
		return nil, key, nil
	}
	return row, key, nil
}

// firstBytes returns the stored value of a column that need not change, in a row
// that is written because of another column.
func firstBytes(anew, kept []byte) []byte {
	if anew == nil {
		return kept
	}
	return anew
}

// reseal seals bytes that are not sealed with the current key and form. It
// returns nil if they are.
func (s *sealer) reseal(place seal.Location, form sealForm, kept []byte) ([]byte, error) {
	// A hash that is longer than a bare one is sealed already.
	if len(kept) == 0 || form == formMatched && len(kept) > 32 || form == formSealed && s.IsCurrent(kept) {
		return nil, nil
	}
	if form == formMatched {
		return s.Match(place, kept), nil
	}
	plain, err := s.Open(place, kept)
	if err != nil {
		return nil, err
	}
	return s.Seal(place, plain), nil
}

// newDigest returns the digest under which a note is stored today, given its
// stored digest.
func (s *sealer) newDigest(digest any, opened map[string]string) (any, error) {
	note := landfall.Note{Body: opened["body"]}
	if paths := opened["document_paths"]; paths != "" {
		if err := json.Unmarshal([]byte(paths), &note.DocumentPaths); err != nil {
			return nil, err
		}
	}
	if digests := s.noteDigests(&note); digest == digests[1] {
		return digests[0], nil
	}
	return digest, nil
}
