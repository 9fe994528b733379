package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
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
	jsonColumns = []string{"refusal.person", "address.lines", "meter.registers", "ledger_entry.document", "note.document_paths", "note.extra", "historical_statement.extra",
		"process.failure", "refusal.failure", "posting_refusal.failure", "run_failure.failure"}
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
	// A digest from before there was a key could be guessed, so it is replaced along
	// with the text.
	if r.hasDigest() {
		columns, sets = append(columns, "new_digest bigint"), append(sets, "digest = w.new_digest")
	}
	r.page = `SELECT ` + strings.Join(read, ", ") + ` FROM ` + r.table + ` held` + held.join + `{behind} ORDER BY ` + strings.Join(keys, ", ") + ` LIMIT $1`
	r.behind = ` WHERE (` + strings.Join(keys, ", ") + `) > (` + strings.Join(marks, ", ") + `)`
	r.save = sqlset.NewQuery(` UPDATE `+r.table+` SET `+strings.Join(sets, ", ")+` FROM wanted w WHERE `+strings.Join(same, " AND "), columns...)
}

// hasDigest reports whether the rows of the table also have a digest of their
// content.
func (r *tableRekeyer) hasDigest() bool { return r.table == "note" || r.table == "account_identifier" }

// rekeyTable runs one step along a table.
func (s *Store) rekeyTable(ctx context.Context, r *tableRekeyer, at *rekeyState) error {
	var due []any
	more := false
	now := *at
	err := s.stream(ctx, func(v *view) (err error) {
		now = *at
		due, more, err = r.readPage(ctx, v, &now)
		return err
	})
	if err != nil {
		return err
	}
	*at = now
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

// readPage reads the next rows. It returns those to write instead, and whether
// there are more.
func (r *tableRekeyer) readPage(ctx context.Context, v *view, at *rekeyState) (due []any, more bool, err error) {
	text, args := strings.Replace(r.page, "{behind}", "", 1), []any{int64(rekeyBatch)}
	if len(at.after) > 0 {
		text, args = strings.Replace(r.page, "{behind}", r.behind, 1), append(args, at.after...)
	}
	looked := int64(0)
	_, err = collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
		row, key, err := r.read(v.sealer, scan, at)
		due, at.after = append(due, row...), key
		looked++
		return err
	}, text, args...)
	at.seen += looked
	return due, looked == rekeyBatch, err
}

// read reads a row. It returns the row to write instead, or nil if nothing has
// to change, and the key of the row. Values that do not open, or are in the clear
// where that is refused, stay as they are: it names them in the state.
func (r *tableRekeyer) read(s *sealer, scan scanner, at *rekeyState) (row, key []any, err error) {
	names := 0
	for _, column := range r.columns {
		names = max(names, slices.Max(column.known)+1)
	}
	values := make([]any, r.keys+names)
	kept := make([]sealedValue, len(r.columns))
	var into []any
	for i := range values {
		into = append(into, &values[i])
	}
	for i, column := range r.columns {
		into = append(into, kept[i].into(column.kind))
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
		anew, plain, err := s.reseal(r.table, &column, column.location.In(bound...), kept[i])
		switch {
		case errors.Is(err, seal.ErrPlain), errors.Is(err, seal.ErrAltered):
			if errors.Is(err, seal.ErrAltered) {
				at.unreadable++
			}
			at.problems = append(at.problems, unreadableError(r.table, column.name, bound, err).Error())
		case err != nil:
			return nil, nil, unreadableError(r.table, column.name, bound, err)
		default:
			opened[column.name] = plain
		}
		changed = changed || anew != nil
		// The statement writes all columns of a row, so a value that need not
		// change is written back unchanged.
		if row = append(row, anew, kept[i].value()); anew == nil {
			row[len(row)-2] = kept[i].value()
		}
	}
	if r.hasDigest() && r.table != "note" {
		// It is stored together with the value, so it changes with that alone.
		row = append(row, s.identifierDigests(opened["value"])[0])
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

// sealedValue is the stored value of a column.
type sealedValue struct {
	text    sql.NullString
	bytes   []byte
	isBytes bool
}

// into returns where to scan a column of a kind.
func (v *sealedValue) into(kind string) any {
	if v.isBytes = kind == "bytea"; v.isBytes {
		return &v.bytes
	}
	return &v.text
}

// value returns the value as a statement takes it.
func (v *sealedValue) value() any {
	switch {
	case v.isBytes:
		return v.bytes
	case v.text.Valid:
		return v.text.String
	}
	return nil
}

// reseal opens a stored value and seals it again, unless it is sealed with the
// current key. Then the new value is nil.
func (s *sealer) reseal(table string, column *rekeyedColumn, place seal.Location, kept sealedValue) (anew any, plain string, err error) {
	if kept.isBytes {
		return s.resealBytes(column, place, kept.bytes)
	}
	text := kept.text.String
	if !kept.text.Valid || text == "" {
		return nil, "", nil
	}
	if plain, err = s.openText(table, column.name, column.json, place, text); err != nil {
		return nil, "", err
	}
	current := s.IsCurrentText(text)
	if column.json {
		current = s.IsCurrentJSON(text)
	}
	if current || isBlank(table, column.name, text) {
		return nil, plain, nil
	}
	return s.sealColumn(&column.sealedColumn, place, plain), plain, nil
}

// resealBytes is reseal for documents and hashes.
func (s *sealer) resealBytes(column *rekeyedColumn, place seal.Location, kept []byte) (anew any, plain string, err error) {
	if len(kept) == 0 {
		return nil, "", nil
	}
	if column.form == formMatched {
		value, err := s.openHashIn(place, kept)
		if err != nil || len(kept) != sha256.Size && s.IsCurrent(kept) {
			return nil, "", err
		}
		return s.Match(place, value), "", nil
	}
	value, err := s.Open(place, kept)
	if err != nil || s.IsCurrent(kept) {
		return nil, "", err
	}
	return s.Seal(place, value), "", nil
}

// newDigest returns the digest under which a note is stored today, given its
// stored digest.
func (s *sealer) newDigest(digest any, opened map[string]string) (any, error) {
	body, readable := opened["body"]
	note := landfall.Note{Body: body}
	_, hasPaths := opened["document_paths"]
	if extra, all := opened["extra"]; !readable || !hasPaths || !all {
		return digest, nil
	} else if extra != "" {
		if err := readExtra([]byte(extra), &note); err != nil {
			return nil, err
		}
	}
	if paths := opened["document_paths"]; paths != "" {
		if err := json.Unmarshal([]byte(paths), &note.DocumentPaths); err != nil {
			return nil, err
		}
	}
	for i, one := range s.noteDigests(&note) {
		if i > 0 && digest == one {
			return s.noteDigests(&note)[0], nil
		}
	}
	return digest, nil
}
