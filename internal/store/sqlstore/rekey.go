package sqlstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/store/seal"
)

// rekeyBatch is how many rows one step looks at. On SQLite all other writers
// wait while they are written.
const rekeyBatch = 200

// rekeyState is the progress of re-encryption.
type rekeyState struct {
	table                   int // index in rekeyTables
	after                   []any
	seen, encrypted, missed int64
	unreadable              int64
	problems                []string // of this step
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
	// A server that writes with another key, or without one, could write rows
	// that this round has passed already.
	step := landfall.RekeyStep{Key: s.sealer.Writer(), Table: tableName(at.table), Scanned: at.seen, Encrypted: at.encrypted, Changed: at.missed}
	if at.table == 0 && len(at.after) == 0 || at.table > len(rekeyTables) {
		if step.Waiting, err = s.otherWriters(ctx); err != nil || len(step.Waiting) > 0 {
			return step, err
		}
	}
	switch {
	case at.table < len(rekeyTables):
		err = s.rekeyTable(ctx, rekeyTables[at.table], &at)
	case at.table == len(rekeyTables):
		err = s.rekeyTerms(ctx, &at)
	default:
		step.Done, step.Unreadable = true, at.unreadable
		step.DroppedKeys, err = s.endRekey(ctx, at.unreadable == 0)
		return step, err
	}
	if err != nil {
		return landfall.RekeyStep{}, err
	}
	step.Scanned, step.Encrypted, step.Changed, step.Problems = at.seen, at.encrypted, at.missed, at.problems
	// Some rows changed while the round passed them. Another round looks at
	// them again. No former key may be dropped until a round misses nothing.
	if at.table > len(rekeyTables) && at.missed > 0 {
		at = rekeyState{seen: at.seen, encrypted: at.encrypted}
	}
	return step, s.saveRekeyState(ctx, at)
}

// otherWriters returns the hosts of running servers that do not write with the
// key of this store.
func (s *Store) otherWriters(ctx context.Context) (hosts []string, err error) {
	err = s.stream(ctx, func(v *view) error {
		hosts, err = collect(ctx, v.txSession, func(scan scanner, host *string) error { return scan(host) },
			`SELECT DISTINCT host FROM replica WHERE key_id <> $1 AND seen_at > (SELECT {now}) - $2 ORDER BY host`, s.sealer.Writer(), replicaSeen.Microseconds())
		return err
	})
	return hosts, err
}

// replicaSeen is how long a server counts as running after its last heartbeat.
const replicaSeen = 3 * limits.Heartbeat

// tableName returns the name under which progress in a table is stored. Unlike
// indexes, names stay valid when a later version adds a table.
func tableName(place int) string {
	switch {
	case place < len(rekeyTables):
		return rekeyTables[place].table
	case place == len(rekeyTables):
		return "search_term"
	}
	return rekeyEnd
}

// rekeyEnd is the name of the state after the last table.
const rekeyEnd = "end"

// rekeyState reads the progress. A new key starts from the beginning.
func (s *Store) rekeyState(ctx context.Context) (at rekeyState, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		at = rekeyState{}
		var after []byte
		var place string
		err := t.one(ctx, `SELECT table_name, after_row, seen, encrypted, missed, unreadable FROM rekey_progress WHERE id = 1 AND key_id = $1`, []any{s.sealer.Writer()},
			[]any{&place, &after, &at.seen, &at.encrypted, &at.missed, &at.unreadable})
		if ignoreNotFound(err) != nil {
			return err
		}
		if err == nil {
			at.table = slices.IndexFunc(rekeyTables, func(r *tableRekeyer) bool { return r.table == place })
			switch {
			case place == "search_term":
				at.table = len(rekeyTables)
			case place == rekeyEnd:
				at.table = len(rekeyTables) + 1
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
		_, err = t.exec(ctx, `INSERT INTO rekey_progress (id, key_id, table_name, after_row, seen, encrypted, missed, unreadable, started_at)
			VALUES (1, $1, $2, CAST('[]' AS {json}), 0, 0, 0, 0, {now})`, s.sealer.Writer(), rekeyTables[0].table)
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
		_, err := t.exec(ctx, `UPDATE rekey_progress SET table_name = $1, after_row = CAST($2 AS {json}), seen = $3, encrypted = $4, missed = $5, unreadable = $6 WHERE id = 1`,
			tableName(at.table), string(after), at.seen, at.encrypted, at.missed, at.unreadable)
		return err
	})
}

// endRekey deletes the keys that no longer seal anything, and records that
// everything is encrypted. If some values do not open, it does neither: what is
// wrong with them may still be repaired.
func (s *Store) endRekey(ctx context.Context, whole bool) (dropped []string, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		if dropped = nil; whole {
			record := seal.Wrap(s.key, seal.Record{Secret: s.sealer.secret, Whole: true})
			if _, err := t.exec(ctx, `UPDATE encryption_key SET record = $2 WHERE id = $1`, s.sealer.Writer(), record); err != nil {
				return err
			}
			dropped, err = collect(ctx, t.txSession, func(scan scanner, id *string) error { return scan(id) },
				`DELETE FROM encryption_key WHERE id <> $1 RETURNING id`, s.sealer.Writer())
			if err != nil {
				return err
			}
		}
		_, err := t.exec(ctx, `DELETE FROM rekey_progress`)
		return err
	})
	if err == nil && whole {
		s.sealer.RefusePlain()
	}
	return dropped, err
}

// AcceptPlain accepts values in the clear again, so that the next rekey encrypts
// them.
func (s *Store) AcceptPlain(ctx context.Context) error {
	if s.sealer == nil {
		return landfall.ErrNotFound
	}
	held, err := s.listedKeys(ctx)
	if err == nil && len(held) > 1 {
		return landfall.ErrExists // finish the change of keys first
	}
	if err == nil {
		err = s.update(ctx, landfall.Key{}, func(t *tx) error {
			_, err := t.exec(ctx, `UPDATE encryption_key SET record = $2 WHERE id = $1`, s.sealer.Writer(), seal.Wrap(s.key, seal.Record{Secret: s.sealer.secret}))
			return err
		})
	}
	if err == nil {
		s.sealer.AcceptPlain()
	}
	return err
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
		return nil
	})
	found.HasPlaintext = !s.sealer.RefusesPlain()
	return found, err
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
