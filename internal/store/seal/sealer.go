// Package vault keeps what is personal unreadable to whoever has the database
// and not the keys.
//
// A value is sealed with AES-256-GCM under a key of the operator's, which never
// comes into the database, and bound to the place it stands in: moved to another
// row, column or table it does not open. Every table has its own key, derived
// from the operator's, so that random nonces never become too many for one.
//
// Values that are looked up by equality are sealed so that equal ones in one
// place look alike, and digests are keyed. Both depend on one random secret that
// belongs to the database and is kept there sealed: it stays when keys change, or
// nothing of before would be found.
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

// The first byte of what is sealed says how. No document begins with one of
// them, packed or not, and neither does text.
const (
	sealed1  = 0xE1 // the key's name, a nonce, AES-256-GCM
	matched1 = 0xE2 // the first half of an HMAC of what was sealed, AES-256-CTR from there
)

const (
	idSize    = 4
	nonceSize = 12
	tagSize   = 16
	overhead  = 1 + idSize + nonceSize + tagSize
)

// The ways in which something does not open.
var (
	ErrAltered = errors.New("a sealed value was altered or moved")
	ErrNoKey   = errors.New("a sealed value needs a key that was not given")
)

// Sealer seals with one key and opens with several. Many goroutines may use it at
// once.
type Sealer struct {
	writer *opener
	keys   map[[idSize]byte]*opener
	match  cipher.Block
	mac    []byte
	digest []byte
}

// opener is a key with those derived from it, one for each table.
type opener struct {
	key    Key
	id     [idSize]byte
	tables sync.Map // of cipher.AEAD, by name
}

// New makes a vault of keys, the one that seals first, and a database's secret.
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

// derive makes a key for one purpose.
func derive(key []byte, purpose string) []byte {
	made, err := hkdf.Key(sha256.New, key, nil, purpose, 32)
	if err != nil {
		panic(err) // 32 bytes are never too many
	}
	return made
}

func block(key []byte) cipher.Block {
	made, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	return made
}

func newGCM(key []byte) cipher.AEAD {
	made, err := cipher.NewGCM(block(key))
	if err != nil {
		panic(err) // the block is AES's
	}
	return made
}

// of gives what seals the values of a table.
func (o *opener) of(table string) cipher.AEAD {
	if found, ok := o.tables.Load(table); ok {
		return found.(cipher.AEAD) //nolint:forcetypeassert // nothing else is put there
	}
	made := newGCM(derive(o.key[:], "landfall vault seal 1 "+table))
	o.tables.Store(table, made)
	return made
}

// Writer names the key that seals.
func (v *Sealer) Writer() string { return v.writer.key.ID() }

// Seal makes a value unreadable outside its place.
func (v *Sealer) Seal(place Location, value []byte) []byte {
	kept := make([]byte, 1+idSize+nonceSize, overhead+len(value))
	kept[0] = sealed1
	copy(kept[1:], v.writer.id[:])
	nonce := kept[1+idSize:]
	_, _ = rand.Read(nonce) // it never fails
	return v.writer.of(place.table).Seal(kept, nonce, value, place.bound)
}

// Match seals a value so that the same one looks the same in the same place,
// and is found by that.
func (v *Sealer) Match(place Location, value []byte) []byte {
	begin := v.synthesise(place, value)
	kept := make([]byte, 1+aes.BlockSize+len(value))
	kept[0] = matched1
	copy(kept[1:], begin)
	cipher.NewCTR(v.match, begin).XORKeyStream(kept[1+aes.BlockSize:], value)
	return kept
}

// synthesise gives what both the encryption of a value begins with and its
// authenticity is known by.
func (v *Sealer) synthesise(place Location, value []byte) []byte {
	mac := hmac.New(sha256.New, v.mac)
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(place.bound)))
	for _, part := range [][]byte{length[:], place.bound, value} {
		mac.Write(part)
	}
	return mac.Sum(nil)[:aes.BlockSize]
}

// Open gives a value back. What is not sealed is given back as it is: it was
// written before there was a key.
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

// IsCurrent says that a value is kept as it would be today: sealed under the key
// that seals, or so that it is found.
func (v *Sealer) IsCurrent(kept []byte) bool {
	switch FormOf(kept) {
	case Sealed:
		return [idSize]byte(kept[1:]) == v.writer.id
	case Matched:
		return true
	}
	return false
}

// Digest gives a digest of something that nobody can compare with guesses who
// has no key.
func (v *Sealer) Digest(purpose string, value []byte) [32]byte {
	mac := hmac.New(sha256.New, v.digest)
	mac.Write([]byte(purpose + "\x00"))
	mac.Write(value)
	return [32]byte(mac.Sum(nil))
}

// Form is how a value is kept.
type Form uint8

// The forms.
const (
	Bare Form = iota
	Sealed
	Matched
)

// FormOf says how a value is kept.
func FormOf(kept []byte) Form {
	switch {
	case len(kept) >= overhead && kept[0] == sealed1:
		return Sealed
	case len(kept) > aes.BlockSize && kept[0] == matched1:
		return Matched
	}
	return Bare
}
