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
	secret []byte
}

// openKeys sets up decryption. It starts encrypting a database that never was
// encrypted, unless the store is read-only. It returns an error if any key that
// values are sealed with is missing.
func (s *Store) openKeys(ctx context.Context, keys []seal.Key, readOnly bool) error {
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
	secret := seal.NewSecret()
	for _, one := range held {
		at := slices.IndexFunc(keys, func(key seal.Key) bool { return key.ID() == one.id })
		if secret, err = seal.Unwrap(keys[at], one.secret); err != nil {
			return fmt.Errorf("%w, and its secret does not open with key %s: %w", ErrLocked, one.id, err)
		}
	}
	if !readOnly && !slices.ContainsFunc(held, func(one listedKey) bool { return one.id == keys[0].ID() }) {
		if err := s.listKey(ctx, keys[0], secret, len(held) == 0); err != nil {
			return err
		}
		if len(held) == 0 {
			return s.openKeys(ctx, keys, false) // another process may have stored another secret at the same time
		}
	}
	s.sealer, s.key = &sealer{seal.New(keys, secret), secret}, keys[0]
	return nil
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
		held, err = collect(ctx, v.txSession, func(scan scanner, one *listedKey) error { return scan(&one.id, &one.secret) },
			`SELECT id, secret FROM encryption_key ORDER BY id`)
		return err
	})
	return held, err
}

// listKey records that values are sealed with a key. The first key decides the
// secret: if another process adds one at the same time with another secret,
// nothing is added.
func (s *Store) listKey(ctx context.Context, key seal.Key, secret seal.Secret, first bool) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		// This row, which counted claims lock, always exists.
		if err := t.lock(ctx, `SELECT 1 FROM claim_counter held WHERE id = 1 {hold}`); err != nil {
			return err
		}
		text := `INSERT INTO encryption_key (id, secret, added_at) VALUES ($1, $2, {now}) ON CONFLICT (id) DO NOTHING`
		if first {
			text = `INSERT INTO encryption_key (id, secret, added_at) SELECT $1, $2, {now} WHERE NOT EXISTS (SELECT 1 FROM encryption_key)`
		}
		_, err := t.exec(ctx, text, key.ID(), seal.Wrap(key, secret))
		return err
	})
}

// RecordKey adds the key that this store encrypts with to the listed keys, if
// it is missing.
func (s *Store) RecordKey(ctx context.Context) error {
	if s.sealer == nil {
		return nil
	}
	held, err := s.listedKeys(ctx)
	if err != nil || slices.ContainsFunc(held, func(one listedKey) bool { return one.id == s.key.ID() }) {
		return err
	}
	return s.listKey(ctx, s.key, s.sealer.secret, false)
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

// termMark is the prefix of a digest. No kind of term starts with it.
const termMark = "="

// Encode returns the digest, and the plain term as it was stored before there
// was a key.
func (f hashedTerms) Encode(term landfall.SearchTerm) []string {
	plain := string(term.Kind) + term.Text
	keyed := f.sealer.Digest("term", []byte(plain))
	return []string{termMark + base64.RawURLEncoding.EncodeToString(keyed[:18]), plain}
}

// ExactOnly returns true: a digest cannot be searched by prefix.
func (hashedTerms) ExactOnly() bool { return true }

// skipQueuedBefore removes mails that were already queued for an account before
// addresses were sealed. The database cannot recognise those as duplicates,
// because the stored values differ.
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
	before, err := collect(ctx, t.txSession, func(scan scanner, one *told) error { return scan(&one.account, &one.kind, &one.recipient) },
		`SELECT account_id, kind, recipient FROM mail WHERE account_id`+these, list)
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
