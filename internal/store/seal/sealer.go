// Package seal encrypts personal data, so that it cannot be read by someone who
// has the database but not the keys.
//
// A value is sealed with AES-256-GCM under a key of the operator, which is never
// stored in the database, and bound to its location: moved to another row,
// column or table it does not open. Each table has its own key, derived from the
// operator's, so that no key is used with too many random nonces.
//
// Values that are looked up by equality are sealed deterministically: equal
// values in one location have equal ciphertexts. Digests are keyed. Both use keys
// derived from the operator's key, so a new key changes all of them, and an old
// key opens nothing that was written later. While two keys are in use, a value is
// looked up under both.
//
// All keys are derived together with a random value that belongs to the database,
// so that a value does not open in another database with the same key.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// The first byte of a sealed value says how it was sealed. Bytes that are stored
// in the clear never begin with one of these: a document begins with a byte of
// JSON or the number of its packing.
const (
	sealed1  = 0xE1 // the key's name, a nonce, AES-256-GCM ciphertext
	matched1 = 0xE2 // the key's name, the first half of an HMAC of the value, AES-256-CTR ciphertext with that half as IV
)

const (
	idSize    = 4
	nonceSize = 12
	tagSize   = 16
	overhead  = 1 + idSize + nonceSize + tagSize
	matchSize = 1 + idSize + aes.BlockSize
)

// The reasons why a value does not open.
var (
	ErrAltered = errors.New("a sealed value was altered or moved")
	ErrNoKey   = errors.New("a sealed value needs a key that was not given")
	ErrPlain   = errors.New("a value is stored in the clear, and everything in this database was encrypted")
)

// Sealer seals with one key and opens with several. It is safe for concurrent
// use.
type Sealer struct {
	writer *opener
	order  []*opener // the writer first
	keys   map[[idSize]byte]*opener
	whole  atomic.Bool
}

// opener is a key with the keys derived from it.
type opener struct {
	key    Key
	id     [idSize]byte
	secret Secret
	tables sync.Map // table name to cipher.AEAD
	match  cipher.Block
	mac    []byte
	digest []byte
}

// New returns a Sealer for a database's secret. The first key seals, and all of
// them open.
func New(keys []Key, secret Secret) *Sealer {
	v := &Sealer{keys: make(map[[idSize]byte]*opener, len(keys))}
	for _, key := range keys {
		one := &opener{key: key, id: key.id(), secret: secret}
		one.match = block(derive(key[:], secret[:], "landfall vault match 1"))
		one.mac = derive(key[:], secret[:], "landfall vault match mac 1")
		one.digest = derive(key[:], secret[:], "landfall vault digest 1")
		v.keys[one.id], v.order = one, append(v.order, one)
	}
	if len(v.order) > 0 {
		v.writer = v.order[0]
	}
	return v
}

// RefusePlain says that everything in the database is sealed. From then on, a
// value in the clear does not open: someone else wrote it.
func (v *Sealer) RefusePlain() { v.whole.Store(true) }

// AcceptPlain undoes RefusePlain.
func (v *Sealer) AcceptPlain() { v.whole.Store(false) }

// RefusesPlain reports whether values in the clear are refused.
func (v *Sealer) RefusesPlain() bool { return v.whole.Load() }

func derive(key, salt []byte, purpose string) []byte {
	made, err := hkdf.Key(sha256.New, key, salt, purpose, 32)
	if err != nil {
		panic(err) // HKDF can always give 32 bytes
	}
	return made
}

func block(key []byte) cipher.Block {
	made, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // a key of 32 bytes is valid
	}
	return made
}

func newGCM(key []byte) cipher.AEAD {
	made, err := cipher.NewGCM(block(key))
	if err != nil {
		panic(err) // AES has the block size that GCM needs
	}
	return made
}

// of returns the cipher for the values of a table.
func (o *opener) of(table string) cipher.AEAD {
	if found, ok := o.tables.Load(table); ok {
		return found.(cipher.AEAD) //nolint:forcetypeassert // nothing else is put there
	}
	made := newGCM(derive(o.key[:], o.secret[:], "landfall vault seal 1 "+table))
	o.tables.Store(table, made)
	return made
}

// Writer returns the name of the key that seals.
func (v *Sealer) Writer() string { return v.writer.key.ID() }

// WriterID returns that name as it stands in digests.
func (v *Sealer) WriterID() [idSize]byte { return v.writer.id }

// Keys returns how many keys there are.
func (v *Sealer) Keys() int { return len(v.order) }

