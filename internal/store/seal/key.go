package seal

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Key is one of the operator's.
type Key [32]byte

// Secret is what belongs to one database and is kept in it, sealed.
type Secret [32]byte

// id is what a key is called in what it sealed.
func (k Key) id() [idSize]byte { return [idSize]byte(derive(k[:], "landfall vault name 1")) }

// ID is a name for the key that says nothing about it.
func (k Key) ID() string {
	id := k.id()
	return hex.EncodeToString(id[:])
}

// NewKey makes a key up.
func NewKey() Key {
	var key Key
	_, _ = rand.Read(key[:]) // it never fails
	return key
}

// String spells a key as ReadKeys reads it. It is what must stay secret.
func (k Key) spelled() string { return base64.StdEncoding.EncodeToString(k[:]) }

// NewKeyText makes a key up and spells it.
func NewKeyText() string { return NewKey().spelled() }

var errKey = errors.New("want 32 random bytes in base64 or as 64 hexadecimal digits, as 'landfall rekey --new-key' makes them")

// ReadKeys reads keys with commas between them, the one that seals first. It
// never repeats what it was given.
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

// weak recognises keys that somebody typed to try things out.
func weak(key Key) bool {
	different := map[byte]bool{}
	for _, one := range key {
		different[one] = true
	}
	return len(different) < 8
}

// NewSecret makes a secret up.
func NewSecret() Secret { return Secret(NewKey()) }

// Wrap seals a database's secret with a key.
func Wrap(key Key, secret Secret) []byte {
	return New([]Key{key}, Secret{}).Seal(secretPlace, secret[:])
}

// Unwrap opens what Wrap sealed.
func Unwrap(key Key, kept []byte) (Secret, error) {
	if FormOf(kept) != Sealed {
		return Secret{}, ErrAltered
	}
	secret, err := New([]Key{key}, Secret{}).Open(secretPlace, kept)
	if err != nil || len(secret) != len(Secret{}) {
		return Secret{}, errors.Join(ErrAltered, err)
	}
	return Secret(secret), nil
}

var secretPlace = NewLocation("encryption_key", "secret")
