package seal

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Key is one of the operator's encryption keys.
type Key [32]byte

// Secret is a random value that belongs to one database. It is stored there,
// sealed.
type Secret [32]byte

// Record is what a database stores about its encryption, sealed with each key in
// use, so that nobody without a key can change it.
type Record struct {
	Secret Secret
	// Whole says that everything is encrypted. Before, values from the time
	// without a key are accepted.
	Whole bool
}

// id returns the name of the key, which every value sealed with it contains.
func (k Key) id() [idSize]byte { return [idSize]byte(derive(k[:], nil, "landfall vault name 1")) }

// ID returns the name of the key in hexadecimal. It reveals nothing about the
// key.
func (k Key) ID() string {
	id := k.id()
	return hex.EncodeToString(id[:])
}

// NewKey returns a new random key.
func NewKey() Key {
	var key Key
	_, _ = rand.Read(key[:]) // it never fails
	return key
}

// spelled returns the key as text that ReadKeys accepts. The text must stay
// secret.
func (k Key) spelled() string { return base64.StdEncoding.EncodeToString(k[:]) }

// NewKeyText returns a new random key as text.
func NewKeyText() string { return NewKey().spelled() }

var errKey = errors.New("want 32 random bytes in base64 or as 64 hexadecimal digits, as 'landfall rekey --new-key' makes them")

// ReadKeys parses keys separated by commas. The first one seals. Its errors
// never contain the text.
func ReadKeys(text string) ([]Key, error) {
	var keys []Key
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	known := map[[idSize]byte]bool{}
	for at, part := range strings.Split(text, ",") {
		key, err := readKey(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", at+1, err)
		}
		if known[key.id()] {
			return nil, fmt.Errorf("key %d is there twice", at+1)
		}
		known[key.id()] = true
		keys = append(keys, key)
	}
	return keys, nil
}

func readKey(text string) (Key, error) {
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		bytes, err := decode(text)
		if err != nil || len(bytes) != len(Key{}) {
			continue
		}
		key := Key(bytes)
		if weak(key) {
			return Key{}, fmt.Errorf("it is not random: %w", errKey)
		}
		return key, nil
	}
	return Key{}, errKey
}

// weak recognises keys that were typed by hand to try things out.
func weak(key Key) bool {
	different := map[byte]bool{}
	for _, one := range key {
		different[one] = true
	}
	return len(different) < 8
}

// NewSecret returns a new random secret.
func NewSecret() Secret { return Secret(NewKey()) }

// Wrap seals a record with a key.
func Wrap(key Key, record Record) []byte {
	text := slices.Concat(record.Secret[:], []byte{0})
	if record.Whole {
		text[len(Secret{})] = 1
	}
	return New([]Key{key}, Secret{}).Seal(recordPlace, text)
}

// Unwrap opens a record that Wrap sealed.
func Unwrap(key Key, kept []byte) (Record, error) {
	text, err := New([]Key{key}, Secret{}).open(recordPlace, kept)
	if err != nil || len(text) != len(Secret{})+1 {
		return Record{}, errors.Join(ErrAltered, err)
	}
	return Record{Secret(text[:len(Secret{})]), text[len(Secret{})] == 1}, nil
}

var recordPlace = NewLocation("encryption_key", "record")
