package sqlstore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlset"
)

// ErrLocked means that a database was encrypted with keys that were not given.
var ErrLocked = errors.New("the database is encrypted")

// listedKey is a key that the database contains values sealed with.
type listedKey struct {
	id     string
	record []byte // sealed with the key
}

// openKeys sets up decryption. It starts encrypting a database that never was
// encrypted, unless the store is read-only. It returns an error if any key that
// values are sealed with is missing.
func (s *Store) openKeys(ctx context.Context, keys []seal.Key, readOnly, withNames bool) error {
	held, err := s.listedKeys(ctx)
	if err != nil {
		return err
	}
	var missing []string
	for _, one := range held {
		if !slices.ContainsFunc(keys, func(key seal.Key) bool { return key.ID() == one.id }) {
			missing = append(missing, one.id)
		}
	}
	switch {
	case len(missing) > 0 && len(keys) == 0:
		return fmt.Errorf("%w with key %s: give it with the setting encryption-key-file or encryption-key", ErrLocked, strings.Join(missing, " and "))
	case len(missing) > 0:
		return fmt.Errorf("%w with key %s, which is not among those given (%s): add it behind them, and run 'landfall rekey' before it is dropped",
			ErrLocked, strings.Join(missing, " and "), keyIDs(keys))
	case len(keys) == 0, readOnly && len(held) == 0:
		return nil
	}
	record, err := readRecord(held, keys)
	if err != nil {
		return err
	}
	if !readOnly && !slices.ContainsFunc(held, func(one listedKey) bool { return one.id == keys[0].ID() }) {
		if err := s.listKey(ctx, keys[0], record, len(held) == 0); err != nil {
			return err
		}
		if len(held) == 0 {
			return s.openKeys(ctx, keys, false, withNames) // another process may have stored another secret at the same time
		}
	}
	s.sealer, s.key = &sealer{seal.New(keys, record.Secret), record.Secret, withNames}, keys[0]
	if record.Whole {
		s.sealer.RefusePlain()
	}
	return nil
}

// readRecord opens what the database says about its encryption, with those of the
// keys that are given. The record of one key may be older than that of another:
// everything is encrypted as soon as one of them says so.
func readRecord(held []listedKey, keys []seal.Key) (record seal.Record, err error) {
	record.Secret = seal.NewSecret()
	known := false
	for _, one := range held {
		at := slices.IndexFunc(keys, func(key seal.Key) bool { return key.ID() == one.id })
		if at < 0 {
			continue
		}
		opened, err := seal.Unwrap(keys[at], one.record)
		if err != nil {
			return record, fmt.Errorf("%w, and its record does not open with key %s: %w", ErrLocked, one.id, err)
		}
		if known && opened.Secret != record.Secret {
			return record, fmt.Errorf("%w, and the records of its keys contradict each other: %w", ErrLocked, seal.ErrAltered)
		}
		known, record.Secret, record.Whole = true, opened.Secret, record.Whole || opened.Whole
	}
	return record, nil
}

// keyIDs returns the ids of keys. They are not secret and tell an operator
// which key file is missing.
func keyIDs(keys []seal.Key) string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = key.ID()
	}
	return strings.Join(ids, ", ")
}

// listedKeys returns the keys that this database was written with. Without one
// of them a program would find values that it cannot read.
func (s *Store) listedKeys(ctx context.Context) (held []listedKey, err error) {
	err = s.stream(ctx, func(v *view) error {
		held, err = collect(ctx, v.txSession, func(scan scanner, one *listedKey) error { return scan(&one.id, &one.record) },
			`SELECT id, record FROM encryption_key ORDER BY id`)
		return err
	})
	return held, err
}

// listKey records that values are sealed with a key. The first key decides the
// secret: if another process adds one at the same time with another secret,
// nothing is added. If nothing personal is stored yet, everything is encrypted
// from the beginning.
func (s *Store) listKey(ctx context.Context, key seal.Key, record seal.Record, first bool) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		// This row, which counted claims lock, always exists.
		if err := t.lock(ctx, `SELECT 1 FROM claim_counter held WHERE id = 1 {for_update}`); err != nil {
			return err
		}
		text := `INSERT INTO encryption_key (id, record, added_at) VALUES ($1, $2, {now}) ON CONFLICT (id) DO NOTHING`
		if first {
			text = `INSERT INTO encryption_key (id, record, added_at) SELECT $1, $2, {now} WHERE NOT EXISTS (SELECT 1 FROM encryption_key)`
			if err := t.one(ctx, nothingPersonal, nil, []any{&record.Whole}); err != nil {
				return err
			}
		}
		_, err := t.exec(ctx, text, key.ID(), seal.Wrap(key, record))
		return err
	})
}

// nothingPersonal asks whether all tables with personal data are empty.
var nothingPersonal = func() string {
	parts := []string{`NOT EXISTS (SELECT 1 FROM search_term)`}
	for _, one := range rekeyTables {
		parts = append(parts, `NOT EXISTS (SELECT 1 FROM `+one.table+`)`)
	}
	return `SELECT ` + strings.Join(parts, " AND ")
}()