// Has reports whether there is a key of that name.
func (v *Sealer) Has(name string) bool {
	id, err := hex.DecodeString(name)
	return err == nil && len(id) == idSize && v.keys[[idSize]byte(id)] != nil
}

// Seal encrypts a value and binds it to its location.
func (v *Sealer) Seal(place Location, value []byte) []byte {
	kept := make([]byte, 1+idSize+nonceSize, overhead+len(value))
	kept[0] = sealed1
	copy(kept[1:], v.writer.id[:])
	nonce := kept[1+idSize:]
	_, _ = rand.Read(nonce) // it never fails
	return v.writer.of(place.table).Seal(kept, nonce, value, place.bound)
}

// Match seals a value deterministically: equal values in one location give equal
// results, so that they can be found.
func (v *Sealer) Match(place Location, value []byte) []byte { return v.writer.seal(place, value) }

// Matches returns what Match returns, and then what it would return with each of
// the other keys.
func (v *Sealer) Matches(place Location, value []byte) [][]byte {
	all := make([][]byte, len(v.order))
	for i, one := range v.order {
		all[i] = one.seal(place, value)
	}
	return all
}

// seal seals a value deterministically.
func (o *opener) seal(place Location, value []byte) []byte {
	begin := o.synthesise(place, value)
	kept := make([]byte, matchSize+len(value))
	kept[0] = matched1
	copy(kept[1:], o.id[:])
	copy(kept[1+idSize:], begin)
	cipher.NewCTR(o.match, begin).XORKeyStream(kept[matchSize:], value)
	return kept
}

// synthesise returns the synthetic IV of a value: the encryption starts from it,
// and Open compares it to authenticate the value.
func (o *opener) synthesise(place Location, value []byte) []byte {
	mac := hmac.New(sha256.New, o.mac)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(place.bound)))
	for _, part := range [][]byte{length[:], place.bound, value} {
		mac.Write(part)
	}
	return mac.Sum(nil)[:aes.BlockSize]
}

// Open returns the value that was sealed. A value in the clear is returned as it
// is, unless RefusePlain was called: it was written before there was a key.
func (v *Sealer) Open(place Location, kept []byte) ([]byte, error) {
	if !isSealed(kept) {
		if v.whole.Load() && len(kept) > 0 {
			return nil, ErrPlain
		}
		return kept, nil
	}
	return v.open(place, kept)
}

// open opens a value that must be sealed.
func (v *Sealer) open(place Location, kept []byte) ([]byte, error) {
	if len(kept) < matchSize || kept[0] == sealed1 && len(kept) < overhead {
		return nil, ErrAltered
	}
	one := v.keys[[idSize]byte(kept[1:])]
	if one == nil {
		return nil, fmt.Errorf("%w: it is called %x", ErrNoKey, kept[1:1+idSize])
	}
	switch rest := kept[1+idSize:]; kept[0] {
	case sealed1:
		value, err := one.of(place.table).Open(nil, rest[:nonceSize], rest[nonceSize:], place.bound)
		if err != nil {
			return nil, ErrAltered
		}
		return value, nil
	case matched1:
		value := make([]byte, len(kept)-matchSize)
		begin := rest[:aes.BlockSize]
		cipher.NewCTR(one.match, begin).XORKeyStream(value, rest[aes.BlockSize:])
		if !hmac.Equal(begin, one.synthesise(place, value)) {
			return nil, ErrAltered
		}
		return value, nil
	}
	return nil, ErrAltered
}

// isSealed reports whether bytes are sealed.
func isSealed(kept []byte) bool { return len(kept) > 0 && (kept[0] == sealed1 || kept[0] == matched1) }

// IsCurrent reports whether a value is sealed with the key that seals now. An
// empty value is.
func (v *Sealer) IsCurrent(kept []byte) bool {
	return len(kept) == 0 || isSealed(kept) && len(kept) > idSize && [idSize]byte(kept[1:]) == v.writer.id
}

// Digests returns the keyed digest of a value, and then the digests under each of
// the other keys. Without the key nobody can compare them with guesses.
func (v *Sealer) Digests(purpose string, value []byte) []Digest {
	all := make([]Digest, len(v.order))
	for i, one := range v.order {
		mac := hmac.New(sha256.New, one.digest)
		mac.Write([]byte(purpose + "\x00"))
		mac.Write(value)
		all[i] = Digest{one.id, [32]byte(mac.Sum(nil))}
	}
	return all
}

// Digest is a keyed digest and the name of its key.
type Digest struct {
	Key [idSize]byte
	Sum [32]byte
}
