package sqlstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"landfall"
)

// rekeyBatch is how many rows one step looks at. On SQLite all other writers
// wait while they are written.
const rekeyBatch = 200

// rekeyState is the progress of re-encryption.
type rekeyState struct {
	table                   int // index in rekeyTables
	after                   []any
	seen, encrypted, missed int64
}

// Rekey runs one step. It reads without locks and writes a row only if it is
// unchanged since it was read: a concurrent change has sealed the row with the
// current key anyway.
func (s *Store) Rekey(ctx context.Context) (landfall.RekeyStep, error) {
	if s.sealer == nil {
		return landfall.RekeyStep{}, landfall.ErrNotFound
	}
	at, err := s.rekeyState(ctx)
	if err != nil {
		return landfall.RekeyStep{}, err
	}
	before := at
	if at.table < len(rekeyTables) {
		err = s.rekeyTable(ctx, rekeyTables[at.table], &at)
	} else {
		err = s.rekeyTerms(ctx, &at)
	}
	if err != nil {
		return landfall.RekeyStep{}, err
	}
	step := landfall.RekeyStep{Key: s.sealer.Writer(), Table: tableName(before.table), Scanned: at.seen, Encrypted: at.encrypted, Changed: at.missed}
	if at.table <= len(rekeyTables) {
		return step, s.saveRekeyState(ctx, at)
	}
	// Some rows changed while the round passed them. Another round looks at
	// them again. No former key may be dropped until a round misses nothing.
	if at.missed > 0 {
		return step, s.saveRekeyState(ctx, rekeyState{seen: at.seen, encrypted: at.encrypted})
	}
	step.Done = true
	step.DroppedKeys, err = s.endRekey(ctx)
	return step, err
}

// tableName returns the name under which progress in a table is stored. Unlike
// indexes, names stay valid when a later version adds a table.
func tableName(place int) string {
	if place < len(rekeyTables) {
		return rekeyTables[place].table
	}
	return "search_term"
}

// rekeyState reads the progress. A new key starts from the beginning.
func (s *Store) rekeyState(ctx context.Context) (at rekeyState, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		at = rekeyState{}
		var after []byte
		var place string
		err := t.one(ctx, `SELECT table_name, after_row, seen, encrypted, missed FROM rekey_progress WHERE id = 1 AND key_id = $1`, []any{s.sealer.Writer()},
			[]any{&place, &after, &at.seen, &at.encrypted, &at.missed})
		if ignoreNotFound(err) != nil {
			return err
		}
		if err == nil {
			at.table = slices.IndexFunc(rekeyTables, func(r *tableRekeyer) bool { return r.table == place })
			switch {
			case place == "search_term":
				at.table = len(rekeyTables)
			case at.table < 0:
				// The table belongs to another version. Begin with the first
				// row of the first table, since its keys mean nothing in ours.
				at.table = 0
				return nil
			}
			at.after, err = readKey(after)
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM rekey_progress`); err != nil {
			return err
		}
		_, err = t.exec(ctx, `INSERT INTO rekey_progress (id, key_id, table_name, after_row, seen, encrypted, missed, started_at)
			VALUES (1, $1, $2, CAST('[]' AS {json}), 0, 0, 0, {now})`, s.sealer.Writer(), rekeyTables[0].table)
		return err
	})
	return at, err
}

// readKey decodes a row's key into the types that a statement compares: int64
// and string.
func readKey(text []byte) ([]any, error) {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	// A float64 would lose the last digits of a large key, and rows would be
	// skipped.
	decoder.UseNumber()
	var after []any
	if err := decoder.Decode(&after); err != nil {
		return nil, err
	}
	for i, value := range after {
		if number, is := value.(json.Number); is {
			whole, err := strconv.ParseInt(number.String(), 10, 64)
			if err != nil {
				return nil, err
			}
			after[i] = whole
		}
	}
	return after, nil
}

// saveRekeyState is called after a step has written. A crash between the two
// repeats the step, which then has nothing left to do. No step is ever skipped.
func (s *Store) saveRekeyState(ctx context.Context, at rekeyState) error {
	if at.after == nil {
		at.after = []any{}
	}
	after, err := json.Marshal(at.after)
	if err != nil {
		return err
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE rekey_progress SET table_name = $1, after_row = CAST($2 AS {json}), seen = $3, encrypted = $4, missed = $5 WHERE id = 1`,
			tableName(at.table), string(after), at.seen, at.encrypted, at.missed)
		return err
	})
}

// endRekey deletes the keys that no longer seal anything.
func (s *Store) endRekey(ctx context.Context) (dropped []string, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		dropped, err = collect(ctx, t.txSession, func(scan scanner, id *string) error { return scan(id) },
			`DELETE FROM encryption_key WHERE id <> $1 RETURNING id`, s.sealer.Writer())
		if err != nil {
			return err
		}
		_, err = t.exec(ctx, `DELETE FROM rekey_progress`)
		return err
	})
	return dropped, err
}

// Encryption returns the keys in use and the progress of re-encryption.
func (s *Store) Encryption(ctx context.Context) (found landfall.Encryption, err error) {
	held, err := s.listedKeys(ctx)
	if err != nil || s.sealer == nil {
		return landfall.Encryption{}, err
	}
	found.WriteKey = s.sealer.Writer()
	for _, one := range held {
		found.Keys = append(found.Keys, one.id)
	}
	err = s.stream(ctx, func(v *view) error {
		step := &found.Progress
		err := v.one(ctx, `SELECT key_id, table_name, seen, encrypted, missed FROM rekey_progress WHERE id = 1`, nil,
			[]any{&step.Key, &step.Table, &step.Scanned, &step.Encrypted, &step.Changed})
		found.Rekeying = err == nil
		if ignoreNotFound(err) != nil {
			return err
		}
		found.HasPlaintext, err = v.hasPlainData(ctx)
		return err
	})
	return found, err
}

// hasPlainData reports whether the oldest document or customer is stored in the
// clear. Rows from before there was a key are older than all others.
func (v *view) hasPlainData(ctx context.Context) (bool, error) {
	for _, text := range []string{
		`SELECT g.document FROM staging g WHERE g.purged_at IS NULL ORDER BY g.process_id, g.revision LIMIT 1`,
		`SELECT c.family_name FROM customer c WHERE c.family_name <> '' ORDER BY c.account_id, c.ordinal LIMIT 1`,
	} {
		found, err := collect(ctx, v.txSession, func(scan scanner, kept *[]byte) error { return scan(kept) }, text)
		if err != nil {
			return false, err
		}
		for _, kept := range found {
			if len(kept) > 0 && !v.sealer.IsSealed(kept) {
				return true, nil
			}
		}
	}
	return false, nil
}

// rekeyTables lists the tables with sealed columns, sorted by name.
var rekeyTables = func() (all []*tableRekeyer) {
	for _, name := range slices.Sorted(maps.Keys(tableRules)) {
		if one := newTableRekeyer(name, tableRules[name]); one != nil {
			all = append(all, one)
		}
	}
	return all
}()
