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

// rekeyBatch is how many rows one step looks at: on SQLite everybody else waits
// while they are written.
const rekeyBatch = 200

// rekeyState is how far everything is sealed anew.
type rekeyState struct {
	table                   int // among the walks
	after                   []any
	seen, encrypted, missed int64
}

// Rekey takes one step. It reads without holding anything, and writes what it
// sealed only where the row is still what was read: whoever changes a row at the
// same moment has sealed it with the key of today.
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
	// Some rows changed while they were walked past. Another round looks at them
	// again; until one misses nothing, no former key may be forgotten.
	if at.missed > 0 {
		return step, s.saveRekeyState(ctx, rekeyState{seen: at.seen, encrypted: at.encrypted})
	}
	step.Done = true
	step.DroppedKeys, err = s.endRekey(ctx)
	return step, err
}

// tableName gives a place as it is kept: the names of tables outlive a version that
// has one table more, numbers would not.
func tableName(place int) string {
	if place < len(rekeyTables) {
		return rekeyTables[place].table
	}
	return "search_term"
}

// rekeyState reads how far the rounds are; those of another key begin anew.
func (s *Store) rekeyState(ctx context.Context) (at rekeyState, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		at = rekeyState{}
		var after []byte
		var place string
		err := t.one(ctx, `SELECT table_name, after_row, seen, encrypted, missed FROM rekey_progress WHERE id = 1 AND key_id = $1`, []any{s.sealer.Writer()},
			[]any{&place, &after, &at.seen, &at.encrypted, &at.missed})
		if absentIsNone(err) != nil {
			return err
		}
		if err == nil {
			at.table = slices.IndexFunc(rekeyTables, func(r *tableRekeyer) bool { return r.table == place })
			switch {
			case place == "search_term":
				at.table = len(rekeyTables)
			case at.table < 0:
				// A table of another version: begin with the first row of the first
				// one, for its keys say nothing about ours.
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

// readKey gives back a key of the kinds that a statement compares with: whole
// numbers and texts.
func readKey(text []byte) ([]any, error) {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	// As a float a large key would lose its last digits, and rows with them.
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

// saveRekeyState comes after a step has written: a crash between the two repeats the step,
// which finds nothing left to do, and never passes one over.
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

// endRekey forgets the keys that nothing is sealed with any more.
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

// Encryption says with which keys something is sealed.
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
		if absentIsNone(err) != nil {
			return err
		}
		found.HasPlaintext, err = v.hasPlainData(ctx)
		return err
	})
	return found, err
}

// hasPlainData says whether the oldest document or customer is kept as it was sent: those
// of before there was a key are older than all others.
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

// rekeyTables are the tables with something sealed, in the order of their names.
var rekeyTables = func() (all []*tableRekeyer) {
	for _, name := range slices.Sorted(maps.Keys(tableRules)) {
		if one := newTableRekeyer(name, tableRules[name]); one != nil {
			all = append(all, one)
		}
	}
	return all
}()