// RecordKey adds the key that this store encrypts with to the listed keys, if
// it is missing, and takes notice when everything is encrypted. It returns an
// error if another process began to use a key that this one does not have.
func (s *Store) RecordKey(ctx context.Context) error {
	held, err := s.listedKeys(ctx)
	if err != nil || len(held) == 0 && s.sealer == nil {
		return err
	}
	if s.sealer == nil {
		return fmt.Errorf("%w with key %s, and this server has no key: restart it with the setting encryption-key-file", ErrLocked, held[0].id)
	}
	record, err := readRecord(held, []seal.Key{s.key})
	if err != nil {
		return err
	}
	if record.Whole {
		s.sealer.RefusePlain()
	}
	if slices.ContainsFunc(held, func(one listedKey) bool { return one.id == s.key.ID() }) {
		return nil
	}
	return s.listKey(ctx, s.key, seal.Record{Secret: s.sealer.secret, Whole: s.sealer.RefusesPlain()}, false)
}

// checkKeys returns an error unless this store has every listed key, and its own
// is listed. Otherwise another server may have written something that this one
// would not find, and would write again. It is called after the rows that are
// searched are locked.
func (t *tx) checkKeys(ctx context.Context) error {
	if t.sealer == nil {
		return nil
	}
	held, err := collect(ctx, t.txSession, func(scan scanner, id *string) error { return scan(id) }, `SELECT id FROM encryption_key`)
	if err != nil {
		return err
	}
	for _, id := range held {
		if !t.sealer.Has(id) {
			return fmt.Errorf("%w with key %s, which this server does not have: %w", ErrLocked, id, landfall.ErrUnavailable)
		}
	}
	if !slices.Contains(held, t.sealer.Writer()) {
		return fmt.Errorf("%w, and key %s of this server was dropped: %w", ErrLocked, t.sealer.Writer(), landfall.ErrUnavailable)
	}
	return nil
}

// hashedTerms stores search terms as keyed digests.
type hashedTerms struct{ sealer *sealer }

// terms returns how search terms are encoded.
func (s *sealer) terms() landfall.TermEncoder {
	if s == nil {
		return landfall.PlainTerms{}
	}
	return hashedTerms{s}
}

// termMark is the prefix of a digest. No kind of term starts with it. Behind it
// stands the name of the key.
const termMark = "="

// termPrefix returns the beginning of all digests made with a key.
func termPrefix(key [4]byte) string { return termMark + base64.RawURLEncoding.EncodeToString(key[:]) }

// Encode returns the digest, then those of the other keys, and the plain term as
// it was stored before there was a key. It returns nothing for a term that is not
// indexed.
func (f hashedTerms) Encode(term landfall.SearchTerm) (all []string) {
	if !f.sealer.indexes(term.Kind) {
		return nil
	}
	plain := string(term.Kind) + term.Text
	for _, keyed := range f.sealer.Digests("term", []byte(plain)) {
		all = append(all, termPrefix(keyed.Key)+base64.RawURLEncoding.EncodeToString(keyed.Sum[:18]))
	}
	if f.sealer.RefusesPlain() {
		return all
	}
	return append(all, plain)
}

// indexes reports whether terms of a kind are indexed. Names, addresses and postcodes
// repeat, and equal digests show how often.
func (s *sealer) indexes(kind landfall.TermKind) bool {
	return s.withNames || kind != landfall.TermName && kind != landfall.TermPostcode && kind != landfall.TermAddress
}

// ExactOnly returns true: a digest cannot be searched by prefix.
func (hashedTerms) ExactOnly() bool { return true }

// skipQueuedBefore removes mails that were already queued for an account under
// another key, or before addresses were sealed. The database cannot recognise
// those as duplicates, because the stored values differ.
func (t *tx) skipQueuedBefore(ctx context.Context, mails *sqlset.Rows) error {
	if t.sealer == nil || len(mails.Values) == 0 {
		return nil
	}
	var ids []int64
	for row := range slices.Chunk(mails.Values, mails.Width()) {
		ids = append(ids, row[0].(int64)) //nolint:forcetypeassert // the table says so
	}
	these, list := sqlset.Among(t.engine, ids)
	type told struct {
		account         int64
		kind, recipient string
	}
	before, err := collect(ctx, t.txSession, func(scan scanner, one *told) error {
		return scan(&one.account, &one.kind, t.sealer.scan("mail", &one.account, &one.kind).text("recipient", &one.recipient))
	}, `SELECT account_id, kind, recipient FROM mail WHERE account_id`+these, list)
	if err != nil || len(before) == 0 {
		return err
	}
	var left []any
	for row := range slices.Chunk(mails.Values, mails.Width()) {
		if !slices.Contains(before, told{row[0].(int64), row[2].(string), row[3].(string)}) { //nolint:forcetypeassert // likewise
			left = append(left, row...)
		}
	}
	mails.Values = left
	return nil
}
