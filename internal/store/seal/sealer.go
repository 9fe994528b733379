// Package seal encrypts personal data, so that it cannot be read by someone who
// has the database but not the keys.
//
// A value is sealed with AES-256-GCM under a key of the operator, which is never
// stored in the database, and bound to its location: moved to another row,
// column or table it does not open. Each table has its own key, derived from the
// operator's, so that no key is used with too many random nonces.
//
// Values that are looked up by equality are sealed deterministically: equal
// values in one location have equal ciphertexts. Digests are keyed. Both depend
// on a random secret that belongs to the database and is stored there, sealed.
// It stays the same when keys change; otherwise earlier values could no longer
// be found.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// The first byte of a sealed value says how it was sealed. No document begins
// with one of these bytes, packed or not, and in a column of text a sealed value
// begins with mark.
const (
	sealed1  = 0xE1 // the key's name, a nonce, AES-256-GCM ciphertext
	matched1 = 0xE2 // the first half of an HMAC of the value, AES-256-CTR ciphertext with that half as IV
)

const (
	idSize    = 4
	nonceSize = 12
	tagSize   = 16
	overhead  = 1 + idSize + nonceSize + tagSize
)

// The reasons why a value does not open.
var (
	ErrAltered = errors.New("a sealed value was altered or moved")
	ErrNoKey   = errors.New("a sealed value needs a key that was not given")
)

// Sealer seals with one key and opens with several. It is safe for concurrent
// use.
type Sealer struct {
	writer *opener
	keys   map[[idSize]byte]*opener
	match  cipher.Block
	mac    []byte
	digest []byte
}

// opener is a key with the keys derived from it, one for each table.
type opener struct {
	key    Key
	id     [idSize]byte
	tables sync.Map // table name to cipher.AEAD
}

// New returns a Sealer for a database's secret. The first key seals, and all of
// them open.
func New(keys []Key, secret Secret) *Sealer {
	v := &Sealer{keys: make(map[[idSize]byte]*opener, len(keys))}
	for _, key := range keys {
		one := &opener{key: key, id: key.id()}
		v.keys[one.id] = one
		if v.writer == nil {
			v.writer = one
		}
	}
	v.match = block(derive(secret[:], "landfall vault match 1"))
	v.mac = derive(secret[:], "landfall vault match mac 1")
	v.digest = derive(secret[:], "landfall vault digest 1")
	return v
}

// derive derives a key for one purpose.
func derive(key []byte, purpose string) []byte {
	made, err := hkdf.Key(sha256.New, key, nil, purpose, 32)
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
	made := newGCM(derive(o.key[:], "landfall vault seal 1 "+table))
	o.tables.Store(table, made)
	return made
}

// Writer returns the name of the key that seals.
func (v *Sealer) Writer() string { return v.writer.key.ID() }

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
func (v *Sealer) Match(place Location, value []byte) []byte {
	begin := v.synthesise(place, value)
	kept := make([]byte, 1+aes.BlockSize+len(value))
	kept[0] = matched1
	copy(kept[1:], begin)
	cipher.NewCTR(v.match, begin).XORKeyStream(kept[1+aes.BlockSize:], value)
	return kept
}

// synthesise returns the synthetic IV of a value: the encryption starts from it,
// and Open compares it to authenticate the value.
func (v *Sealer) synthesise(place Location, value []byte) []byte {
	mac := hmac.New(sha256.New, v.mac)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(place.bound)))
	for _, part := range [][]byte{length[:], place.bound, value} {
		mac.Write(part)
	}
	return mac.Sum(nil)[:aes.BlockSize]
}

// Open returns the value that was sealed. A value that is not sealed is returned
// as it is: it was written before there was a key.
func (v *Sealer) Open(place Location, kept []byte) ([]byte, error) {
	switch FormOf(kept) {
	case Sealed:
		one := v.keys[[idSize]byte(kept[1:])]
		if one == nil {
			return nil, fmt.Errorf("%w: it is called %x", ErrNoKey, kept[1:1+idSize])
		}
		rest := kept[1+idSize:]
		value, err := one.of(place.table).Open(nil, rest[:nonceSize], rest[nonceSize:], place.bound)
		if err != nil {
			return nil, ErrAltered
		}
		return value, nil
	case Matched:
		value := make([]byte, len(kept)-1-aes.BlockSize)
		begin := kept[1 : 1+aes.BlockSize]
		cipher.NewCTR(v.match, begin).XORKeyStream(value, kept[1+aes.BlockSize:])
		if !hmac.Equal(begin, v.synthesise(place, value)) {
			return nil, ErrAltered
		}
		return value, nil
	}
	return kept, nil
}

// IsCurrent reports whether a value is stored as it would be today: sealed with
// the key that seals now, or deterministically.
func (v *Sealer) IsCurrent(kept []byte) bool {
	switch FormOf(kept) {
	case Sealed:
		return [idSize]byte(kept[1:]) == v.writer.id
	case Matched:
		return true
	}
	return false
}

// Digest returns a keyed digest. Without the database's secret nobody can
// compare it with guesses.
func (v *Sealer) Digest(purpose string, value []byte) [32]byte {
	mac := hmac.New(sha256.New, v.digest)
	mac.Write([]byte(purpose + "\x00"))
	mac.Write(value)
	return [32]byte(mac.Sum(nil))
}

// Form is how a value is stored.
type Form uint8

// The forms of a stored value.
const (
	Bare Form = iota
	Sealed
	Matched
)

// FormOf returns how a value is stored.
func FormOf(kept []byte) Form {
	switch {
	case len(kept) >= overhead && kept[0] == sealed1:
		return Sealed
	case len(kept) > aes.BlockSize && kept[0] == matched1:
		return Matched
	}
	return Bare
}
